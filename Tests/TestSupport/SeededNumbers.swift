/// A small generator of numbers, equal on every machine for equal seeds.
public struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed &* 0xD134_2543_DE82_EF95 }

    public mutating func next() -> UInt64 {
        // SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    public mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
    public mutating func chance(_ oneIn: Int) -> Bool { below(oneIn) == 0 }
    public mutating func pick<T>(_ items: [T]) -> T { items[below(items.count)] }
}
