/// A time in microseconds, as some databases store it: the nearest one to a number of seconds since 2001.
///
///     Microseconds(0.1234567)?.seconds      // 0.123457
///
/// The conversion is stable: seconds that were rounded once do not change when they are rounded again.
package struct Microseconds: Hashable, Sendable {
    /// Microseconds since 2001-01-01 00:00:00 UTC.
    package let count: Int64

    package init(count: Int64) { self.count = count }

    package init(since1970 count: Int64) { self.count = count - 978_307_200_000_000 }

    /// Converts seconds; `nil` for values outside 4713 BC to 294276 AD, and for values that are not finite.
    package init?(_ seconds: Double) {
        let whole = seconds.rounded(.down)
        guard whole > -2.119e11, whole < 9.22334e12 else { return nil }
        let count = Int64(whole) * 1_000_000 + Int64(((seconds - whole) * 1_000_000).rounded())
        guard count >= Self.first, count <= Self.last else { return nil }
        self.count = count
    }

    /// The first and the last time of a TIMESTAMP.
    private static let first: Int64 = -211_845_110_400_000_000
    private static let last: Int64 = 9_223_339_708_799_999_999

    /// The nearest number of seconds. Whole seconds and the fraction are converted separately, since not every count
    /// fits into a double.
    package var seconds: Double {
        let (whole, rest) = count.quotientAndRemainder(dividingBy: 1_000_000)
        return Double(whole) + Double(rest) / 1_000_000
    }

    /// Returns the seconds rounded to microseconds; values out of range are unchanged.
    package static func rounded(_ seconds: Double) -> Double { Microseconds(seconds)?.seconds ?? seconds }
}
