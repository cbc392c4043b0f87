import CoreDataPrimitives
import Foundation

/// Makes the XML attributes of an ``AttributeElement``: the other way of ``AttributeReader``.
enum AttributeMarkup {
    /// Why an attribute has no XML; the message continues the attribute's name.
    struct Refusal: Error {
        var message: String
    }

    static func attributes(of attribute: AttributeElement) throws(Refusal) -> [String: String] {
        var result: [String: String] = [:]
        result["attributeType"] = attribute.type.fileName
        if let text = try defaultText(of: attribute) {
            result[attribute.type == .date ? "defaultDateTimeInterval" : "defaultValueString"] = text
        }
        result["usesScalarValueType"] = attribute.usesScalarValueType.map { $0 ? "YES" : "NO" }
        result["valueTransformerName"] = attribute.valueTransformerName
        result["customClassName"] = attribute.customClassName
        if attribute.allowsExternalBinaryDataStorage { result["allowsExternalBinaryDataStorage"] = "YES" }
        if attribute.preservesValueInHistoryOnDeletion { result["preserveAfterDeletion"] = "YES" }
        if attribute.allowsCloudEncryption { result["allowsCloudEncryption"] = "YES" }
        result["composite"] = attribute.compositeName
        if attribute.compositeName == nil, !attribute.elements.isEmpty {
            throw Refusal(message: "has elements but names no composite")
        }
        if let expression = attribute.derivationExpression {
            result["derived"] = "YES"
            result["derivationExpression"] = expression
        }
        if attribute.derivationFilter != nil { throw Refusal(message: "is derived with a filter") }

        let bounds = ValidationBounds(attribute.validations, type: attribute.type)
        if let other = bounds.others.first {
            throw Refusal(message: "has the validation '\(other.predicate)' with warning '\(other.warning)'")
        }
        let isDate = attribute.type == .date
        result[isDate ? "minDateTimeInterval" : "minValueString"] = bounds.minimum
        result[isDate ? "maxDateTimeInterval" : "maxValueString"] = bounds.maximum
        result["regularExpressionString"] = bounds.pattern
        return result
    }

    /// The default as its file spells it, else as ours does.
    private static func defaultText(of attribute: AttributeElement) throws(Refusal) -> String? {
        if let text = attribute.defaultValueText,
            attribute.defaultValue.isNull || DefaultValue.value(text, type: attribute.type) == attribute.defaultValue
        {
            return text
        }
        if attribute.defaultValue.isNull { return nil }
        if let text = DefaultValue.text(of: attribute.defaultValue, type: attribute.type) { return text }
        throw Refusal(message: "has a default of type \(attribute.type.displayName)")
    }
}

extension DefaultValue {
    /// The value as Xcode spells it; `nil` for a type whose values have no text form.
    package static func text(of value: Value, type: AttributeType) -> String? {
        switch (type, value) {
        case (.boolean, .integer(let integer)): integer == 0 ? "NO" : "YES"
        case (.integer16, .integer(let integer)), (.integer32, .integer(let integer)),
            (.integer64, .integer(let integer)):
            String(integer)
        case (.double, .double(let double)), (.float, .double(let double)): "\(double)"
        case (.decimal, .decimal(let decimal)): decimal.description
        case (.string, .string(let text)), (.uri, .uri(let text)): text
        case (.date, .date(let seconds)): PredicateText.number(seconds)
        case (.uuid, .uuid(let uuid)): uuid.uuidString
        default: nil
        }
    }
}

/// The bounds and the pattern among an attribute's validation predicates.
///
///     SELF >= 1 (1620), SELF <= 5 (1610)     // minimum "1", maximum "5"
package struct ValidationBounds {
    package private(set) var minimum: String?
    package private(set) var maximum: String?
    package private(set) var pattern: String?
    /// What is neither, or has another warning than the one of a bound.
    package private(set) var others: [ValidationElement] = []

    package init(_ validations: [ValidationElement], type: AttributeType) {
        for validation in validations where !take(validation, type: type) { others.append(validation) }
        // Only what reading would make of them again may be told as bounds.
        let again = AttributeReader.validations(type: type, minimum: minimum, maximum: maximum, pattern: pattern) { _ in
        }
        if again + others != validations {
            (minimum, maximum, pattern) = (nil, nil, nil)
            others = validations
        }
    }

    /// The predicates that bounds and a pattern stand for; `nil` where an attribute of that type cannot have them.
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
    /// The text that a string literal stands for; `nil` for anything else.
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
