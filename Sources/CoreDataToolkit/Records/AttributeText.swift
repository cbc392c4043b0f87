import CoreData
import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Reads and writes the values of attributes in files.
///
/// | Attribute | Written as |
/// | --- | --- |
/// | Boolean | `true`, `false`; read also `YES`, `NO`, `1`, `0` |
/// | Date | ISO 8601, UTC unless it says otherwise: `2024-05-01T12:30:00Z`, `2024-05-01` |
/// | Binary, Transformable | base64; of a transformable, the bytes that are stored |
/// | Binary with the text of a JSON object or array | that value; or a text that contains it |
/// | Transformable that is an archived array or dictionary of plain values | a list or an object; or a text that
/// contains it as JSON |
/// | Composite of an enumeration | its raw value, or the name of its case |
/// | UUID, URI, String, numbers | plain text; JSON has numbers |
package struct AttributeText {
    package let attribute: NSAttributeDescription
    /// Whether an empty text counts as no value, for formats without another notation. For a required text attribute,
    /// an empty text stays empty.
    package var emptyIsNil = false
    /// Whether this tool wrote the file, so that values are exact: an empty text for binary data means no bytes, a
    /// number for a date means seconds since 2001.
    package var isExact = false

    package init(attribute: NSAttributeDescription, emptyIsNil: Bool = false, isExact: Bool = false) {
        self.attribute = attribute
        self.emptyIsNil = emptyIsNil
        self.isExact = isExact
    }

    package var kind: ValueKind { attribute.kind }

    /// Returns the value of a field, as the attribute stores it; `nil` for no value.
    ///
    /// - Throws: a ``ToolkitError`` with the error in the value, without the attribute's name.
    package func value(_ field: FieldValue) throws -> Any? {
        if let composite = attribute as? NSCompositeAttributeDescription { return try value(field, of: composite) }
        switch field {
        case .null: return nil
        case .boolean(let value):
            guard kind == .boolean else { throw failure("\(value)") }
            return NSNumber(value: value)
        case .number(let text): return try value(text)
        case .text(let text):
            if text.isEmpty, isExact, kind == .bytes || kind == .object { return Data() }
            if text.isEmpty, emptyIsNil || kind != .text {
                let isRequiredText = kind == .text && !attribute.isOptional
                return isRequiredText ? "" : nil
            }
            return try value(text)
        case .list, .object:
            if kind == .bytes { return Data(field.json.utf8) }
            if attribute.attributeType == .transformableAttributeType { return try archived(field) }
            throw ToolkitError("takes \(typeName), not \(field.isList ? "a list" : "an object")")
        }
    }

    private func value(_ field: FieldValue, of composite: NSCompositeAttributeDescription) throws -> Any? {
        if case .object(let fields) = field { return try elements(fields) }
        if field == .null || field == .text("") { return nil }
        let enumeration = StoredEnumeration(composite)
        if let element = enumeration?.rawValue {
            let text = AttributeText(attribute: element, emptyIsNil: emptyIsNil, isExact: isExact)
            return try text.value(field).map { [element.name: $0] }
        }
        guard case .text(let text) = field else { throw ToolkitError("takes \(typeName)") }
        if let elements = enumeration?.elements(ofCase: text) { return elements }
        if case .object(let fields)? = FieldValue(json: Data(text.utf8)) { return try elements(fields) }
        guard let cases = enumeration?.cases else { throw ToolkitError("takes \(typeName), not a text") }
        throw ToolkitError("has no case '\(text)'" + Suggestion.text(for: text, among: cases))
    }

    /// Returns the value of a transformable attribute that is an array or a dictionary: in its transformer's type, or
    /// as stored bytes.
    private func archived(_ field: FieldValue) throws -> Any {
        let name = attribute.valueTransformerName.flatMap { $0.isEmpty ? nil : NSValueTransformerName($0) }
        guard let name, !(ValueTransformer(forName: name) is NSSecureUnarchiveFromDataTransformer) else {
            return field.plainObject
        }
        guard let data = field.archive else { throw ToolkitError("takes plain values, which an archive can have") }
        return data
    }

    /// Returns the dictionary of a composite attribute without nil elements; nil if all are nil.
    private func elements(_ fields: [FieldValue.Field]) throws -> Any? {
        var result: [String: Any] = [:]
        let elements = (attribute as? NSCompositeAttributeDescription)?.elements ?? []
        for field in fields {
            guard let element = elements.first(where: { $0.name == field.name }) else {
                throw ToolkitError(
                    "has no element '\(field.name)'"
                        + Suggestion.text(for: field.name, among: elements.map(\.name)))
            }
            let text = AttributeText(attribute: element, emptyIsNil: emptyIsNil, isExact: isExact)
            do { result[field.name] = try text.value(field.value) } catch let failure as ToolkitError {
                throw ToolkitError("\(field.name): \(failure.message)")
            }
        }
        return result.isEmpty ? nil : result
    }

    private func value(_ text: String) throws -> Any {
        switch kind {
        case .integer:
            return NSNumber(value: try integer(text, within: attribute.attributeType.compiled.traits.range))
        case .real: return NSNumber(value: try real(text))
        case .single:
            let value = Float(try real(text))
            guard value.isFinite || isExact else { throw failure(text) }
            return NSNumber(value: value)
        case .decimal:
            // `Decimal` ignores trailing text, so check the format first.
            guard text.wholeMatch(of: #/[+\-]?\d+(\.\d+)?([eE][+\-]?\d+)?/#) != nil,
                let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !value.isNaN
            else { throw failure(text) }
            return NSDecimalNumber(decimal: value)
        case .text: return text
        case .boolean:
            switch text.lowercased() {
            case "true", "yes", "1": return NSNumber(value: true)
            case "false", "no", "0": return NSNumber(value: false)
            default: throw failure(text)
            }
        case .date:
            if let date = DateText.date(text) { return date }
            guard isExact, let seconds = Double(text) else { throw failure(text) }
            return Date(timeIntervalSinceReferenceDate: seconds)
        case .bytes:
            if FieldValue(json: Data(text.utf8)) != nil { return Data(text.utf8) }
            guard let data = Data(base64Encoded: text) else { throw failure(text) }
            return data
        case .identifier:
            guard let uuid = UUID(uuidString: text) else { throw failure(text) }
            return uuid
        case .link:
            guard let url = URL(string: text) else { throw failure(text) }
            return url
        case .object where attribute.attributeType == .transformableAttributeType:
            if let value = FieldValue(json: Data(text.utf8)) { return try archived(value) }
            guard let data = Data(base64Encoded: text) else { throw failure(text) }
            return data
        case .object, .reference, .composite:
            throw ToolkitError("is of a type that cannot be imported")
        }
    }

    private func integer(_ text: String, within range: ClosedRange<Int64>?) throws -> Int64 {
        let range = range ?? .min ... .max
        // JSON may write 3 as 3.0 or 3e0.
        let value = Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
        if let value, range.contains(value) { return value }
        guard Double(text) != nil else { throw failure(text) }
        throw ToolkitError("'\(text)' is not between \(range.lowerBound) and \(range.upperBound), or not whole")
    }

    private func real(_ text: String) throws -> Double {
        guard let value = Double(text), value.isFinite || isExact && !value.isNaN, !text.lowercased().contains("x")
        else { throw failure(text) }
        return value
    }

    private func failure(_ text: String) -> ToolkitError {
        let shown = text.count > 40 ? text.prefix(40) + "…" : text[...]
        return ToolkitError("'\(shown)' is not \(typeName)")
    }

    /// The expected type, for messages.
    package var typeName: String {
        switch kind {
        case .integer: "a whole number"
        case .real, .single, .decimal: "a number"
        case .text: "a text"
        case .boolean: "true or false"
        case .date: "a date such as 2024-05-01 or 2024-05-01T12:30:00Z"
        case .bytes: "base64"
        case .identifier: "a UUID"
        case .link: "a URL"
        case .object where attribute.attributeType == .transformableAttributeType: "base64"
        case .composite where StoredEnumeration(attribute) != nil: "a case of its enumeration"
        case .composite: "an object with its elements"
        case .object, .reference: "a value of the tool's"
        }
    }
}

extension FieldValue {
    fileprivate var isList: Bool {
        if case .list = self { return true }
        return false
    }
}
