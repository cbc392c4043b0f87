import RawSQLite

/// The values of one item as Swift holds them.
package struct ItemValues {
    package let name: String
    package let quantity: Double
    package let collected: Bool
    package let listed: Bool
    package let home: Int
    package let shop: Int
    package let unit: Int
}

/// What every side works with: the same items, the same order.
package enum Samples {
    /// The items with keys from `first` on, of a store that is made for `rows` items.
    package static func rawItems(from first: Int, count: Int, rows: Int) -> [raw_item] {
        (0..<count).map { raw_make_item(Int64(first + $0), Int64(rows)) }
    }

    package static func items(from first: Int, count: Int, rows: Int) -> [ItemValues] {
        rawItems(from: first, count: count, rows: rows).map { item in
            let name = withUnsafeBytes(of: item.name) { bytes in
                String(decoding: bytes.prefix(Int(item.name_length)), as: UTF8.self)
            }
            return ItemValues(
                name: name, quantity: item.quantity, collected: item.collected != 0, listed: item.listed != 0,
                home: Int(item.home), shop: Int(item.shop), unit: Int(item.unit))
        }
    }

    /// 0 ..< count in a random order that is the same each time.
    package static func shuffledPositions(_ count: Int) -> [Int] {
        var generator = SeededGenerator(state: 20_011_231)
        return (0..<count).shuffled(using: &generator)
    }
}

/// SplitMix64: the same numbers in every run.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
