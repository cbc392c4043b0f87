/// Random numbers from a seed: the same on every machine and in every run.
package struct SimulationNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes the numbers for one purpose, independent of the numbers for others.
    package init(seed: UInt64, _ words: String...) {
        // FNV-1a, because Swift's own hashes differ between runs.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ seed
        for word in words {
            for byte in word.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            hash = hash &* 0x100_0000_01B3
        }
        state = hash
    }

    package mutating func next() -> UInt64 {
        // SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `limit` - 1.
    package mutating func below(_ limit: Int) -> Int { limit <= 1 ? 0 : Int(next() % UInt64(limit)) }

    /// Whether something happens that happens once in so many times; never for 0.
    package mutating func chance(_ oneIn: Int) -> Bool { oneIn > 0 && below(oneIn) == 0 }

    package mutating func pick<Element>(_ items: [Element]) -> Element { items[below(items.count)] }
}
