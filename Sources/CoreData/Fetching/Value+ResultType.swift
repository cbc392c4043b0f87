import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension Value {
    /// Returns the value converted to that type: the type that an `NSExpressionDescription` declares decides, whatever
    /// was computed.
    ///
    ///     Value.double(3.5).converted(to: .integer32)     // 3
    ///     Value.integer(7).converted(to: .string)         // "7"
    ///
    /// A value that cannot be converted, such as an ID or a text that is no number, stays unchanged.
    func converted(to type: AttributeType) -> Value {
        switch type.kind {
        case .integer:
            return real.flatMap { number in whole ?? Int64(exactly: number.rounded(.towardZero)) }.map { .integer($0) }
                ?? self
        case .boolean: return real.map { .integer($0 == 0 ? 0 : 1) } ?? self
        case .real: return real.map { .double($0) } ?? self
        case .single: return real.map { .double(Double(Float($0))) } ?? self
        case .decimal: return decimal.map { .decimal($0) } ?? self
        case .date: return real.map { .date($0) } ?? self
        case .text: return text.map { .string($0) } ?? self
        case .link: return text.map { .uri($0) } ?? self
        case .identifier:
            if case .string(let text) = self, let uuid = UUID(uuidString: text) { return .uuid(uuid) }
            return self
        case .reference, .bytes, .object, .composite: return self
        }
    }

    private var whole: Int64? {
        switch self {
        case .integer(let number): number
        case .string(let text): Int64(text)
        default: nil
        }
    }

    private var real: Double? {
        switch self {
        case .date(let seconds): seconds
        case .string(let text): Double(text)
        default: Numbers.double(self)
        }
    }

    private var decimal: Decimal? {
        switch self {
        case .integer(let number): Decimal(number)
        case .decimal(let number): number
        case .string(let text): Double(text).flatMap { _ in Decimal(string: text, locale: nil) }
        // The written digits, not those of the binary number.
        default: real.flatMap { $0.isFinite ? Decimal(string: $0.description, locale: nil) : nil }
        }
    }

    private var text: String? {
        switch self {
        case .integer(let number): String(number)
        case .double(let number): NSNumber(value: number).stringValue
        case .decimal(let number): number.description
        case .string(let text), .uri(let text): text
        case .uuid(let uuid): uuid.uuidString
        case .null, .date, .data, .opaque: nil
        }
    }
}
