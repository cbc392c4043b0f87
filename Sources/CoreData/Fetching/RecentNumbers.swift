import Foundation

/// The most recent numbers of a column, so that a number that occurs again is not created again.
struct RecentNumbers {
    private static let count = 512
    private var numbers = [NSNumber?](repeating: nil, count: count)
    private var bits = [UInt64](repeating: 0, count: count)

    mutating func number(_ value: Double, isFloat: Bool) -> NSNumber {
        let pattern = value.bitPattern
        let index = Int(truncatingIfNeeded: (pattern &* 0x9E37_79B9_7F4A_7C15) >> 55)
        if bits[index] == pattern, let known = numbers[index] { return known }
        let made = isFloat ? NSNumber(value: Float(value)) : NSNumber(value: value)
        bits[index] = pattern
        numbers[index] = made
        return made
    }
}
