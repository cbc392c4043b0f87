import Foundation

extension Decimal {
    /// Parses a number that a column stores as text: `9.5`, `-0.07`, `3.40282366920938e+165`.
    ///
    /// SQLite writes a large number with an exponent that `Decimal` accepts only after the zeros are written out.
    package init?(storedText text: String) {
        if let value = Decimal(string: text, locale: nil) {
            self = value
            return
        }
        let parts = text.lowercased().split(separator: "e", omittingEmptySubsequences: false)
        guard parts.count == 2, let exponent = Int(parts[1]) else { return nil }
        let fraction = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        guard fraction.count <= 2, let whole = fraction.first else { return nil }
        let decimals = fraction.count == 2 ? fraction[1] : ""
        let zeros = exponent - decimals.count - Self.largestExponent
        guard zeros > 0, zeros <= Self.mostDigits else { return nil }
        let digits = String(whole) + decimals + String(repeating: "0", count: zeros)
        guard let value = Decimal(string: "\(digits)e\(Self.largestExponent)", locale: nil), value.isFinite else {
            return nil
        }
        self = value
    }

    private static let largestExponent = 127
    private static let mostDigits = 38
}
