import CSQLite
import CoreDataSQL
import Foundation

/// Arithmetic of decimals. SQLite keeps them as doubles; a double that was a decimal of fifteen digits or less is that decimal
/// again, so that 1.1 * 3 is 3.3 as in memory.
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

        /// `nil` for a number of more digits.
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

        /// The same number with at least that many digits behind the point.
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
            return give(result, context)
        }
        guard let a = decimal(first), let b = decimal(second) else { return sqlite3_result_null(context) }
        give(slow(a, b), context)
    }

    /// The decimal that the number stands for; `nil` for one that is infinite.
    static func decimal(_ value: OpaquePointer?) -> Decimal? {
        if sqlite3_value_type(value) == SQLITE_INTEGER { return Decimal(sqlite3_value_int64(value)) }
        let number = sqlite3_value_double(value)
        return number.isFinite ? Decimal(storedText: number.description) : nil
    }

    /// Whole numbers are integers, as they are in columns of decimals.
    static func give(_ number: ScaledNumber, _ context: OpaquePointer?) {
        let (quotient, rest) = number.mantissa.quotientAndRemainder(dividingBy: ScaledNumber.powers[number.scale])
        if rest == 0 { return sqlite3_result_int64(context, quotient) }
        // Both are exact then, and their quotient is the double that is nearest.
        guard number.mantissa.magnitude < 1 << 53 else { return give(number.decimal, context) }
        sqlite3_result_double(context, Double(number.mantissa) / Double(ScaledNumber.powers[number.scale]))
    }

    /// What is no number, an overflow, is NULL.
    static func give(_ number: Decimal, _ context: OpaquePointer?) {
        guard !number.isNaN else { return sqlite3_result_null(context) }
        let text = number.description
        if let whole = Int64(text) { return sqlite3_result_int64(context, whole) }
        // Foundation's own conversion may be off by a bit.
        sqlite3_result_double(context, Double(text) ?? .nan)
    }
}
