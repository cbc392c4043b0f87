import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// An array of JSON objects, with values as `coredata query --format json` writes them.
struct JSONExport: ExportWriter {
    private var count = 0

    func begin(_ columns: [PropertyPath]) -> String { "[" }

    mutating func write(_ object: NSManagedObject, _ columns: [PropertyPath]) -> String {
        count += 1
        let members = columns.map { column in
            "\(JSONText.quoted(column.text)): \(column.cell(of: object, showsMembers: true).json)"
        }
        return (count == 1 ? "\n" : ",\n") + "  {\(members.joined(separator: ", "))}"
    }

    func end() -> String { count == 0 ? "]\n" : "\n]\n" }
}

/// Comma-separated values, with a line of names.
struct CSVExport: ExportWriter {
    func begin(_ columns: [PropertyPath]) -> String {
        columns.map { Self.field($0.text) }.joined(separator: ",") + "\r\n"
    }

    func write(_ object: NSManagedObject, _ columns: [PropertyPath]) -> String {
        let fields = columns.map { Self.field($0.cell(of: object, showsMembers: false).text ?? "") }
        return fields.joined(separator: ",") + "\r\n"
    }

    func end() -> String { "" }

    private static func field(_ text: String) -> String {
        let needsQuotes = text.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
        return needsQuotes ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
    }
}

/// Swift statements that insert the objects, for a test or default data. Relationships are left out.
struct SwiftExport: ExportWriter {
    private let className: String
    private var count = 0

    init(_ entity: NSEntityDescription) {
        className = entity.name ?? ""
    }

    func begin(_ columns: [PropertyPath]) -> String { "import CoreData\nimport Foundation\n" }

    mutating func write(_ object: NSManagedObject, _ columns: [PropertyPath]) -> String {
        count += 1
        let name = "object\(count)"
        var text = """

            let \(name) = NSEntityDescription.insertNewObject(
                forEntityName: \(Self.literal(object.entity.name ?? className)), into: context)

            """
        for attribute in columns.compactMap(\.attribute) where !(attribute is NSDerivedAttributeDescription) {
            guard let value = object.value(forKey: attribute.name), let literal = Self.value(value, of: attribute)
            else { continue }
            text += "\(name).setValue(\(literal), forKey: \(Self.literal(attribute.name)))\n"
        }
        return text
    }

    func end() -> String { "" }

    private static func value(_ value: Any, of attribute: NSAttributeDescription) -> String? {
        switch (attribute.kind, value) {
        case (.integer, let number as NSNumber): String(number.int64Value)
        case (.boolean, let number as NSNumber): number.boolValue ? "true" : "false"
        case (.real, let number as NSNumber), (.single, let number as NSNumber):
            number.doubleValue.isFinite ? String(number.doubleValue) : nil
        case (.decimal, let number as NSNumber): "NSDecimalNumber(string: \(literal(number.decimalValue.description)))"
        case (.text, let text as String): literal(text)
        case (.date, let date as Date): "Date(timeIntervalSinceReferenceDate: \(date.timeIntervalSinceReferenceDate))"
        case (.identifier, let id as UUID): "UUID(uuidString: \(literal(id.uuidString)))"
        case (.link, let url as URL): "URL(string: \(literal(url.absoluteString)))"
        case (.bytes, let data as Data): "Data(base64Encoded: \(literal(data.base64EncodedString())))"
        default: nil
        }
    }

    /// Returns a Swift string literal, in which no character of the text has a meaning.
    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", "\u{202A}"..."\u{202E}",
                "\u{2066}"..."\u{2069}":
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
