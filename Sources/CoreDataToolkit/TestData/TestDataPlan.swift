import CoreData

/// The objects to create, their order and their links; the seed determines everything.
struct TestDataPlan {
    /// The objects of one entity, and their numbers among all objects.
    struct Kind {
        let entity: NSEntityDescription
        let numbers: Range<Int>
    }

    let kinds: [Kind]
    let links: [Link]
    let count: Int
    let seed: UInt64
    /// Whether entities require each other, so that everything must be saved at once.
    let needsOneSave: Bool

    init(
        _ model: NSManagedObjectModel, _ counts: [String: Int], _ ranges: [String: ClosedRange<Int>], seed: UInt64
    ) throws {
        self.seed = seed
        var wanted: [String: Int] = [:]
        for (name, count) in counts {
            let entity = try model.entity(called: name)
            guard !entity.isAbstract else {
                let below = entity.subentities.compactMap(\.name).sorted().joined(separator: ", ")
                throw ToolkitError("\(name) is abstract: give counts of \(below.isEmpty ? "others" : below).")
            }
            guard (0...50_000_000).contains(count) else {
                throw ToolkitError("\(name): \(count) objects cannot be made; give a number from 0 to 50,000,000.")
            }
            wanted[entity.name ?? "", default: 0] += count
        }
        let (order, hasCircle) = Self.order(model.entities.filter { wanted[$0.name ?? "", default: 0] > 0 })
        needsOneSave = hasCircle
        var kinds: [Kind] = []
        var next = 0
        for entity in order {
            let count = wanted[entity.name ?? ""] ?? 0
            kinds.append(Kind(entity: entity, numbers: next..<(next + count)))
            next += count
        }
        self.kinds = kinds
        count = next
        let requestedCounts = try RequestedCounts(ranges, in: model)
        links = try Self.relationships(of: model).compactMap { relationship in
            var linker = TestDataLinker(relationship, kinds: kinds, requestedCounts: requestedCounts.counts, seed: seed)
            return try linker?.link()
        }
    }

    /// Returns each relationship from the side that sets it: a to-one if there is one, else the first by name.
    private static func relationships(of model: NSManagedObjectModel) -> [NSRelationshipDescription] {
        var result: [NSRelationshipDescription] = []
        for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name })
            where relationship.entity === entity && !relationship.isTransient {
                guard let inverse = relationship.inverseRelationship else {
                    result.append(relationship)
                    continue
                }
                let own = (relationship.isToMany ? 1 : 0, entity.name ?? "", relationship.name)
                let other = (inverse.isToMany ? 1 : 0, inverse.entity.name ?? "", inverse.name)
                if own <= other { result.append(relationship) }
            }
        }
        return result
    }

    /// Sorts entities after those that they require, otherwise by name.
    private static func order(_ entities: [NSEntityDescription]) -> ([NSEntityDescription], hasCircle: Bool) {
        let sorted = EntityOrder.byDependency(entities)
        var result: [NSEntityDescription] = []
        var (entered, done): (Set<String>, Set<String>) = ([], [])
        var hasCircle = false
        func visit(_ entity: NSEntityDescription) {
            let name = entity.name ?? ""
            guard !done.contains(name) else { return }
            guard entered.insert(name).inserted else {
                hasCircle = true
                return
            }
            for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name })
            where !relationship.isTransient && relationship.needsMembers {
                guard let destination = relationship.destinationEntity else { continue }
                for candidate in sorted where candidate.isKindOf(entity: destination) {
                    if candidate === entity { hasCircle = true } else { visit(candidate) }
                }
            }
            done.insert(name)
            result.append(entity)
        }
        for entity in sorted { visit(entity) }
        return (result, hasCircle)
    }

    /// The numbers of members that the user requested, by the model's relationships.
    private struct RequestedCounts {
        var counts: [ObjectIdentifier: ClosedRange<Int>] = [:]

        init(_ ranges: [String: ClosedRange<Int>], in model: NSManagedObjectModel) throws {
            for (key, range) in ranges {
                let parts = key.split(separator: ".", maxSplits: 1).map(String.init)
                guard parts.count == 2, range.lowerBound >= 0 else {
                    throw ToolkitError("'\(key)' is no Entity.relationship, such as Unit.items, with counts from 0.")
                }
                let entity = try model.entity(called: parts[0])
                guard let relationship = entity.relationshipsByName[parts[1]], relationship.isToMany else {
                    let names = entity.relationshipsByName.values.filter(\.isToMany).map(\.name)
                    throw ToolkitError(
                        "\(parts[0]) has no to-many relationship '\(parts[1])'\(Suggestion.text(for: parts[1], among: names))"
                    )
                }
                var owner = relationship
                // Use the relationship of the declaring entity.
                while let above = owner.entity.superentity?.relationshipsByName[owner.name] { owner = above }
                counts[ObjectIdentifier(owner)] = range
            }
        }
    }
}

extension NSRelationshipDescription {
    /// Whether an object cannot be saved without members.
    var needsMembers: Bool { !isOptional || (isToMany && minCount > 0) }

    /// The minimum number of members.
    var least: Int { isOptional ? (isToMany ? minCount : 0) : max(1, minCount) }

    /// The maximum number of members.
    var most: Int { isToMany ? (maxCount > 0 ? maxCount : .max) : 1 }
}
