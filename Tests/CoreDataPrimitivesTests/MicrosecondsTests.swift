import CoreDataPrimitives
import TestSupport
import Testing

/// Dates of databases that count microseconds.
@Suite struct MicrosecondsTests {
    @Test(
        arguments: [
            (0, 0), (0.5, 0.5), (1e-9, 0), (0.1234567, 0.123457), (-0.1234567, -0.123457), (-978_307_200, -978_307_200),
            (737_057_646.843063, 737_057_646.843063), (63_113_904_000, 63_113_904_000),
            (-63_114_076_800, -63_114_076_800),
        ] as [(Double, Double)])
    func theNearestIsKept(_ seconds: Double, _ expected: Double) {
        #expect(Microseconds.rounded(seconds) == expected)
    }

    @Test func whatWasRoundedStaysSo() {
        var numbers = SeededNumbers(seed: 1)
        for _ in 0..<20_000 {
            let magnitude = Double(numbers.below(1 << 40)) * numbers.pick([1e-6, 1e-4, 1e-3, 1, 8])
            let seconds = numbers.chance(2) ? magnitude : -magnitude * 0.02
            let once = Microseconds.rounded(seconds)
            #expect(abs(once - seconds) <= 0.5e-6 + seconds.ulp)
            #expect(Microseconds.rounded(once) == once && Microseconds(once) == Microseconds(seconds))
            // Beyond the year 2273 doubles are further apart than microseconds.
            if abs(seconds) > 8_589_934_592 { #expect(once == seconds) }
        }
    }

    @Test func thereIsAFirstAndALastOne() {
        #expect(Microseconds(-211_845_110_400) != nil && Microseconds(-211_845_110_401) == nil)
        #expect(Microseconds(9_223_339_708_799) != nil && Microseconds(9_223_339_708_800) == nil)
        for none in [Double.infinity, -.infinity, .nan, 4e15, -4e15] {
            #expect(Microseconds(none) == nil)
            #expect(Microseconds.rounded(none) == none || none.isNaN)
        }
    }
}
