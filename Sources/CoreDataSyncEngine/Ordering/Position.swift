/// Positions of the members of an ordered relationship: texts that are compared by their bytes, with room for more
/// between any two.
///
/// A position is a number, followed by deeper numbers where there was no room between two neighbours, then the mark of
/// the device:
///
///     V-------!k3J0aWx9           17 bytes: what most members have
///     V-------V----!k3J0aWx9      5 bytes more after some 20 inserts at one place, enough for 16,000 inserts there
///
/// A device ends each of its positions with its mark, so two devices that insert at one place concurrently make
/// different positions. The mark has 48 bits of the device's ID. `!` comes before all digits, so a position comes
/// before those that go deeper below it.
///
/// Inserts that go on at one place (appending, prepending, before or after one member) cost 5 bytes for each 16,000.
/// Inserts between the two last ones, again and again, cost about a third of a byte each: any scheme that moves no
/// other member needs a bit for each.
package enum Position {
    /// A position between two neighbours; `nil` stands for the start and the end.
    package static func between(_ a: String?, _ b: String?, device: DeviceID) -> String {
        several(1, between: a, b, device: device)[0]
    }

    /// Ascending positions between two neighbours, with equal distances.
    ///
    /// If `a` does not come before `b`, the positions come after `a`. Next to a text that no device made as a position,
    /// the order is not certain; ``assign(_:device:)`` replaces such texts.
    package static func several(
        _ count: Int, between a: String?, _ b: String?, device: DeviceID
    ) -> [String] {
        several(between: a, b, marks: [DeviceID](repeating: device, count: count))
    }

    /// The same with a mark for each position.
    package static func several(between a: String?, _ b: String?, marks: [Identifier128]) -> [String] {
        let count = marks.count
        guard count > 0 else { return [] }
        let (lower, upper) = (a.flatMap(Tokens.init), b.flatMap(Tokens.init))
        let isOrdered = a.map { a in b.map { precedes(a, $0) } ?? true } ?? true
        let gap = Gap(lower, isOrdered ? upper : nil, room: UInt64(count)) ?? Gap(lower, nil, room: UInt64(count))
        guard let gap else { return [] }
        var bytes = gap.prefix
        return zip(gap.values(count), marks).map { value, mark in
            bytes.removeSubrange(gap.prefix.count...)
            Tokens.append(value, depth: gap.depth, to: &bytes)
            bytes.append(Tokens.bang)
            bytes.append(contentsOf: Tokens.mark(mark))
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Whether a position comes before another.
    package static func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

    /// The members that keep their positions, by index: the greatest number of members whose positions ascend.
    ///
    /// - Parameter known: the positions of the members in their new order; `nil` for a member without one.
    package static func kept(_ known: [String?]) -> [Int] {
        // tails[n] is the index of the least position that ends an ascending subsequence of n + 1 members.
        var tails: [Int] = []
        var before = [Int](repeating: -1, count: known.count)
        for (index, position) in known.enumerated() {
            guard let position else { continue }
            var (low, high) = (0, tails.count)
            while low < high {
                let middle = (low + high) / 2
                if let tail = known[tails[middle]], precedes(tail, position) { low = middle + 1 } else { high = middle }
            }
            if low > 0 { before[index] = tails[low - 1] }
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var result: [Int] = []
        var index = tails.last ?? -1
        while index >= 0 {
            result.append(index)
            index = before[index]
        }
        return result.reversed()
    }

    /// New positions for the members that moved or have none, by index; all other members keep theirs.
    ///
    /// - Parameter known: the positions of the members in their new order; `nil` for a member without one.
    package static func assign(_ known: [String?], device: DeviceID) -> [Int: String] {
        let valid = known.map { position in position.flatMap { Tokens($0) == nil ? nil : $0 } }
        var result: [Int: String] = [:]
        var (start, lower) = (0, String?.none)
        for index in kept(valid) + [known.count] {
            let upper = index < known.count ? valid[index] : nil
            for (offset, position) in several(index - start, between: lower, upper, device: device).enumerated() {
                result[start + offset] = position
            }
            (start, lower) = (index + 1, upper)
        }
        return result
    }
}

/// A position in its parts.
struct Tokens {
    enum Token: Equatable {
        case number(UInt64)
        case mark(ArraySlice<UInt8>)
    }

    static let bang = UInt8(ascii: "!")
    private static let markLength = 8
    /// 64 digits in the order of their bytes.
    private static let alphabet = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// The number of digits at a depth.
    static func width(_ depth: Int) -> Int { depth == 0 ? 8 : 5 }
    /// All numbers at a depth are below this one.
    static func limit(_ depth: Int) -> UInt64 { 1 << (6 * UInt64(width(depth))) }
    /// The usual distance of neighbours at a depth.
    static func step(_ depth: Int) -> UInt64 { depth == 0 ? 1 << 20 : 1 << 15 }

    private(set) var tokens: [Token] = []

    /// `nil` for a text that is no position.
    init?(_ position: String) {
        let bytes = Array(position.utf8)
        var start = 0
        while start < bytes.count {
            if bytes[start] == Self.bang {
                guard bytes.count - start > Self.markLength else { return nil }
                if case .mark = tokens.last { return nil }
                let mark = bytes[start + 1...start + Self.markLength]
                guard !tokens.isEmpty, tokens.last != .number(0), mark.allSatisfy({ Self.values[Int($0)] < 64 })
                else { return nil }
                tokens.append(.mark(mark))
                start += Self.markLength + 1
            } else {
                let width = Self.width(tokens.count)
                guard bytes.count - start >= width else { return nil }
                var value: UInt64 = 0
                for digit in bytes[start..<start + width] {
                    guard Self.values[Int(digit)] < 64 else { return nil }
                    value = value << 6 | UInt64(Self.values[Int(digit)])
                }
                tokens.append(.number(value))
                start += width
            }
        }
        guard case .mark = tokens.last else { return nil }
    }

    subscript(_ depth: Int) -> Token? { depth < tokens.count ? tokens[depth] : nil }

    /// Appends the digits of a number.
    static func append(_ value: UInt64, depth: Int, to bytes: inout [UInt8]) {
        var shift = 6 * UInt64(width(depth))
        while shift > 0 {
            shift -= 6
            bytes.append(alphabet[Int(value >> shift & 63)])
        }
    }

    static func mark(_ device: DeviceID) -> [UInt8] {
        // Bits of the whole ID: some IDs begin alike, some end alike.
        var bits = device.high &* 0x9E37_79B9_7F4A_7C15 ^ device.low
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits ^= bits >> 31
        return (0..<UInt64(markLength)).map { alphabet[Int(bits >> (58 - 6 * $0) & 63)] }
    }
}

/// Numbers of one depth that are free between two neighbours: above `lower`, below `upper`.
private struct Gap {
    /// The bytes of the position before this number.
    private(set) var prefix: [UInt8] = []
    private(set) var depth = 0
    private var lower: UInt64 = 0
    private var upper: UInt64 = 0
    /// Whether the bounds are the neighbours' own numbers; else they are those of the depth.
    private var hasLower = false
    private var hasUpper = false

    /// The first depth with room for a number of positions. `nil` if the neighbours leave none.
    init?(_ a: Tokens?, _ b: Tokens?, room: UInt64) {
        // Whether the prefix so far is that of the neighbour.
        var (followsA, followsB) = (a != nil, b != nil)
        while true {
            let low = followsA ? a?[depth] : nil
            let high = followsB ? b?[depth] : nil
            let limit = Tokens.limit(depth)
            (lower, upper, hasLower, hasUpper) = (0, limit, false, false)
            // 0 stays free: it leads below the least number.
            if case .number(let number) = low { (lower, hasLower) = (number, true) }
            if case .number(let number) = high { (upper, hasUpper) = (number, true) }
            if let low, low == high {
                append(low)
                continue
            }
            if case .mark = high {
                // Two devices made positions with one number; the place between them is below the first one.
                guard case .mark = low, let low else { return nil }
                append(low)
                followsB = false
                continue
            }
            if upper > lower, upper - lower > room { return }
            if hasLower, let low {
                guard upper > lower else { return nil }
                append(low)
                followsB = false
            } else {
                // Below the upper neighbour: its own number if that is 0.
                append(.number(0))
                followsA = false
                followsB = followsB && upper == 0
            }
            guard depth < 1_000_000 else { return nil }
        }
    }

    private mutating func append(_ token: Tokens.Token) {
        switch token {
        case .number(let value): Tokens.append(value, depth: depth, to: &prefix)
        case .mark(let mark): prefix += [Tokens.bang] + mark
        }
        depth += 1
    }

    /// Ascending numbers in the gap.
    ///
    /// Next to one neighbour at this depth they keep the usual distance from it, because the next ones will probably go
    /// to the same side.
    func values(_ count: Int) -> [UInt64] {
        let count = UInt64(count)
        let free = upper - lower - 1
        let even = max(1, hasLower && hasUpper ? (upper - lower) / (count + 1) : free / (count + 1))
        let step = hasLower && hasUpper ? even : min(even, Tokens.step(depth))
        let first =
            switch (hasLower, hasUpper) {
            case (true, _): lower + step
            case (false, true): upper - step * count
            case (false, false): lower + 1 + (free - 1 - (count - 1) * step) / 2
            }
        return (0..<count).map { first + $0 * step }
    }
}
