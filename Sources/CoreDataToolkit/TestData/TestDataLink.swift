import CoreData

extension TestDataPlan {
    /// A relationship, and which objects it leads to, by number.
    struct Link {
        let relationship: NSRelationshipDescription
        let pairs: Pairs
    }

    enum Pairs {
        /// Sorted by the end that is made later: where the number of members has bounds, or the ends are made in no order.
        case listed([Pair])
        /// Drawn anew for each object, so that a million of them need no memory.
        case drawn(Drawing)
    }

    /// How the later of two ends finds the others.
    struct Drawing {
        enum Way {
            /// As `Item.unit`: one of them, or now and then none.
            case one(isNeeded: Bool)
            /// As `Item.photo`: the one that stands at the same place.
            case beside(isNeeded: Bool)
            /// As `Note.tags`.
            case some(least: Int, most: Int)
        }

        let way: Way
        /// The end that is made later, and the other one.
        let later: TestDataNumbers
        let earlier: TestDataNumbers
        /// Whether the later end has the relationship, and the other one its inverse.
        let isLaterOwner: Bool
        let name: String
        let seed: UInt64

        /// The pairs of the object that stands at that place of the later end.
        func pairs(of index: Int) -> [Pair] {
            var numbers = SeededNumbers(seed: seed, [name, "links"], index)
            var members: [Int] = []
            switch way {
            case .one(let isNeeded): if isNeeded || numbers.below(7) > 0 { members = [numbers.below(earlier.count)] }
            case .beside(let isNeeded): if index < earlier.count, isNeeded || numbers.below(5) > 0 { members = [index] }
            case .some(let least, let most):
                let count = least + numbers.below(most - least + 1)
                var own: Set<Int> = []
                while own.count < count { own.insert(numbers.below(earlier.count)) }
                members = own.sorted()
            }
            return members.map { member in
                let (late, early) = (later[index], earlier[member])
                return isLaterOwner ? Pair(owner: late, target: early) : Pair(owner: early, target: late)
            }
        }
    }

    struct Pair {
        let owner: Int32
        let target: Int32
        var later: Int32 { max(owner, target) }
    }
}

/// The objects of an entity and those below it, counted as one row.
struct TestDataNumbers {
    let ranges: [Range<Int>]
    let count: Int

    init(_ entity: NSEntityDescription, _ kinds: [TestDataPlan.Kind]) {
        ranges = kinds.filter { $0.entity.isKindOf(entity: entity) && !$0.numbers.isEmpty }.map(\.numbers)
        count = ranges.reduce(0) { $0 + $1.count }
    }

    subscript(index: Int) -> Int32 {
        var rest = index
        for range in ranges {
            if rest < range.count { return Int32(range.lowerBound + rest) }
            rest -= range.count
        }
        preconditionFailure("no such object")
    }

    /// Whether all of them are made before any of the others.
    func isBefore(_ other: TestDataNumbers) -> Bool {
        guard let last = ranges.map(\.upperBound).max(), let first = other.ranges.map(\.lowerBound).min() else {
            return false
        }
        return last <= first
    }

    /// The places of those that are among the numbers.
    func places(in numbers: Range<Int>) -> [Range<Int>] {
        var start = 0
        return ranges.compactMap { range in
            defer { start += range.count }
            let common = range.clamped(to: numbers)
            guard !common.isEmpty else { return nil }
            return (start + common.lowerBound - range.lowerBound)..<(start + common.upperBound - range.lowerBound)
        }
    }
}
