import CoreDataPrimitives
import Foundation

/// Arithmetic with SQLite's semantics, so that a predicate gives the same result in memory and in a store.
///
/// Integer operations, including division, give integers (7 / 2 is 3), and doubles on overflow. Division by zero and
/// any operation on nil give nil. A decimal with a decimal or an integer gives a decimal, with a double a double. A
/// date counts as its seconds: a date plus a number is a date, the difference of two dates is a number.
enum Arithmetic {
    static func add(_ a: Value, _ b: Value) -> Value {
        switch (a, b) {
        case (.integer(let a), .integer(let b)):
            let (sum, overflows) = a.addingReportingOverflow(b)
            return overflows ? .double(Double(a) + Double(b)) : .integer(sum)
        default: return combine(a, b, +, +)
        }
    }

    static func subtract(_ a: Value, _ b: Value) -> Value {
        switch (a, b) {
        case (.integer(let a), .integer(let b)):
            let (difference, overflows) = a.subtractingReportingOverflow(b)
            return overflows ? .double(Double(a) - Double(b)) : .integer(difference)
        default: return combine(a, b, -, -)
        }
    }

    static func multiply(_ a: Value, _ b: Value) -> Value {
        switch (a, b) {
        case (.integer(let a), .integer(let b)):
            let (product, overflows) = a.multipliedReportingOverflow(by: b)
            return overflows ? .double(Double(a) * Double(b)) : .integer(product)
        default: return combine(a, b, *, *)
        }
    }

    static func divide(_ a: Value, _ b: Value) -> Value {
        if Numbers.double(b) == 0 { return .null }
        switch (a, b) {
        case (.integer(let a), .integer(let b)):
            let (quotient, overflows) = a.dividedReportingOverflow(by: b)
            return overflows ? .double(Double(a) / Double(b)) : .integer(quotient)
        default: return combine(a, b, /, /)
        }
    }

    /// Returns the remainder of the integer parts.
    static func remainder(_ a: Value, _ b: Value) -> Value {
        guard let first = whole(a), let second = whole(b), second != 0 else { return .null }
        let result = second == -1 ? 0 : first % second
        if case .integer = a, case .integer = b { return .integer(result) }
        return .double(Double(result))
    }

    static func power(_ a: Value, _ b: Value) -> Value {
        guard let a = Numbers.double(a), let b = Numbers.double(b) else { return .null }
        return double(pow(a, b))
    }

    /// Returns a double; nil for NaN, as in SQLite.
    static func double(_ number: Double) -> Value { number.isNaN ? .null : .double(number) }

    static func whole(_ value: Value) -> Int64? {
        switch value {
        case .integer(let number): number
        case .double, .decimal: Numbers.double(value).map { Int64(clamping: $0) }
        default: nil
        }
    }

    static func shift(_ number: Int64, left count: Int64) -> Int64 {
        if count >= 64 { return 0 }
        if count <= -64 { return number < 0 ? -1 : 0 }
        return count >= 0 ? number << count : number >> -count
    }

    static func rounded(_ value: Value, _ rule: FloatingPointRoundingRule) -> Value {
        switch value {
        case .double(let number): return .double(number.rounded(rule))
        case .decimal(let number):
            let mode: NSDecimalNumber.RoundingMode =
                switch rule {
                case .up: .up
                case .down: .down
                default: number < 0 ? .up : .down
                }
            var source = number
            var result = Decimal()
            NSDecimalRound(&result, &source, 0, mode)
            return .decimal(result)
        default: return value
        }
    }

    private static func combine(
        _ a: Value, _ b: Value, _ decimals: (Decimal, Decimal) -> Decimal, _ doubles: (Double, Double) -> Double
    ) -> Value {
        switch (a, b) {
        case (.decimal(let a), .decimal(let b)): return decimal(decimals(a, b))
        case (.decimal(let a), .integer(let b)): return decimal(decimals(a, Decimal(b)))
        case (.integer(let a), .decimal(let b)): return decimal(decimals(Decimal(a), b))
        default:
            guard let a = Numbers.double(a), let b = Numbers.double(b) else { return .null }
            return double(doubles(a, b))
        }
    }

    private static func decimal(_ number: Decimal) -> Value { number.isNaN ? .null : .decimal(number) }
}
