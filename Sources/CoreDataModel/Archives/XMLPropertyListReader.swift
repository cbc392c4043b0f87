import CoreDataPrimitives
import Foundation

/// Reads XML property lists; a dictionary of only `CF$UID` is a keyed archive's reference.
///
/// The XML reader limits the depth. Input that does not conform to Apple's definition of property lists is an error
/// with its position, because leaving a value out would change the list.
enum XMLPropertyListReader {
    static func read(_ data: Data, file: String? = nil) throws(ModelFailure) -> PropertyListValue {
        let root = try MarkupParser.parse(data, file: file)
        guard root.name == "plist" else { throw failure("the root element is <\(root.name)>, not <plist>", at: root) }
        guard let first = root.children.first else { throw failure("the property list is empty", at: root) }
        if root.children.count > 1 { throw failure("<plist> has more than one value", at: root.children[1]) }
        return try value(first)
    }

    private static func value(_ element: MarkupElement) throws(ModelFailure) -> PropertyListValue {
        let text = element.text.trimmingCharacters(in: .whitespacesAndNewlines)
        switch element.name {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "integer":
            if let integer = integer(text) { return .integer(integer) }
        case "real":
            if let real = real(text) { return .real(real) }
        case "string": return .string(element.text)
        case "data":
            if let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) { return .data(data) }
        case "date":
            if let seconds = date(text) { return .date(seconds) }
        case "array":
            var elements: [PropertyListValue] = []
            for child in element.children { elements.append(try value(child)) }
            return .array(elements)
        case "dict": return try dictionary(element)
        default: throw failure("<\(element.name)> is not known in property lists", at: element)
        }
        throw failure("'\(text.prefix(40))' is no \(element.name)", at: element)
    }

    private static func dictionary(_ element: MarkupElement) throws(ModelFailure) -> PropertyListValue {
        var entries: [String: PropertyListValue] = [:]
        var key: String?
        for child in element.children {
            if let name = key {
                entries[name] = try value(child)
                key = nil
            } else if child.name == "key" {
                key = child.text
            } else {
                throw failure("<\(child.name)> has no key", at: child)
            }
        }
        if let key { throw failure("the key '\(key.prefix(40))' has no value", at: element) }
        if entries.count == 1, case .integer(let number)? = entries["CF$UID"] { return .uid(Int(clamping: number)) }
        return .dictionary(entries)
    }

    /// Parses a decimal number or, with `0x`, a hexadecimal one. Numbers beyond `Int64.max` keep their bits, as in
    /// binary lists.
    private static func integer(_ text: String) -> Int64? {
        if let integer = Int64(text) { return integer }
        if let integer = UInt64(text) { return Int64(bitPattern: integer) }
        let isNegative = text.hasPrefix("-")
        let digits = text.drop { $0 == "-" || $0 == "+" }
        guard digits.lowercased().hasPrefix("0x"), let value = Int64(digits.dropFirst(2), radix: 16) else { return nil }
        return isNegative ? -value : value
    }

    private static func real(_ text: String) -> Double? {
        switch text.lowercased() {
        case "nan": .nan
        case "inf", "+inf", "infinity", "+infinity": .infinity
        case "-inf", "-infinity": -.infinity
        default: Double(text)
        }
    }

    /// Parses `2013-04-05T06:07:08Z` to seconds since 2001.
    private static func date(_ text: String) -> Double? {
        let fields = text.split(omittingEmptySubsequences: false) { "-T:Z".contains($0) }
        guard text.hasSuffix("Z"), fields.count == 7, fields[6].isEmpty else { return nil }
        let numbers = fields.dropLast().compactMap { Int($0) }
        guard numbers.count == 6, numbers.allSatisfy({ (0...9999).contains($0) }) else { return nil }
        var components = DateComponents()
        (components.year, components.month, components.day) = (numbers[0], numbers[1], numbers[2])
        (components.hour, components.minute, components.second) = (numbers[3], numbers[4], numbers[5])
        return calendar.date(from: components)?.timeIntervalSinceReferenceDate
    }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
        return calendar
    }()

    private static func failure(_ message: String, at element: MarkupElement) -> ModelFailure {
        ModelFailure(
            diagnostics: [
                Diagnostic(
                    .error, message, at: element.location,
                    sourceLine: element.source.line(element.location.line))
            ])
    }
}
