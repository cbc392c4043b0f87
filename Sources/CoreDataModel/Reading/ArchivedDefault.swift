import CoreDataPrimitives
import Foundation

/// Reads default values from archives.
enum ArchivedDefault {
    /// Returns the value; `nil` for an object whose class is not one of Foundation's value classes.
    static func value(_ value: ArchivedValue) -> Value? {
        if let text = value.text { return .string(text) }
        switch value {
        case .none: return .null
        case .bool(let bool): return .integer(bool ? 1 : 0)
        case .integer(let integer): return .integer(integer)
        case .real(let real): return .double(real)
        case .date(let seconds): return .date(seconds)
        case .data(let data): return .data(data)
        case .text(let text): return .string(text)
        case .object(let object):
            if object.isKind(of: "NSDate") { return object["NS.time"].real.map { .date($0) } }
            if object.isKind(of: "NSData") { return value.data.map { .data($0) } }
            if object.isKind(of: "NSNull") { return .null }
            if let decimal = ArchivedDecimal.decimal(object) { return .decimal(decimal) }
            if object.isKind(of: "NSURL") { return url(object).map { .uri($0) } }
            if object.isKind(of: "NSUUID"), let bytes = object["NS.uuidbytes"].data {
                return bytes.withUnsafeBytes { UUID(bytes: $0) }.map { .uuid($0) }
            }
            return nil
        }
    }

    private static func url(_ object: ArchivedObject) -> String? {
        guard let relative = object["NS.relative"].text else { return nil }
        guard let base = object["NS.base"].object, base != object, let baseText = base["NS.relative"].text else {
            return relative
        }
        return URL(string: relative, relativeTo: URL(string: baseText))?.absoluteString ?? relative
    }
}

/// Reads and writes decimal numbers as `NSDecimalNumber` archives them.
package enum ArchivedDecimal {
    package static func decimal(_ object: ArchivedObject) -> Decimal? {
        guard object.isKind(of: "NSDecimalNumber"), let mantissa = object["NS.mantissa"].data, mantissa.count == 16,
            let exponent = object["NS.exponent"].integer, (-128...127).contains(exponent)
        else { return nil }
        let bytes = Array(mantissa)
        let isBigEndian = object["NS.mantissa.bo"].integer == 2
        let length = min(8, max(0, object["NS.length"].integer ?? 8))
        if length == 0 { return object["NS.negative"].bool ? Decimal.nan : Decimal(0) }
        var result = Decimal(0)
        for position in (0..<length).reversed() {
            let (first, second) = (UInt16(bytes[position * 2]), UInt16(bytes[position * 2 + 1]))
            let word = isBigEndian ? first << 8 | second : second << 8 | first
            result = result * 65536 + Decimal(Int(word))
        }
        let scaled = Decimal(sign: .plus, exponent: exponent, significand: result)
        return object["NS.negative"].bool ? -scaled : scaled
    }
}
