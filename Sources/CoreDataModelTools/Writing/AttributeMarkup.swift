import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Makes the XML attributes of an ``AttributeElement``: the inverse of ``AttributeReader``.
enum AttributeMarkup {
    /// The reason why an attribute cannot be written as XML; the message continues a sentence that starts with the
    /// attribute's name.
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

    /// Returns the default in its file's spelling, else in ours.
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
