import Foundation

/// The order by which `min` and `max` merge, and by which two values with one stamp are told apart: total, and the same
/// on all devices.
extension SyncValue {
    /// Whether the value comes before another one. No value comes after all others, so that it never wins a minimum.
    package func precedes(_ other: Self) -> Bool {
        switch (self, other) {
        case (.integer(let a), .integer(let b)): a < b
        case (.double(let a), .double(let b)), (.date(let a), .date(let b)): Self.precedes(a, b)
        case (.decimal(let a), .decimal(let b)): Self.precedes(decimal: a, b)
        case (.string(let a), .string(let b)), (.uri(let a), .uri(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
        case (.data(let a), .data(let b)): a.lexicographicallyPrecedes(b)
        case (.uuid(let a), .uuid(let b)), (.reference(let a), .reference(let b)): a < b
        case (.blob(let a, let m), .blob(let b, let n)): a == b ? m < n : a.lexicographicallyPrecedes(b)
        default: rank < other.rank
        }
    }

    /// The one that comes later. A value beats none, and one that is known beats one that is in the store.
    func greater(_ other: Self) -> Self {
        switch (self, other) {
        case (.stored, _), (.null, _): self == .null && other == .stored ? self : other
        case (_, .stored), (_, .null): self
        default: precedes(other) ? other : self
        }
    }

    private var rank: Int {
        switch self {
        case .integer: 0
        case .double: 1
        case .decimal: 2
        case .date: 3
        case .string: 4
        case .uri: 5
        case .uuid: 6
        case .data: 7
        case .reference: 8
        case .blob: 9
        case .stored: 10
        case .null: 11
        }
    }

    private static func precedes(_ a: UInt64, _ b: UInt64) -> Bool { ordered(a) < ordered(b) }

    /// Bits of a double, ordered as IEEE 754 orders all of them.
    private static func ordered(_ bits: UInt64) -> UInt64 { bits >> 63 == 0 ? bits | 1 << 63 : ~bits }

    /// Texts that are no numbers come last, by their bytes.
    private static func precedes(decimal a: String, _ b: String) -> Bool {
        switch (number(a), number(b)) {
        case (let x?, let y?): x == y ? a.utf8.lexicographicallyPrecedes(b.utf8) : x < y
        case (nil, nil): a.utf8.lexicographicallyPrecedes(b.utf8)
        case (let x, _): x != nil
        }
    }

    private static func number(_ text: String) -> Decimal? {
        guard let number = Decimal(string: text), !number.isNaN else { return nil }
        return number
    }
}
