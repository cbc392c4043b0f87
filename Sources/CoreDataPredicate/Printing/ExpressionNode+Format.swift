import CoreDataPrimitives
import Foundation

extension ExpressionNode {
    /// The expression in the predicate language, as Apple's `description` writes it.
    ///
    ///     try PredicateParser.parseExpression(format: "(a+b)*modulus:by:(c, 2)").predicateFormat
    ///     // (a + b) * modulus:by:(c, 2)
    package var predicateFormat: String {
        switch self {
        case .constant(let constant): return constant.predicateFormat
        case .evaluatedObject: return "SELF"
        case .variable(let name): return "$" + name
        case .keyPath(let operand, let keys):
            let path = keys.map(Self.format(ofKey:)).joined(separator: ".")
            switch operand {
            case .evaluatedObject: return path.isEmpty ? "SELF" : path
            default: return path.isEmpty ? operand.predicateFormat : "\(operand.format(atLeast: .postfix)).\(path)"
            }
        case .anyKey: return "ANYKEY"
        case .function(let name, let arguments): return Self.format(ofFunction: name, arguments)
        case .message(let target, let selector, let arguments):
            let all = [target.predicateFormat, Constant.quoted(selector)] + arguments.map(\.predicateFormat)
            return "FUNCTION(\(all.joined(separator: ", ")))"
        case .aggregate(let elements):
            return "{\(elements.map(\.predicateFormat).joined(separator: ", "))}"
        case .union(let a, let b): return Self.format(a, "UNION", b, .set)
        case .intersection(let a, let b): return Self.format(a, "INTERSECT", b, .set)
        case .difference(let a, let b): return Self.format(a, "MINUS", b, .set)
        case .subquery(let collection, let variable, let predicate):
            return "SUBQUERY(\(collection.predicateFormat), $\(variable), \(predicate.predicateFormat))"
        case .conditional(let condition, let yes, let no):
            return "TERNARY(\(condition.predicateFormat), \(yes.predicateFormat), \(no.predicateFormat))"
        case .assignment(let variable, let expression): return "$\(variable) := \(expression.predicateFormat)"
        case .fetch(let request, let context, let countOnly):
            return "FETCH(\(request.predicateFormat), \(context.predicateFormat), \(countOnly ? "YES" : "NO"))"
        case .block(let block):
            return "BLOCK(0x\(String(UInt(bitPattern: block.identity), radix: 16)))"
        }
    }

    /// The expression as an operand of a comparison.
    var operandFormat: String { format(atLeast: .set) }

    // MARK: Precedence

    private struct Precedence: Comparable {
        var level: Int

        static let assignment = Precedence(level: 0)
        static let set = Precedence(level: 1)
        static let unary = Precedence(level: 9)
        static let postfix = Precedence(level: 10)

        var next: Precedence { Precedence(level: level + 1) }

        static func < (a: Precedence, b: Precedence) -> Bool { a.level < b.level }
    }

    private var precedence: Precedence {
        switch self {
        case .union, .intersection, .difference: return .set
        case .assignment: return .assignment
        case .function(let name, let arguments):
            guard let function = PredicateFunction(rawValue: name) else { return .postfix }
            if function == .onesComplement, arguments.count == 1 { return .unary }
            if let infix = function.infix, arguments.count == 2 { return Precedence(level: infix.precedence) }
            return .postfix
        // "5.name" would be a number.
        case .constant(.value(.integer)), .constant(.value(.double)), .constant(.value(.decimal)): return .unary
        default: return .postfix
        }
    }

    private func format(atLeast lowest: Precedence) -> String {
        precedence < lowest ? "(\(predicateFormat))" : predicateFormat
    }

    private static func format(
        _ left: ExpressionNode, _ symbol: String, _ right: ExpressionNode, _ precedence: Precedence
    ) -> String {
        let isPower = symbol == "**"
        let first = left.format(atLeast: isPower ? precedence.next : precedence)
        let second = right.format(atLeast: isPower ? precedence : precedence.next)
        return "\(first) \(symbol) \(second)"
    }

    // MARK: Parts

    private static func format(ofFunction name: String, _ arguments: [ExpressionNode]) -> String {
        switch PredicateFunction(rawValue: name) {
        case .element where arguments.count == 2:
            return "\(arguments[0].format(atLeast: .postfix))[\(arguments[1].predicateFormat)]"
        case .cast where arguments.count == 2:
            return "CAST(\(arguments[0].predicateFormat), \(arguments[1].predicateFormat))"
        case .onesComplement where arguments.count == 1: return "~" + arguments[0].format(atLeast: .unary)
        case let function?:
            if let infix = function.infix, arguments.count == 2 {
                return format(arguments[0], infix.symbol, arguments[1], Precedence(level: infix.precedence))
            }
            fallthrough
        case nil: return "\(name)(\(arguments.map(\.predicateFormat).joined(separator: ", ")))"
        }
    }

    private static func format(ofKey key: String) -> String {
        let name = key.hasPrefix("@") ? String(key.dropFirst()) : key
        if !name.isPredicateName { return "#" + Constant.quoted(key) }
        return PredicateWord(spelled: key)?.isReserved == true ? "#" + key : key
    }
}

extension Constant {
    package var predicateFormat: String {
        switch self {
        case .value(let value): return Self.format(value)
        case .object(let object): return object.predicateDescription
        case .key(let key): return key.map { "<row \($0.entity):\($0.primaryKey)>" } ?? "<no row>"
        case .collection(let members, let isOrdered):
            let texts = members.map(\.predicateFormat)
            // Sets print in sorted order; otherwise equal predicates would print differently.
            return "{\((isOrdered ? texts : texts.sorted()).joined(separator: ", "))}"
        case .dictionary(let entries):
            let texts = entries.map { "\($0.key.predicateFormat) = \($0.value.predicateFormat)" }
            return "{\(texts.sorted().joined(separator: "; "))}"
        case .symbol(let name): return name
        }
    }

    private static func format(_ value: Value) -> String {
        switch value {
        case .null: "nil"
        case .integer(let number): String(number)
        case .double(let number): number.isFinite ? String(number) : "CAST(\"\(number)\", \"NSNumber\")"
        case .decimal(let number): format(number)
        case .string(let text): quoted(text)
        case .date(let seconds): "CAST(\(format(seconds: seconds)), \"NSDate\")"
        case .data(let data): "<\(data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())>"
        case .uuid(let uuid): "CAST(\"\(uuid.uuidString)\", \"NSUUID\")"
        case .uri(let text): "CAST(\(quoted(text)), \"NSURL\")"
        case .opaque(let box): "<\(type(of: box.object))>"
        }
    }

    /// Returns the digits as Apple prints them if parsing them gives the same value.
    private static func format(_ number: Decimal) -> String {
        let text = number.description
        if number.isFinite, text.contains("."), let double = Double(text), Numbers.decimal(double) == number,
            String(double) == text
        {
            return text
        }
        return "CAST(\"\(text)\", \"NSDecimalNumber\")"
    }

    private static func format(seconds: Double) -> String {
        guard seconds.isFinite else { return String(seconds) }
        let text = String(format: "%.6f", seconds)
        return Double(text) == seconds ? text : String(seconds)
    }

    static func quoted(_ text: String) -> String { TextEscapes.quoted(text) }
}
