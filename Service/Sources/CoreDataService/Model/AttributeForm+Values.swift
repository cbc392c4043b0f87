import CoreDataJSON
import Foundation

/// A value that an attribute cannot have, in words.
package struct ValueMistake: Error {
    package let words: String
    /// The path of elements within a composite.
    package var path: [String] = []
}

extension AttributeForm {
    // MARK: From JSON

    /// Returns the value of the attribute that the JSON represents; `nil` for null.
    package func value(_ json: JSONValue) throws(ValueMistake) -> (any Sendable)? {
        if json == .null { return nil }
        switch (self, json) {
        case (.string, .string(let text)):
            // No store has a place for it: a text ends there, or is refused.
            guard !text.utf8.contains(0) else {
                throw ValueMistake(words: "a string cannot contain the character U+0000")
            }
            return text
        case (.boolean, .boolean(let value)): return NSNumber(value: value)
        case (.composite(let elements), .object(let members)): return try Self.composite(elements, members)
        case (.double, .string(let text)), (.float, .string(let text)):
            guard let value = Self.infinity(text) else { break }
            return NSNumber(value: value)
        case (.date, .string("Infinity")), (.date, .string("-Infinity")), (.date, .number):
            return try Self.distantDate(json)
        case (.integer, .number(let text)), (.decimal, .number(let text)), (.decimal, .string(let text)),
            (.double, .number(let text)), (.float, .number(let text)), (.date, .string(let text)),
            (.uuid, .string(let text)), (.uri, .string(let text)), (.bytes, .string(let text)):
            return try value(text: text)
        default: break
        }
        throw ValueMistake(words: "expected \(words), found \(json.kind)")
    }

    /// Reads what ``json(_:)`` writes for an infinity.
    private static func infinity(_ text: String) -> Double? {
        switch text {
        case "Infinity": .infinity
        case "-Infinity": -.infinity
        default: nil
        }
    }

