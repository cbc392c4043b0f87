import CoreData

extension TestDataPlan {
    /// A relationship and its pairs of objects, by number.
    struct Link {
        let relationship: NSRelationshipDescription
        let pairs: Pairs
    }

    enum Pairs {
        /// A list of pairs, sorted by the end that is created later: for limited numbers of members, or ends without an
        /// order of creation.
        case listed([Pair])
        /// Computed on demand for each object, so that a million of them need no memory.
        case drawn(Drawing)
    }

    /// The rule by which the later end finds its objects.
    struct Drawing {
        enum Way {
            /// Like `Item.unit`: one object, or sometimes none.
            case one(isNeeded: Bool)
            /// Like `Item.photo`: the object with the same index.
            case beside(isNeeded: Bool)
            /// Like `Note.tags`: several objects.
            case some(least: Int, most: Int)
        }

        let way: Way
        /// The end that is created later, and the other one.
        let later: TestDataNumbers
        let earlier: TestDataNumbers
        /// Whether the later end has the relationship, and the other one its inverse.
        let isLaterOwner: Bool
        let name: String
        let seed: UInt64

        /// Returns the pairs of the object with that index at the later end.
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

/// The objects of an entity and its subentities, numbered consecutively.
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

    /// Returns whether all of them are created before any of the others.
    func isBefore(_ other: TestDataNumbers) -> Bool {
        guard let last = ranges.map(\.upperBound).max(), let first = other.ranges.map(\.lowerBound).min() else {
            return false
        }
        return last <= first
    }

    /// Returns the indexes of the objects that are among the numbers.
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
