import CSQLite
import CoreDataSQL
import Foundation

/// Decimal arithmetic. SQLite stores decimals as doubles. A double made from a decimal with at most fifteen digits
/// converts back to that decimal, so that 1.1 * 3 is 3.3 as in memory.
extension SQLiteFunctions {
    /// `mantissa / 10^scale`, exactly.
    struct ScaledNumber {
        var mantissa: Int64
        var scale: Int

        static let powers: [Int64] = (0...15).map { (0..<$0).reduce(Int64(1)) { power, _ in power * 10 } }

        init(_ mantissa: Int64, scale: Int = 0) {
            self.mantissa = mantissa
            self.scale = scale
        }

        /// Converts the value; `nil` for a number with more digits.
        init?(_ value: OpaquePointer?) {
            if sqlite3_value_type(value) == SQLITE_INTEGER {
                self.init(sqlite3_value_int64(value))
                return
            }
            let number = sqlite3_value_double(value)
            for scale in 0...9 {
                let power = Double(Self.powers[scale])
                let scaled = (number * power).rounded()
                guard scaled.magnitude < 1e15 else { return nil }
                if scaled / power == number {
                    self.init(Int64(scaled), scale: scale)
                    return
                }
            }
            return nil
        }

        /// Returns the mantissa for the same number with at least that many decimal places.
        func scaled(to wanted: Int) -> Int64? {
            guard scale < wanted else { return mantissa }
            guard wanted < Self.powers.count else { return nil }
            let (result, overflows) = mantissa.multipliedReportingOverflow(by: Self.powers[wanted - scale])
            return overflows ? nil : result
        }

        static func + (a: Self, b: Self) -> Self? { combine(a, b) { $0.addingReportingOverflow($1) } }
        static func - (a: Self, b: Self) -> Self? { combine(a, b) { $0.subtractingReportingOverflow($1) } }

        static func * (a: Self, b: Self) -> Self? {
            let (product, overflows) = a.mantissa.multipliedReportingOverflow(by: b.mantissa)
            guard !overflows, a.scale + b.scale < powers.count else { return nil }
            return Self(product, scale: a.scale + b.scale)
        }

        private static func combine(
            _ a: Self, _ b: Self, _ body: (Int64, Int64) -> (partialValue: Int64, overflow: Bool)
        ) -> Self? {
            let scale = max(a.scale, b.scale)
            guard let first = a.scaled(to: scale), let second = b.scaled(to: scale) else { return nil }
            let (result, overflows) = body(first, second)
            return overflows ? nil : Self(result, scale: scale)
        }

        var decimal: Decimal {
            Decimal(sign: mantissa < 0 ? .minus : .plus, exponent: -scale, significand: Decimal(mantissa.magnitude))
        }
    }

    private typealias Arguments = UnsafeMutablePointer<OpaquePointer?>?

    static let decimals: [(String, Int32, Function)] = [
        (SQLFunction.decimalAdd.rawValue, 2, { context, _, arguments in combine(context, arguments, +, +) }),
        (SQLFunction.decimalSubtract.rawValue, 2, { context, _, arguments in combine(context, arguments, -, -) }),
        (SQLFunction.decimalMultiply.rawValue, 2, { context, _, arguments in combine(context, arguments, *, *) }),
        (
            SQLFunction.decimalDivide.rawValue, 2,
            { context, _, arguments in
                guard sqlite3_value_double(arguments?[1]) != 0 else { return sqlite3_result_null(context) }
                combine(context, arguments, { _, _ in nil }, /)
            }
        ),
    ]

    private static func combine(
        _ context: OpaquePointer?, _ arguments: Arguments, _ quick: (ScaledNumber, ScaledNumber) -> ScaledNumber?,
        _ slow: (Decimal, Decimal) -> Decimal
    ) {
        let (first, second) = (arguments?[0], arguments?[1])
        guard isNumber(first), isNumber(second) else { return sqlite3_result_null(context) }
        if let a = ScaledNumber(first), let b = ScaledNumber(second), let result = quick(a, b) {
            return setResult(result, context)
        }
        guard let a = decimal(first), let b = decimal(second) else { return sqlite3_result_null(context) }
        setResult(slow(a, b), context)
    }

    /// Returns the decimal of the number; `nil` for an infinite one.
    static func decimal(_ value: OpaquePointer?) -> Decimal? {
        if sqlite3_value_type(value) == SQLITE_INTEGER { return Decimal(sqlite3_value_int64(value)) }
        let number = sqlite3_value_double(value)
        return number.isFinite ? Decimal(storedText: number.description) : nil
    }

    /// Sets the result; integers stay integers, as in decimal columns.
    static func setResult(_ number: ScaledNumber, _ context: OpaquePointer?) {
        let (quotient, rest) = number.mantissa.quotientAndRemainder(dividingBy: ScaledNumber.powers[number.scale])
        if rest == 0 { return sqlite3_result_int64(context, quotient) }
        // Both are exact in this range, and their quotient is the nearest double.
        guard number.mantissa.magnitude < 1 << 53 else { return setResult(number.decimal, context) }
        sqlite3_result_double(context, Double(number.mantissa) / Double(ScaledNumber.powers[number.scale]))
    }

    /// Sets the result; NaN and overflow give NULL.
    static func setResult(_ number: Decimal, _ context: OpaquePointer?) {
        guard !number.isNaN else { return sqlite3_result_null(context) }
        let text = number.description
        if let whole = Int64(text) { return sqlite3_result_int64(context, whole) }
        // The last bit of Foundation's conversion may be wrong.
        sqlite3_result_double(context, Double(text) ?? .nan)
    }
}
