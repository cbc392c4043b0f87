import CoreDataPrimitives
import Foundation

/// The target type of `CAST(value, "type")` or of a placeholder.
enum CastTarget {
    case date, number, decimal, string, url, uuid
    case integer, double

    init?(_ name: String) {
        switch name {
        case "NSDate", "Date": self = .date
        case "NSNumber": self = .number
        case "NSDecimalNumber", "Decimal": self = .decimal
        case "NSString", "String": self = .string
        case "NSURL", "URL": self = .url
        case "NSUUID", "UUID": self = .uuid
        case "Int", "Int64", "Int32", "Int16", "NSInteger": self = .integer
        case "Double", "Float": self = .double
        default: return nil
        }
    }

    /// Returns the value converted to the type; nil for text that cannot be parsed.
    ///
    /// Dates and numbers are converted by seconds since 2001-01-01 UTC; text is parsed as ISO 8601.
    func cast(_ value: Value) throws(PredicateFailure) -> Value {
        if value.isNull { return .null }
        switch self {
        case .date: return try date(value)
        case .number: return try number(value)
        case .decimal:
            switch try number(value) {
            case .integer(let number): return .decimal(Decimal(number))
            case .double(let number): return Numbers.decimal(number).map { .decimal($0) } ?? .null
            case let other: return other
            }
        case .integer:
            switch try number(value) {
            case .double(let number): return .integer(Int64(clamping: number))
            case .decimal(let number): return .integer(Int64(clamping: Numbers.double(number)))
            case let other: return other
            }
        case .double: return Numbers.double(try number(value)).map { .double($0) } ?? .null
        case .string: return Self.text(value).map { .string($0) } ?? .null
        case .url:
            guard let text = Self.text(value) else { return .null }
            return .uri(text)
        case .uuid:
            if case .uuid = value { return value }
            return Self.text(value).flatMap(UUID.init(uuidString:)).map { .uuid($0) } ?? .null
        }
    }

    private func date(_ value: Value) throws(PredicateFailure) -> Value {
        switch value {
        case .date: return value
        case .integer, .double, .decimal: return Numbers.double(value).map { .date($0) } ?? .null
        case .string(let text): return Self.date(text).map { .date($0.timeIntervalSinceReferenceDate) } ?? .null
        default: throw Self.failure(value, "a date")
        }
    }

    private func number(_ value: Value) throws(PredicateFailure) -> Value {
        switch value {
        case .integer, .double, .decimal: return value
        case .date(let seconds): return .double(seconds)
        case .string(let text):
            if let number = Int64(text) { return .integer(number) }
            if self == .decimal { return Decimal(string: text).map { .decimal($0) } ?? .null }
            return Double(text).map { .double($0) } ?? .null
        default: throw Self.failure(value, "a number")
        }
    }

    private static func date(_ text: String) -> Date? {
        if let date = try? Date(text, strategy: .iso8601) { return date }
        var style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        if let date = try? style.parse(text) { return date }
        style = Date.ISO8601FormatStyle().year().month().day()
        return try? style.parse(text)
    }

    /// Returns the value as text; `nil` for data and objects.
    static func text(_ value: Value) -> String? {
        switch value {
        case .string(let text), .uri(let text): text
        case .integer(let number): String(number)
        case .double(let number): String(number)
        case .decimal(let number): number.description
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601)
        case .uuid(let uuid): uuid.uuidString
        case .null, .data, .opaque: nil
        }
    }

    private static func failure(_ value: Value, _ target: String) -> PredicateFailure {
        PredicateFailure(
            .evaluation, Diagnostic(.error, "\(Operand.value(value).kindName) cannot be cast to \(target)"))
    }
}

extension Int64 {
    /// Converts the number without its fraction; a number out of range is clamped, NaN becomes 0.
    init(clamping number: Double) {
        if number.isNaN {
            self = 0
        } else if let exact = Int64(exactly: number.rounded(.towardZero)) {
            self = exact
        } else {
            self = number < 0 ? .min : .max
        }
    }
}
