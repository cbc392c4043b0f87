import CoreData

/// Links the objects at the two ends of one relationship.
struct TestDataLinker {
    private let relationship: NSRelationshipDescription
    private let inverse: NSRelationshipDescription?
    private let owners: TestDataNumbers
    private let targets: TestDataNumbers
    private let seed: UInt64
    /// The number of members that the user requested for this side, and for the other one.
    private let requestedCount: ClosedRange<Int>?
    private let inverseRequestedCount: ClosedRange<Int>?
    private var numbers: SeededNumbers

    /// Makes a linker; `nil` if no objects have the relationship.
    init?(
        _ relationship: NSRelationshipDescription, kinds: [TestDataPlan.Kind],
        requestedCounts: [ObjectIdentifier: ClosedRange<Int>], seed: UInt64
    ) {
        guard let destination = relationship.destinationEntity else { return nil }
        self.relationship = relationship
        self.seed = seed
        inverse = relationship.inverseRelationship
        owners = TestDataNumbers(relationship.entity, kinds)
        targets = TestDataNumbers(destination, kinds)
        guard owners.count + targets.count > 0 else { return nil }
        requestedCount = requestedCounts[ObjectIdentifier(relationship)]
        inverseRequestedCount = inverse.flatMap { requestedCounts[ObjectIdentifier($0)] }
        numbers = SeededNumbers(seed: seed, [Self.name(relationship), "links"], 0)
    }

    /// - Throws: a ``ToolkitError`` if the counts of objects contradict the relationship's requirements.
    mutating func link() throws -> TestDataPlan.Link {
        if let drawing = try drawing() { return TestDataPlan.Link(relationship: relationship, pairs: .drawn(drawing)) }
        let pairs: [(owner: Int, target: Int)]
        if relationship.isToMany {
            pairs = try manyToMany()
        } else if let inverse, !inverse.isToMany {
            pairs = try oneToOne()
        } else {
            pairs = try manyToOne()
        }
        let found = pairs.map { TestDataPlan.Pair(owner: owners[$0.owner], target: targets[$0.target]) }
        return TestDataPlan.Link(
            relationship: relationship,
            pairs: .listed(found.sorted { ($0.later, $0.owner, $0.target) < ($1.later, $1.owner, $1.target) }))
    }

    /// Returns the rule if each object can find its objects independently: no shared limits, and one end is created
    /// before the other.
    private func drawing() throws -> TestDataPlan.Drawing? {
        func drawing(_ way: TestDataPlan.Drawing.Way, isLaterOwner: Bool = true) -> TestDataPlan.Drawing {
            TestDataPlan.Drawing(
                way: way, later: isLaterOwner ? owners : targets, earlier: isLaterOwner ? targets : owners,
                isLaterOwner: isLaterOwner, name: Self.name(relationship), seed: seed)
        }
        let isBounded = (inverse?.least ?? 0) > 0 || (inverse?.most ?? .max) < .max || inverseRequestedCount != nil
        if relationship.isToMany {
            let least = max(relationship.least, requestedCount?.lowerBound ?? 0)
            let most = min(relationship.most, requestedCount?.upperBound ?? max(3, least))
            // A few of many: drawing the same one twice is rare.
            guard !isBounded, targets.isBefore(owners), least <= most, most <= targets.count / 4 else { return nil }
            return drawing(.some(least: least, most: most))
        }
        if let inverse, !inverse.isToMany {
            try checkOneToOne(inverse)
            let isNeeded = relationship.least > 0 || inverse.least > 0
            if targets.isBefore(owners) { return drawing(.beside(isNeeded: isNeeded)) }
            return owners.isBefore(targets) ? drawing(.beside(isNeeded: isNeeded), isLaterOwner: false) : nil
        }
        guard !isBounded, targets.isBefore(owners) else { return nil }
        return drawing(.one(isNeeded: relationship.least > 0))
    }

    private var isWithin: Bool { relationship.entity === relationship.destinationEntity }

    private static func name(_ relationship: NSRelationshipDescription) -> String {
        "\(relationship.entity.name ?? "").\(relationship.name)"
    }

    private func contradiction(_ relationship: NSRelationshipDescription, _ what: String) -> ToolkitError {
        let destination = relationship.destinationEntity?.name ?? ""
        return ToolkitError(
            "\(Self.name(relationship)) \(what): give another count of \(destination) or of \(relationship.entity.name ?? "")."
        )
    }

    // MARK: Kinds of relationships

    /// Links objects with the same index.
    private mutating func oneToOne() throws -> [(owner: Int, target: Int)] {
        guard let inverse else { return [] }
        if isWithin {
            return stride(from: 0, to: owners.count - 1, by: 2).map { ($0, $0 + 1) }
        }
        try checkOneToOne(inverse)
        let isNeeded = relationship.least > 0 || inverse.least > 0
        return (0..<min(owners.count, targets.count)).filter { _ in isNeeded || numbers.below(5) > 0 }.map { ($0, $0) }
    }

