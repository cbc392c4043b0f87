import CoreDataPrimitives
import Foundation

/// Compares numbers of three types by value: an integer and a double without rounding, a decimal and a double by the
/// double's shortest decimal form. So 0.1 equals 0.1.
package enum Numbers {
    /// Returns the order: negative, zero or positive; `nil` if one value is not a number. NaN equals itself and sorts
    /// first.
    package static func order(_ a: Value, _ b: Value) -> Int? {
        switch (a, b) {
        case (.integer(let a), .integer(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.double(let a), .double(let b)): order(a, b)
        case (.integer(let a), .double(let b)): order(a, b)
        case (.double(let a), .integer(let b)): -order(b, a)
        case (.decimal(let a), .decimal(let b)): order(a, b)
        case (.decimal(let a), .integer(let b)): order(a, Decimal(b))
        case (.integer(let a), .decimal(let b)): order(Decimal(a), b)
        case (.decimal(let a), .double(let b)): order(a, b)
        case (.double(let a), .decimal(let b)): -order(b, a)
        default: nil
        }
    }

    private static func order(_ a: Double, _ b: Double) -> Int {
        if a < b { return -1 }
        if a > b { return 1 }
        if a == b { return 0 }
        return (a.isNaN ? 0 : 1) - (b.isNaN ? 0 : 1)
    }

    private static func order(_ a: Int64, _ b: Double) -> Int {
        if b.isNaN { return 1 }
        if b >= 0x1p63 { return -1 }
        if b < -0x1p63 { return 1 }
        let whole = b.rounded(.towardZero)
        let integer = Int64(whole)
        if a != integer { return a < integer ? -1 : 1 }
        return b > whole ? -1 : b < whole ? 1 : 0
    }

    private static func order(_ a: Decimal, _ b: Decimal) -> Int {
        if a.isNaN || b.isNaN { return (a.isNaN ? 0 : 1) - (b.isNaN ? 0 : 1) }
        return a < b ? -1 : a > b ? 1 : 0
    }

    private static func order(_ a: Decimal, _ b: Double) -> Int {
        if let exact = decimal(b) { return order(a, exact) }
        return order(double(a), b)
    }

    /// Returns a decimal with the digits that the double prints; `nil` if it is too large or not finite.
    package static func decimal(_ number: Double) -> Decimal? {
        guard number.isFinite else { return nil }
        if let integer = Int64(exactly: number) { return Decimal(integer) }
        guard number.magnitude < 1e120, number.magnitude > 1e-100 else { return nil }
        return Decimal(string: number.description)
    }

    /// Returns the double nearest to a decimal.
    package static func double(_ number: Decimal) -> Double {
        // Foundation's conversion multiplies by powers of ten, and the last bit may be wrong.
        Double(number.description) ?? .nan
    }

    package static func double(_ value: Value) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): double(number)
        default: nil
        }
    }

    package static func isNumber(_ value: Value) -> Bool {
        switch value {
        case .integer, .double, .decimal: true
        default: false
        }
    }
}