    /// Reads what ``json(_:)`` writes for a date that ISO 8601 does not have: the seconds since 2001.
    private static func distantDate(_ json: JSONValue) throws(ValueMistake) -> Date {
        if let seconds = json.string.flatMap(infinity) { return Date(timeIntervalSinceReferenceDate: seconds) }
        guard case .number(let text) = json, let seconds = Double(text), seconds.isFinite else {
            throw ValueMistake(words: "expected \(AttributeForm.date.words), found \(json.kind)")
        }
        // Within these years a number may be meant as seconds since another date.
        guard !DateForm.range.contains(seconds) else {
            throw ValueMistake(
                words: "a number is a date before the year 1 or after 9999, in seconds since 2001; expected "
                    + AttributeForm.date.words)
        }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    private static func composite(
        _ elements: [ServedAttribute], _ members: [JSONValue.Member]
    ) throws(ValueMistake) -> [String: any Sendable] {
        var values: [String: any Sendable] = [:]
        for member in members {
            guard let element = elements.first(where: { $0.name == member.name }) else {
                throw ValueMistake(
                    words: "there is no element '\(member.name.prefix(80))'; it has: "
                        + elements.map(\.name).joined(separator: ", "))
            }
            do throws(ValueMistake) {
                if let value = try element.form.value(member.value) { values[element.name] = value }
            } catch {
                throw ValueMistake(words: error.words, path: [element.name] + error.path)
            }
        }
        return values
    }

    /// Returns the value that a text represents: a number's digits, the text of a date, an argument of a request.
    package func value(text: String) throws(ValueMistake) -> any Sendable {
        let value: (any Sendable)? =
            switch self {
            case .integer(let range): Self.integer(text, range).map { NSNumber(value: $0) }
            case .decimal(let digits): Self.decimal(text, digits)
            case .double: Double(text).flatMap { $0.isFinite ? NSNumber(value: $0) : nil }
            case .float: Float(text).flatMap { $0.isFinite ? NSNumber(value: $0) : nil }
            case .string: text
            case .boolean:
                text == "true" || text == "YES"
                    ? NSNumber(value: true) : text == "false" || text == "NO" ? NSNumber(value: false) : nil
            case .date: DateForm.date(text)
            case .bytes: Data(base64Encoded: text)
            case .uuid: UUID(uuidString: text)
            case .uri: Self.uri(text)
            case .largeBytes, .composite: nil
            }
        guard let value else { throw ValueMistake(words: "'\(text.prefix(80))' is not \(words)") }
        return value
    }

    /// Reads `12`, and `1.2e1`, which is the same number.
    private static func integer(_ text: String, _ range: ClosedRange<Int64>) -> Int64? {
        if let number = Int64(text) { return range.contains(number) ? number : nil }
        guard text.contains(where: { ".eE".contains($0) }),
            let decimal = (decimal(text) as NSDecimalNumber?)?.decimalValue,
            let number = Int64("\(decimal)"), range.contains(number)
        else { return nil }
        return number
    }

    /// Returns a decimal that has all digits of the text; `nil` if there are too many.
    private static func decimal(_ text: String, _ most: Int = 38) -> NSDecimalNumber? {
        guard text.utf8.count <= 100, let match = text.wholeMatch(of: /([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?/)
        else { return nil }
        let (_, sign, whole, fraction, power) = match.output
        guard !whole.isEmpty || !(fraction ?? "").isEmpty else { return nil }
        var digits = String((whole + (fraction ?? "")).drop { $0 == "0" })
        var exponent = (power.flatMap { Int($0) } ?? 0) - (fraction?.count ?? 0)
        while digits.hasSuffix("0") {
            digits.removeLast()
            exponent += 1
        }
        if digits.isEmpty { return NSDecimalNumber.zero }
        // A decimal has 38 digits and an exponent of one byte.
        guard digits.count <= most, exponent >= -128, exponent <= 127 else { return nil }
        guard let decimal = Decimal(string: "\(sign)\(digits)e\(exponent)", locale: nil), !decimal.isNaN else {
            return nil
        }
        return NSDecimalNumber(decimal: decimal)
    }

    private static func uri(_ text: String) -> URL? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), let url = URL(string: text),
            url.absoluteString == text
        else { return nil }
        return url
    }

    // MARK: To JSON

    /// Returns the JSON of a value of the attribute.
    package func json(_ value: Any?) -> JSONValue {
        guard let value, !(value is NSNull) else { return .null }
        switch self {
        case .integer: return (value as? NSNumber).map(Self.integer) ?? .null
        case .decimal: return (value as? NSNumber).map { Self.number($0.decimalValue) } ?? .null
        case .double: return (value as? NSNumber).map { Self.number($0.doubleValue) } ?? .null
        case .float:
            // The shortest digits of the float: 0.1, not 0.10000000149011612.
            return (value as? NSNumber).map { number in
                let float = number.floatValue
                return float.isFinite ? .number(Self.digits("\(float)")) : Self.number(Double(float))
            } ?? .null
        case .string: return (value as? String).map { .string($0) } ?? .null
        case .boolean: return (value as? NSNumber).map { .boolean($0.boolValue) } ?? .null
        case .date:
            return (value as? Date).map { date in
                DateForm.text(date).map { .string($0) } ?? Self.number(date.timeIntervalSinceReferenceDate)
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

    /// A whole number; a sum of more than 64 bits is a double.
    private static func integer(_ number: NSNumber) -> JSONValue {
        guard ["d", "f"].contains(String(cString: number.objCType)) else { return .integer(number.int64Value) }
        let double = number.doubleValue
        return Int64(exactly: double).map { .integer($0) } ?? Self.number(double)
    }

    /// A decimal as JSON's grammar has it.
    private static func number(_ decimal: Decimal) -> JSONValue {
        decimal.isNaN ? .null : .number("\(decimal)")
    }

    private static func number(_ double: Double) -> JSONValue {
        if double.isNaN { return .null }
        // JSON has no infinity; `nonConformingFloatDecodingStrategy` reads these.
        guard double.isFinite else { return .string(double < 0 ? "-Infinity" : "Infinity") }
        return .number(digits("\(double)"))
    }

    /// `2` instead of `2.0`.
    private static func digits(_ text: String) -> String { text.hasSuffix(".0") ? String(text.dropLast(2)) : text }
}
