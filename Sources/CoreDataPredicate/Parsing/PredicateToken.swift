import CoreDataPrimitives
import Foundation

/// A piece of a format and where it starts, counted in Unicode scalars.
struct PredicateToken {
    enum Kind {
        case word(String)
        /// A reserved word, and how it is spelled.
        case reserved(PredicateWord, String)
        /// A name right before a parenthesis, colons included.
        case functionName(String)
        /// `#name`: a key, whatever it is called.
        case key(String)
        /// `$name`
        case variable(String)
        /// `@name`, with the sign.
        case collectionOperator(String)
        case literal(Value)
        case placeholder(Placeholder)
        case symbol(String)
        case end
    }

    enum Placeholder {
        case object, keyPath, integer, double, text
    }

    var kind: Kind
    var start: Int
    var end: Int

    func isSymbol(_ text: String) -> Bool {
        if case .symbol(let symbol) = kind { return symbol == text }
        return false
    }

    var word: PredicateWord? {
        if case .reserved(let word, _) = kind { return word }
        return nil
    }

    /// Whether an expression may end here, so that what follows is an operator.
    var endsOperand: Bool {
        switch kind {
        case .word, .key, .variable, .collectionOperator, .literal, .placeholder: true
        case .symbol(let symbol): symbol == ")" || symbol == "]" || symbol == "}"
        case .reserved(let word, _):
            switch word {
            case .null, .nil, .self, .true, .yes, .false, .no, .first, .last, .size, .anyKey: true
            default: false
            }
        case .functionName, .end: false
        }
    }
}
