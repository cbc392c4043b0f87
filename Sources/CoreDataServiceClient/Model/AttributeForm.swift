import CoreData
import CoreDataJSON
import Foundation

/// The JSON form of an attribute's values, as the service writes and reads them.
indirect enum AttributeForm: Sendable {
    case integer
    case decimal
    case double
    case float
    case string
    case boolean
    /// ISO 8601, see ``DateForm``.
    case date
    /// Base64.
    case bytes
    /// An address, under which the bytes are read and written; the attribute allows external storage.
    case largeBytes
    case uuid
    case uri
    case composite([ServiceAttribute])

    /// Whether the service sorts by such an attribute.
    var isSortable: Bool {
        switch self {
        case .integer, .decimal, .double, .float, .string, .boolean, .date, .uuid: true
        case .bytes, .largeBytes, .uri, .composite: false
        }
    }

    /// Whether values have an order.
    var isComparable: Bool {
        if case .boolean = self { return false }
        return isSortable
    }

    var isNumber: Bool {
        switch self {
        case .integer, .decimal, .double, .float: true
        default: false
        }
    }

    /// The form of an aggregate's result, as the service has it.
    func result(of function: String) -> AttributeForm {
        switch (function, self) {
        case ("average", .integer), ("average", .float), ("sum", .float): .double
        default: self
        }
    }

    // MARK: From JSON

    /// Returns the value that the JSON represents; `nil` for null, and for a large value, which is not in the JSON.
    ///
    /// - Throws: an error for JSON of another kind, which no service of the same model sends.
    func value(_ json: JSONValue) throws(ServiceFailure) -> (any Sendable)? {
        switch (self, json) {
        case (_, .null), (.largeBytes, _): return nil
        case (.string, .string(let text)): return text
        case (.boolean, .boolean(let value)): return NSNumber(value: value)
        case (.composite(let elements), .object):
            var values: [String: any Sendable] = [:]
            for element in elements {
                if let member = json[element.name], let value = try element.form.value(member) {
                    values[element.name] = value
                }
            }
            return values
        case (.date, .number(let text)):
            if let seconds = Double(text) { return Date(timeIntervalSinceReferenceDate: seconds) }
        case (.integer, .number(let text)), (.decimal, .number(let text)), (.double, .number(let text)),
            (.float, .number(let text)), (.decimal, .string(let text)), (.double, .string(let text)),
            (.float, .string(let text)), (.date, .string(let text)), (.uuid, .string(let text)),
            (.uri, .string(let text)), (.bytes, .string(let text)):
            if let value = value(text: text) { return value }
        default: break
        }
        throw ServiceFailure(status: 0, type: "answer", message: "\(JSONWriter.text(json).prefix(80)) is not \(words)")
    }

    /// Returns the value that a number's digits or a text represent; `nil` if they represent none.
    private func value(text: String) -> (any Sendable)? {
        switch self {
        case .integer: Int64(text).map { NSNumber(value: $0) }
        case .decimal:
            Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
                .flatMap { $0.isNaN ? nil : NSDecimalNumber(decimal: $0) }
        case .double: Self.double(text).map { NSNumber(value: $0) }
        case .float: Self.double(text).map { NSNumber(value: Float($0)) }
        case .date: DateForm.date(text)
        case .bytes: Data(base64Encoded: text)
        case .uuid: UUID(uuidString: text)
        case .uri: URL(string: text)
        case .string, .boolean, .largeBytes, .composite: nil
        }
    }

    private static func double(_ text: String) -> Double? {
        switch text {
        case "Infinity": .infinity
        case "-Infinity": -.infinity
        default: Double(text)
        }
    }

    // MARK: To JSON

    /// Returns the JSON of a value of the attribute.
    func json(_ value: Any?) -> JSONValue {
        guard let value, !(value is NSNull) else { return .null }
        switch self {
        case .integer: return (value as? NSNumber).map { .integer($0.int64Value) } ?? .null
        case .decimal:
            return (value as? NSNumber).map { $0.decimalValue.isNaN ? .null : .number("\($0.decimalValue)") } ?? .null
        case .double: return (value as? NSNumber).map { Self.number($0.doubleValue, "\($0.doubleValue)") } ?? .null
        case .float:
            // The shortest digits of the float: 0.1, not 0.10000000149011612.
            return (value as? NSNumber).map { Self.number($0.doubleValue, "\($0.floatValue)") } ?? .null
        case .string: return (value as? String).map { .string($0) } ?? .null
        case .boolean: return (value as? NSNumber).map { .boolean($0.boolValue) } ?? .null
        case .date:
            return (value as? Date).map { date in
                DateForm.text(date).map { .string($0) }
                    ?? .number(Self.digits("\(date.timeIntervalSinceReferenceDate)"))
            } ?? .null
        case .bytes: return (value as? Data).map { .string($0.base64EncodedString()) } ?? .null
        case .uuid: return (value as? UUID).map { .string($0.uuidString) } ?? .null
        case .uri: return (value as? URL).map { .string($0.absoluteString) } ?? .null
        case .largeBytes: return .null
        case .composite(let elements):
            guard let values = value as? [String: Any] ?? (value as? NSDictionary) as? [String: Any] else {
                return .null
            }
            return .object(elements.map { .init($0.name, $0.form.json(values[$0.name])) })
        }
    }

    private static func number(_ double: Double, _ text: String) -> JSONValue {
        if double.isNaN { return .null }
        return double.isFinite ? .number(digits(text)) : .string(double < 0 ? "-Infinity" : "Infinity")
    }

    /// `2` instead of `2.0`.
    private static func digits(_ text: String) -> String { text.hasSuffix(".0") ? String(text.dropLast(2)) : text }

    /// The form for messages.
    private var words: String {
        switch self {
        case .integer: "a whole number"
        case .decimal, .double, .float: "a number"
        case .string: "a string"
        case .boolean: "true or false"
        case .date: "a date"
        case .bytes: "bytes in Base64"
        case .largeBytes: "the address of bytes"
        case .uuid: "a UUID"
        case .uri: "a URI"
        case .composite: "an object with elements"
        }
    }
}
