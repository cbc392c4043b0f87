import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataToolkit
import Foundation

// Converts values for the output.
extension AttributeText {
    /// Returns an object's value of the attribute.
    ///
    /// If ``isExact`` is set, bytes are written as JSON only if an import reproduces an equal value.
    package func cell(_ value: Any?) -> CellValue {
        guard let value, !(value is NSNull) else { return .null }
        if let composite = attribute as? NSCompositeAttributeDescription {
            guard let values = value as? [String: Any] ?? (value as? NSDictionary) as? [String: Any] else {
                return .null
            }
            func cell(_ element: NSAttributeDescription) -> CellValue {
                AttributeText(attribute: element, isExact: isExact).cell(values[element.name])
            }
            if let element = StoredEnumeration(composite)?.element(in: values) { return cell(element) }
            return .object(
                composite.elements.sorted { $0.name < $1.name }.map { .init(name: $0.name, value: cell($0)) })
        }
        switch kind {
        case .integer:
            return (value as? NSNumber).map { .integer($0.int64Value) } ?? Self.other(value)
        case .boolean: return (value as? NSNumber).map { .boolean($0.boolValue) } ?? Self.other(value)
        case .single:
            // Use the shortest digits of the float: 0.1, not 0.10000000149011612.
            return (value as? NSNumber).flatMap { Double("\($0.floatValue)") }.map { .real($0) } ?? Self.other(value)
        case .decimal:
            return (value as? NSNumber).map { .decimal($0.decimalValue) } ?? Self.other(value)
        case .bytes: return (value as? Data).flatMap(jsonCell) ?? Self.other(value)
        case .object: return (value as? Data).flatMap(archiveCell) ?? Self.other(value)
        default: return Self.other(value)
        }
    }

    /// Returns bytes that are the text of a JSON object or array.
    private func jsonCell(_ data: Data) -> CellValue? {
        guard let value = FieldValue(json: data) else { return nil }
        guard isExact else { return .json(value.json) }
        let text = String(decoding: data, as: UTF8.self)
        // XML does not allow these two characters.
        guard !text.unicodeScalars.contains(where: { $0 == "\u{FFFE}" || $0 == "\u{FFFF}" }) else { return nil }
        return Data(value.json.utf8) == data ? .json(text) : .text(text)
    }

    /// Returns bytes that are the archive of plain values. Exact cells are JSON only if an import makes an equal
    /// archive.
    private func archiveCell(_ data: Data) -> CellValue? {
        guard let value = PlainArchive.value(in: data) else { return nil }
        switch value {
        case .list, .object:
            guard isExact else { return .json(value.json) }
            return value.archive.map { PlainArchive.areEqual($0, data) } ?? false ? .json(value.json) : nil
        case .text(let text): return isExact ? nil : .text(text)
        case .null: return nil
        case .number, .boolean: return isExact ? nil : .json(value.json)
        }
    }

    /// Returns a value whose attribute is unknown, such as an element of a composite.
    package static func other(_ value: Any) -> CellValue {
        switch value {
        case let value as String: .text(value)
        case let value as Date: .date(value)
        case let value as Data: .data(value)
        case let value as UUID: .text(value.uuidString)
        case let value as URL: .text(value.absoluteString)
        case let value as NSDecimalNumber: .decimal(value.decimalValue)
        case let value as NSNumber: .real(value.doubleValue)
        default: .text("\(value)")
        }
    }
}
