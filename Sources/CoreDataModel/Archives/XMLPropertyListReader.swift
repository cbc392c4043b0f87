import CoreDataPrimitives
import Foundation

/// Reads XML property lists; a dictionary of only `CF$UID` is a keyed archive's reference.
enum XMLPropertyListReader {
    static func read(_ data: Data) throws(ModelFailure) -> PropertyListValue {
        let root = try MarkupParser.parse(data, file: nil)
        guard root.name == "plist", let first = root.children.first, let value = value(first) else {
            throw ModelFailure(diagnostics: [Diagnostic(.error, "not a property list")])
        }
        return value
    }

    private static func value(_ element: MarkupElement) -> PropertyListValue? {
        let text = element.text.trimmingCharacters(in: .whitespacesAndNewlines)
        switch element.name {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "integer": return Int64(text).map { .integer($0) }
        case "real": return Double(text).map { .real($0) }
        case "string": return .string(element.text)
        case "data": return Data(base64Encoded: text, options: .ignoreUnknownCharacters).map { .data($0) }
        case "date":
            return ISO8601DateFormatter().date(from: text).map { .date($0.timeIntervalSinceReferenceDate) }
        case "array": return .array(element.children.compactMap(value))
        case "dict":
            var entries: [String: PropertyListValue] = [:]
            var key: String?
            for child in element.children {
                if child.name == "key" {
                    key = child.text
                } else if let name = key {
                    entries[name] = value(child)
                    key = nil
                }
            }
            if entries.count == 1, case .integer(let number)? = entries["CF$UID"] { return .uid(Int(clamping: number)) }
            return .dictionary(entries)
        default: return nil
        }
    }
}
