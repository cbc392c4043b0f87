import CoreData
import CoreDataSyncEngine
import Foundation

// The order of ordered relationships: members go by their positions, on all devices alike.
extension ApplySession {
    func makeOrders() throws {
        guard !unordered.isEmpty else { return }
        try loadMembers()
        for list in unordered where !list.owner.isDeleted {
            guard let relationship = list.owner.entity.relationshipsByName[list.relationship], relationship.isOrdered,
                let members = list.owner.value(forKey: list.relationship) as? NSOrderedSet, members.count > 1
            else { continue }
            let objects = members.compactMap { $0 as? NSManagedObject }.filter { !$0.isDeleted }
            let placed = try objects.map { member in
                (member, try position(of: member, in: list.owner, relationship), try identifier(of: member))
            }
            // Members without a position come last, in the order that they have.
            let sorted = placed.enumerated().sorted { a, b in
                switch (a.element.1, b.element.1) {
                case (let x?, let y?) where x != y: return Position.precedes(x, y)
                case (_?, nil): return true
                case (nil, _?): return false
                case (nil, nil): return a.offset < b.offset
                default: return (a.element.2 ?? Self.last) < (b.element.2 ?? Self.last)
                }
            }.map(\.element.0)
            if !zip(sorted, objects).allSatisfy({ $0 === $1 }) {
                list.owner.setValue(NSOrderedSet(array: sorted), forKey: list.relationship)
            }
        }
    }

    private static let last = GlobalID(high: .max, low: .max)

    /// Loads the entries of all members at once.
    private func loadMembers() throws {
        var keys: [String: Set<Int64>] = [:]
        for list in unordered {
            guard let members = list.owner.value(forKey: list.relationship) as? NSOrderedSet else { continue }
            for case let member as NSManagedObject in members where !member.objectID.isTemporaryID {
                guard let root = rules[member.entity.name ?? ""]?.root,
                    identifiers[ObjectKey(root: root, key: member.objectID.key)] == nil
                else { continue }
                keys[root, default: []].insert(member.objectID.key)
            }
        }
        for (root, keys) in keys { for entry in try sidecar.entries(root: root, keys: Array(keys)) { remember(entry) } }
    }

    private func position(
        of member: NSManagedObject, in owner: NSManagedObject, _ relationship: NSRelationshipDescription
    ) throws -> String? {
        guard let memberID = try identifier(of: member), let ownerID = try identifier(of: owner) else { return nil }
        // In a one-to-many the position is a property of the member.
        if let entity = rules[member.entity.name ?? ""],
            let ordering = entity.values.first(where: { property in
                if case .ordering(_, let name, let toOne) = property.kind {
                    name == relationship.name && toOne == relationship.inverseRelationship?.name
                } else {
                    false
                }
            })
        {
            return Self.text(presentState(of: memberID)?.properties[ordering.name])
        }
        // In a many-to-many it belongs to the pair, which the object on one of both sides has.
        if let owned = pair(relationship.name, memberID, of: ownerID) { return Self.text(owned.position) }
        guard let inverse = relationship.inverseRelationship?.name else { return nil }
        return Self.text(pair(inverse, ownerID, of: memberID)?.inversePosition)
    }

    /// The pair of two objects, by any ID of the destination.
    private func pair(_ relationship: String, _ destination: GlobalID, of source: GlobalID) -> EdgeState? {
        guard let edges = presentState(of: source)?.edges else { return nil }
        let found = edges[ObjectState.Edge(relationship, destination)]
        guard found?.isPresent != true, let aliases = presentState(of: destination)?.aliases, !aliases.isEmpty else {
            return found
        }
        return aliases.sorted().lazy.compactMap { edges[ObjectState.Edge(relationship, $0)] }.first(where: \.isPresent)
            ?? found
    }

    private static func text(_ state: PropertyState?) -> String? {
        if case .last(_, .string(let text))? = state { text } else { nil }
    }
}
