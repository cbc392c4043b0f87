import CoreData
import CoreDataPrimitives
import Foundation

// Values that are stored as JSON text.
extension FieldValue {
    /// Parses the object or array of a JSON text; fails for another value, and for invalid JSON.
    package init?(json data: Data) {
        switch (data.first, data.last) {
        case (UInt8(ascii: "{"), UInt8(ascii: "}")), (UInt8(ascii: "["), UInt8(ascii: "]")): break
        default: return nil
        }
        guard let bytes = try? FileBytes(data, name: "a value") else { return nil }
        var scanner = JSONScanner(ByteCursor(bytes))
        // A record that contains the text as a value has more levels, and must be readable again.
        guard let value = try? scanner.value(depth: 16), scanner.cursor.isAtEnd else { return nil }
        self = value
    }

    /// The value as JSON without blanks, with members in their order and numbers as written.
    package var json: String {
        switch self {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .number(let text): text
        case .text(let text): JSONText.quoted(text)
        case .list(let elements): "[" + elements.map(\.json).joined(separator: ",") + "]"
        case .object(let fields):
            "{" + fields.map { "\(JSONText.quoted($0.name)):\($0.value.json)" }.joined(separator: ",") + "}"
        }
    }

    /// The value as an array, a dictionary or a Foundation value, which can be archived.
    package var plainObject: Any {
        switch self {
        case .null: NSNull()
        case .boolean(let value): NSNumber(value: value)
        case .number(let text): Int64(text).map { NSNumber(value: $0) } ?? NSNumber(value: Double(text) ?? 0)
        case .text(let text): text
        case .list(let elements): elements.map(\.plainObject)
        case .object(let fields):
            Dictionary(fields.map { ($0.name, $0.value.plainObject) }, uniquingKeysWith: { _, last in last })
        }
    }

    /// The archive of an array or dictionary of plain values.
    package var archive: Data? {
        NSSecureUnarchiveFromDataTransformer().reverseTransformedValue(plainObject) as? Data
    }
}

/// Writes texts as JSON.
package enum JSONText {
    /// Returns the text in quotes, with the escapes that JSON requires.
    package static func quoted(_ text: String) -> String {
        TextEscapes.quoted(text) { scalar in
            // JSON allows a delete character.
            guard scalar.value < 0x20 else { return nil }
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}
