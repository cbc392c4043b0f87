import CoreDataPrimitives

/// The values that order the members of an ordered to-many: 2048, 3072, 4096 …, as Apple's framework gives them.
///
/// They have gaps, so that a member that comes or moves takes a value between those of its neighbours, and no other row is written.
///
///     MemberPlace.values(for: [2048, nil, 3072])          // [2048, 2560, 3072]
///     MemberPlace.values(for: [2048, nil, 2049, 3072])    // [2048, 2389, 2730, 3072]: no room, so the next one moves, too
package enum MemberPlace {
    package static let beforeFirst: Int64 = 1024
    package static let distance: Int64 = 1024

    /// Where a gap is used up, the values of its neighbourhood are made anew with at least this distance: the next insertions at the same
    /// place find room.
    private static let leastDistance: Int64 = 16

    /// Values in a store beyond this range leave no room for others, and are made anew.
    private static let usable: ClosedRange<Int64> = -(1 << 60)...(1 << 60)

    /// The value of the member at that position of a list in which all have got new ones.
    package static func value(at position: Int) -> Int64 { beforeFirst + distance * Int64(position + 1) }

    /// The value as it is stored, or `nil` for one that others cannot be placed beside.
    package static func usable(_ value: Int64) -> Int64? { usable.contains(value) ? value : nil }

    /// The values for `count` members that come between two neighbours.
    ///
    /// - Parameters:
    ///   - low: The value of the neighbour before them; `nil` where they are the first.
    ///   - high: The value of the neighbour behind them; `nil` where they are the last.
    /// - Returns: `nil` where the neighbours leave no room for as many.
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

    /// The values of a whole list, ascending; `nil` asks for one.
    ///
    /// The longest run of ascending values stays as it is, and the other members take values between them. Where their neighbours leave no
    /// room, values beside them are made anew, too: one of the members behind or before, then one on both sides, then two, four and so on,
    /// until there is room. Values without gaps, such as 1, 2, 3, are made anew once, from there to the end of the list.
    package static func values(for present: [Int64?]) -> [Int64] {
        var values = keepingAscending(present)
        var index = 0
        while index < values.count {
            if values[index] == nil { index = fill(&values, from: index) } else { index += 1 }
        }
        return values.map { $0 ?? 0 }
    }

    /// Gives values to the members from `first` on that ask for one, as far as they stand side by side; returns where it ended.
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
            // At the latest the whole list has room: nothing stands behind it.
            widening = max(1, widening * 2)
        }
    }

    /// The longest ascending run of the values is kept; the others are to be made anew.
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
