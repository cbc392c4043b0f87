/// Extracts the bounds and the pattern from an attribute's validation predicates.
///
///     SELF >= 1 (1620), SELF <= 5 (1610)     // minimum "1", maximum "5"
package struct ValidationBounds {
    package private(set) var minimum: String?
    package private(set) var maximum: String?
    package private(set) var pattern: String?
    /// The predicates that are no bound, or whose warning differs from that of a bound.
    package private(set) var others: [ValidationElement] = []

    package init(_ validations: [ValidationElement], type: AttributeType) {
        for validation in validations where !take(validation, type: type) { others.append(validation) }
        // Treat a predicate as a bound only if reading the bound would produce it again.
        let again = AttributeReader.validations(type: type, minimum: minimum, maximum: maximum, pattern: pattern) { _ in
        }
        if again + others != validations {
            (minimum, maximum, pattern) = (nil, nil, nil)
            others = validations
        }
    }

    /// Returns the bounds in the predicates regardless of their warnings; for duplicates, the first.
    package static func limits(
        of validations: [ValidationElement], type: AttributeType
    ) -> (minimum: String?, maximum: String?) {
        var limits: (minimum: String?, maximum: String?)
        for validation in validations {
            var one = ValidationBounds([], type: type)
            guard one.take(validation, type: type),
                let again = Self.validations(type: type, minimum: one.minimum, maximum: one.maximum, pattern: nil)?
                    .first,
                again.predicate == validation.predicate
            else { continue }
            limits.minimum = limits.minimum ?? one.minimum
            limits.maximum = limits.maximum ?? one.maximum
        }
        return limits
    }

    /// Returns the predicates of bounds and a pattern; `nil` if an attribute of the type cannot have them.
    package static func validations(
        type: AttributeType, minimum: String?, maximum: String?, pattern: String?
    ) -> [ValidationElement]? {
        var isRejected = false
        let result = AttributeReader.validations(type: type, minimum: minimum, maximum: maximum, pattern: pattern) {
            _ in isRejected = true
        }
        let count = [minimum, maximum, pattern].compactMap { $0 }.count
        return isRejected || result.count != count ? nil : result
    }

    private mutating func take(_ validation: ValidationElement, type: AttributeType) -> Bool {
        let words = validation.predicate.split(separator: " ", maxSplits: 2)
        guard words.count == 3 else { return false }
        let operand = String(words[2])
        switch words[1] {
        case ">=" where minimum == nil: minimum = operand
        case "<=" where maximum == nil: maximum = operand
        case "MATCHES" where pattern == nil:
            guard let text = PredicateText.unquoted(operand) else { return false }
            pattern = text
        default: return false
        }
        return true
    }
}

extension PredicateText {
    /// Returns the text of a string literal; `nil` for anything else.
    static func unquoted(_ literal: String) -> String? {
        guard literal.count >= 2, literal.first == "\"", literal.last == "\"" else { return nil }
        var result = ""
        var isEscaped = false
        for character in literal.dropFirst().dropLast().unicodeScalars {
            if isEscaped {
                switch character {
                case "n": result += "\n"
                case "r": result += "\r"
                case "t": result += "\t"
                default: result.unicodeScalars.append(character)
                }
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                result.unicodeScalars.append(character)
            }
        }
        return isEscaped ? nil : result
    }
}
