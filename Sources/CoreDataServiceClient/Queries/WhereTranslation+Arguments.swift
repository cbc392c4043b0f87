import CoreDataJSON
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

// Constants: they take the type of the other side of a comparison, and are sent as arguments.
extension WhereTranslation {
    mutating func argument(
        _ constant: Typed, as other: Typed, _ comparison: PredicateNode.Comparison
    ) throws(Unsupported) -> ExpressionNode {
        try check(other, comparison, isNull: Self.isNull(constant))
        switch constant.kind {
        case .constant(let value):
            if Self.isNull(constant) { return .constant(.value(.null)) }
            if case .value(let number) = value, Self.isNumeric(other.kind), let literal = Self.literal(number) {
                if case .attribute(.decimal) = other.kind, case .decimal = number {
                    // As a text, which has all of its digits.
                } else {
                    return literal
                }
            }
            return add([try text(value, other.kind)])
        case .constants(let values):
            guard comparison.comparator == .in || comparison.comparator == .between else {
                throw Unsupported("\(comparison.comparator.spelling) compares one value")
            }
            guard comparison.comparator == .in || values.count == 2 else {
                throw Unsupported("BETWEEN takes two values")
            }
            var texts: [String] = []
            for value in values { texts.append(try text(value, other.kind)) }
            return add(WhereClause.list(texts))
        default: throw Unsupported("it is not a constant")
        }
    }

    private mutating func add(_ values: [String]) -> ExpressionNode {
        let name = "v\(nextArgument)"
        nextArgument += 1
        arguments.append(.init(name: name, values: values))
        return .variable(name)
    }

    private static func isNull(_ typed: Typed) -> Bool {
        if case .constant(.value(.null)) = typed.kind { return true }
        return false
    }

    private static func isNumeric(_ kind: Kind) -> Bool {
        switch kind {
        case .number: return true
        case .attribute(let form):
            if case .boolean = form { return true }
            return form.isNumber
        default: return false
        }
    }

    /// Checks what the service allows for a property of that kind.
    private func check(
        _ other: Typed, _ comparison: PredicateNode.Comparison, isNull: Bool
    ) throws(Unsupported) {
        switch other.kind {
        case .attribute(let form):
            switch form {
            case .composite where !isNull: throw Unsupported("a composite can be compared by its elements only")
            case .largeBytes where !isNull: throw Unsupported("a large value can be compared with nil only")
            default: break
            }
            switch comparison.comparator {
            case .beginsWith, .endsWith, .like, .contains:
                guard case .string = form else {
                    throw Unsupported("\(comparison.comparator.spelling) compares texts")
                }
                guard !isNull else { throw Unsupported("\(comparison.comparator.spelling) takes a text") }
            case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between:
                guard form.isComparable, !isNull else { throw Unsupported("the values have no order") }
            default: break
            }
        case .object:
            switch comparison.comparator {
            case .equalTo, .notEqualTo, .in: break
            default: throw Unsupported("objects have no order")
            }
        case .objects:
            guard !isNull, [.contains, .equalTo, .notEqualTo, .in].contains(comparison.comparator) else {
                throw Unsupported("a relationship is compared with objects")
            }
        case .number:
            guard !isNull else { throw Unsupported("a number is compared with numbers") }
        case .constant, .constants: throw Unsupported("it compares constants")
        }
        guard comparison.comparator == .like, case .value(.string(let pattern))? = constant(comparison) else {
            return
        }
        guard pattern.count(where: { $0 == "*" || $0 == "?" }) <= 6 else {
            throw Unsupported("a pattern has at most six wildcards")
        }
    }

    private func constant(_ comparison: PredicateNode.Comparison) -> Constant? {
        if case .constant(let constant) = comparison.right { return constant }
        if case .constant(let constant) = comparison.left { return constant }
        return nil
    }

    /// A constant as the text of an argument.
    private func text(_ constant: Constant, _ kind: Kind) throws(Unsupported) -> String {
        switch (constant, kind) {
        case (.object(let object), .object), (.object(let object), .objects):
            guard let id = translator.reference(object) else {
                throw Unsupported("an object has not been saved to the service")
            }
            return id.uuidString
        case (.value(let value), .attribute(let form)):
            if let text = Self.text(value, form) { return text }
        case (.value(let value), .number):
            if let text = Self.text(value, .double) { return text }
        default: break
        }
        throw Unsupported("a constant is of another type than the property")
    }

    private static func text(_ value: Value, _ form: AttributeForm) -> String? {
        switch (value, form) {
        case (.string(let text), .string): text.utf8.contains(0) ? nil : text
        case (.date(let seconds), .date): DateForm.text(Date(timeIntervalSinceReferenceDate: seconds))
        case (.uuid(let id), .uuid): id.uuidString
        case (.uri(let text), .uri): text
        case (.data(let data), .bytes): data.base64EncodedString()
        case (.integer(let number), .boolean): number == 0 ? "false" : "true"
        case (.integer(let number), .integer), (.integer(let number), .double), (.integer(let number), .float),
            (.integer(let number), .decimal):
            String(number)
        case (.double(let number), .double), (.double(let number), .float), (.double(let number), .decimal):
            number.isFinite ? "\(number)" : nil
        case (.double(let number), .integer): Int64(exactly: number).map { String($0) }
        case (.decimal(let number), .decimal): number.isNaN ? nil : "\(number)"
        case (.decimal(let number), .double), (.decimal(let number), .float): number.isNaN ? nil : "\(number)"
        default: nil
        }
    }
}
