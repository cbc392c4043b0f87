import CoreDataPrimitives
import Foundation

/// A token of a format and its start, counted in Unicode scalars.
struct PredicateToken {
    enum Kind {
        case word(String)
        /// A reserved word, and its spelling in the format.
        case reserved(PredicateWord, String)
        /// A name directly before a parenthesis, including colons.
        case functionName(String)
        /// `#name`: always a key, even if the name is reserved.
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

    /// Whether an expression can end here, so that an operator follows.
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
