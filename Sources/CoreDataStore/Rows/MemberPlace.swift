import CoreDataPrimitives

/// The order values of an ordered to-many's members: 2048, 3072, 4096 …, as in Apple's framework.
///
/// They have gaps, so that a new or moved member gets a value between those of its neighbours, and no other row is
/// written.
///
///     MemberPlace.values(for: [2048, nil, 3072])          // [2048, 2560, 3072]
///     MemberPlace.values(for: [2048, nil, 2049, 3072])    // [2048, 2389, 2730, 3072]: the next value changes too
package enum MemberPlace {
    package static let beforeFirst: Int64 = 1024
    package static let distance: Int64 = 1024

    /// The minimum distance of new values around an exhausted gap, so that further insertions at the same position find
    /// room.
    private static let leastDistance: Int64 = 16

    /// The range of stored values that leave room for others; values outside it are replaced.
    private static let usable: ClosedRange<Int64> = -(1 << 60)...(1 << 60)

    /// Returns the value of the member at a position, if all members get new values.
    package static func value(at position: Int) -> Int64 { beforeFirst + distance * Int64(position + 1) }

    /// Returns the stored value; `nil` if no values can be placed next to it.
    package static func usable(_ value: Int64) -> Int64? { usable.contains(value) ? value : nil }

    /// Returns the values for `count` members between two neighbours.
    ///
    /// - Parameters:
    ///   - low: the value of the neighbour before them; `nil` if they are the first.
    ///   - high: the value of the neighbour after them; `nil` if they are the last.
    /// - Returns: `nil` if there is not enough room between the neighbours.
    package static func values(_ count: Int, after low: Int64?, before high: Int64?) -> [Int64]? {
        values(count, after: low, before: high, leastDistance: 1)
    }

    private static func values(
        _ count: Int, after low: Int64?, before high: Int64?, leastDistance: Int64
    ) -> [Int64]? {
        let low = low ?? beforeFirst
        var step = distance
        if let high {
            step = (high - low) / Int64(count + 1)
            if step < leastDistance { return nil }
        }
        return (0..<count).map { low + step * Int64($0 + 1) }
    }

    /// Returns the values of a whole list, ascending; `nil` requests a value.
    ///
    /// The longest ascending run of values is kept, and the other members get values between them. If there is no room,
    /// adjacent values are replaced too: first one on one side, then one on both sides, then two, four and so on, until
    /// there is room. Values without gaps, such as 1, 2, 3, are replaced once, from there to the end of the list.
    package static func values(for present: [Int64?]) -> [Int64] {
        var values = keepingAscending(present)
        var index = 0
        while index < values.count {
            if values[index] == nil { index = fill(&values, from: index) } else { index += 1 }
        }
        return values.map { $0 ?? 0 }
    }

    /// Assigns values to adjacent members without one, starting at `first`; returns the end.
    private static func fill(_ values: inout [Int64?], from first: Int) -> Int {
        func end(of run: Int) -> Int {
            var end = min(run, values.count)
            while end < values.count, values[end] == nil { end += 1 }
            return end
        }
        let last = end(of: first + 1)
        var widening = 0
        while true {
            for (before, behind) in widening == 0 ? [(0, 0)] : [(0, widening), (widening, 0), (widening, widening)] {
                let range = max(0, first - before)..<end(of: last + behind)
                let made = Self.values(
                    range.count, after: range.lowerBound == 0 ? nil : values[range.lowerBound - 1],
                    before: range.upperBound == values.count ? nil : values[range.upperBound],
                    leastDistance: widening == 0 ? 1 : leastDistance)
                guard let made else { continue }
                for (index, value) in zip(range, made) { values[index] = value }
                return range.upperBound
            }
            // In the worst case the range extends to the end of the list, where there is room.
            widening = max(1, widening * 2)
        }
    }

    /// Keeps the longest ascending run of values; the others are set to nil.
    private static func keepingAscending(_ present: [Int64?]) -> [Int64?] {
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: present.count)
        for (index, value) in present.enumerated() {
            guard let value else { continue }
            var low = 0
            var high = tails.count
            while low < high {
                let middle = (low + high) / 2
                if (present[tails[middle]] ?? 0) < value { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = tails[low - 1] }
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var kept = [Int64?](repeating: nil, count: present.count)
        var next = tails.last ?? -1
        while next >= 0 {
            kept[next] = present[next]
            next = previous[next]
        }
        return kept
    }
}

/// A pair of a many-to-many relationship, from one of its sides.
package struct MemberPair: Hashable, Sendable {
    package var owner: Int64
    package var destination: Int64

    package init(owner: Int64, destination: Int64) {
        self.owner = owner
        self.destination = destination
    }
}
