/// Random numbers from a seed: the same on every machine and in every run.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// Makes the numbers for one value, independent of values made before.
    init(seed: UInt64, _ words: [String], _ number: Int) {
        // FNV-1a, because Swift's own hashes differ between runs.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ seed
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for word in words {
            for byte in word.utf8 { add(byte) }
            add(0)
        }
        for shift in stride(from: 0, to: 64, by: 8) { add(UInt8(truncatingIfNeeded: number >> shift)) }
        state = hash
    }

    mutating func next() -> UInt64 {
        state = state &+ 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `count` - 1.
    mutating func below(_ count: Int) -> Int { count <= 1 ? 0 : Int(next() % UInt64(count)) }

    /// Returns a number from 0 to below 1.
    mutating func fraction() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

    mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }
}