    private func checkOneToOne(_ inverse: NSRelationshipDescription) throws {
        guard !isWithin else { return }
        for (side, own, other) in [(relationship, owners.count, targets.count), (inverse, targets.count, owners.count)]
        where side.least > 0 && own > other {
            throw contradiction(side, "must lead to an object of its own, and \(own) need one of \(other)")
        }
    }

    /// Lets each member choose its owner, as `Item.unit`; the other side has its counts.
    private mutating func manyToOne() throws -> [(owner: Int, target: Int)] {
        let isNeeded = relationship.least > 0
        guard targets.count > 0 else {
            guard !isNeeded || owners.count == 0 else {
                throw contradiction(relationship, "must lead to an object, and there is none")
            }
            return []
        }
        let least = max(inverse?.least ?? 0, inverseRequestedCount?.lowerBound ?? 0)
        let most = min(inverse?.most ?? .max, inverseRequestedCount?.upperBound ?? .max)
        guard least <= owners.count / targets.count else {
            throw contradiction(inverse ?? relationship, "needs \(least) members for each of \(targets.count)")
        }
        guard !isNeeded || most >= (owners.count + targets.count - 1) / targets.count else {
            throw contradiction(
                inverse ?? relationship, "takes \(most) members, and \(owners.count) must belong to \(targets.count)")
        }
        if isWithin, least == 0, inverseRequestedCount == nil { return tree(most) }
        var counts = [Int](repeating: 0, count: targets.count)
        var members = Array(0..<owners.count)
        members.shuffle(using: &numbers)
        var pairs: [(owner: Int, target: Int)] = []
        func add(_ member: Int, _ target: Int) {
            pairs.append((member, target))
            counts[target] += 1
        }
        var rest = members[...]
        for target in 0..<targets.count {
            for _ in 0..<least { if let member = rest.popFirst() { add(member, target) } }
        }
        if inverseRequestedCount != nil {
            for target in 0..<targets.count {
                for _ in 0..<numbers.below(most - least + 1) { if let member = rest.popFirst() { add(member, target) } }
            }
            if !isNeeded { return pairs }
        }
        for member in rest where isNeeded || numbers.below(7) > 0 {
            let start = numbers.below(targets.count)
            guard
                let target = (0..<targets.count).lazy.map({ (start + $0) % counts.count }).first(where: {
                    counts[$0] < most
                })
            else { break }
            add(member, target)
        }
        return pairs
    }

    /// Links within one entity, as `Folder.parent`: each object refers to an earlier one, so that there are no cycles.
    private mutating func tree(_ most: Int) -> [(owner: Int, target: Int)] {
        var counts = [Int](repeating: 0, count: targets.count)
        var pairs: [(owner: Int, target: Int)] = []
        for member in 0..<owners.count {
            let isNeeded = relationship.least > 0
            guard member > 0 || isNeeded, isNeeded || numbers.below(7) > 0 else { continue }
            let start = member == 0 ? 0 : numbers.below(member)
            let target = (0..<max(1, member)).lazy.map { (start + $0) % max(1, member) }.first { counts[$0] < most }
            guard let target else { continue }
            pairs.append((member, target))
            counts[target] += 1
        }
        return pairs
    }

    /// Lets each owner choose several members, without duplicates.
    private mutating func manyToMany() throws -> [(owner: Int, target: Int)] {
        let least = max(relationship.least, requestedCount?.lowerBound ?? 0)
        guard least <= targets.count || owners.count == 0 else {
            throw contradiction(relationship, "needs \(least) members, and there are \(targets.count)")
        }
        let most = min(relationship.most, requestedCount?.upperBound ?? max(3, least), targets.count)
        guard most >= least else {
            throw contradiction(relationship, "takes at most \(most) members, and needs \(least)")
        }
        let inverseMost = min(inverse?.most ?? .max, inverseRequestedCount?.upperBound ?? .max)
        let inverseLeast = max(inverse?.least ?? 0, inverseRequestedCount?.lowerBound ?? 0)
        var counts = [Int](repeating: 0, count: targets.count)
        var members: [Set<Int>] = []
        for _ in 0..<owners.count {
            let count = least + numbers.below(most - least + 1)
            var own: Set<Int> = []
            var attempts = 0
            while own.count < count, attempts < count * 4 + targets.count {
                attempts += 1
                // Choose randomly first, then sequentially.
                let target = attempts <= count * 4 ? numbers.below(targets.count) : attempts - count * 4 - 1
                guard counts[target] < inverseMost, own.insert(target).inserted else { continue }
                counts[target] += 1
            }
            guard own.count >= least else {
                throw contradiction(relationship, "needs \(least) members, and those there are take no more owners")
            }
            members.append(own)
        }
        for target in 0..<targets.count where counts[target] < inverseLeast {
            for owner in 0..<owners.count where counts[target] < inverseLeast {
                guard members[owner].count < relationship.most, members[owner].insert(target).inserted else { continue }
                counts[target] += 1
            }
            guard counts[target] >= inverseLeast else {
                throw contradiction(inverse ?? relationship, "needs \(inverseLeast) members, and there are too few")
            }
        }
        return members.enumerated().flatMap { owner, own in own.sorted().map { (owner, $0) } }
    }
}
