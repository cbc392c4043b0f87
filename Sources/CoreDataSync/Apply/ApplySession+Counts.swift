import CoreData
import CoreDataSyncEngine
import Foundation

// Relationships with a minimum or maximum count: each device adds or removes a member, and together they are too many
// or too few.
//
// All devices keep the same members: those that came first, and those that left last. A repair is sent to the
// other devices with a stamp directly after the one that it replaces.
extension ApplySession {
    func enforceCounts() throws {
        guard !findings.counted.isEmpty else { return }
        context.processPendingChanges()
        for list in findings.counted.sorted(by: { ($0.owner, $0.relationship) < ($1.owner, $1.relationship) }) {
            guard let owner = objects[representative(of: list.owner)], !owner.isDeleted,
                let relationship = owner.entity.relationshipsByName[list.relationship]
            else { continue }
            let members = Self.members(owner.value(forKey: list.relationship)).filter { !$0.isDeleted }
            let least = max(relationship.minCount, relationship.isOptional ? 0 : 1)
            if relationship.maxCount > 0, members.count > relationship.maxCount {
                try removeLatest(members.count - relationship.maxCount, of: members, owner, relationship)
            } else if members.count < least {
                try restore(least - members.count, besides: members, owner, relationship)
            }
        }
    }

    /// How a member belongs to its owner: by its reference, or by a pair of one of both.
    private enum Link {
        case reference(GlobalID, String)
        case pair(GlobalID, ObjectState.Edge)
    }

    private func link(
        _ member: NSManagedObject, _ owner: NSManagedObject, _ relationship: NSRelationshipDescription
    ) throws -> (id: GlobalID, owner: GlobalID, link: Link, left: Stamp?, came: Stamp)? {
        guard let id = try identifier(of: member), let ownerID = try identifier(of: owner),
            let state = presentState(of: id), let ownerState = presentState(of: ownerID)
        else { return nil }
        if case .pairs? = rules[owner.entity.name ?? ""]?[relationship.name]?.kind {
            let edge = ObjectState.Edge(relationship.name, id)
            return ownerState.edges[edge].flatMap { pair in
                pair.added.map { (id, ownerID, .pair(ownerID, edge), pair.removed, $0) }
            }
        }
        guard let inverse = relationship.inverseRelationship?.name,
            let kind = rules[member.entity.name ?? ""]?[inverse]?.kind
        else { return nil }
        switch kind {
        case .toOne:
            return state.properties[inverse].map { (id, ownerID, .reference(id, inverse), $0.stamp, $0.stamp) }
        case .pairs:
            let edge = ObjectState.Edge(inverse, ownerID)
            return state.edges[edge].flatMap { pair in
                pair.added.map { (id, ownerID, .pair(id, edge), pair.removed, $0) }
            }
        default: return nil
        }
    }

    // MARK: Too many

    private func removeLatest(
        _ count: Int, of members: [NSManagedObject], _ owner: NSManagedObject, _ relationship: NSRelationshipDescription
    ) throws {
        let links = try members.compactMap { member in
            try link(member, owner, relationship).map { (member: member, found: $0) }
        }.sorted { ($0.found.came, $0.found.id) < ($1.found.came, $1.found.id) }
        for (member, found) in links.suffix(count) {
            switch found.link {
            case .reference(let id, let name):
                guard relationship.inverseRelationship?.isOptional != false else {
                    throw ApplyRetry.found(
                        ApplyFindings(refused: [id: "\(ApplyPlanner.Reason.refused): its owner has too many members"]))
                }
                guard let state = presentState(of: id) else { continue }
                repair(name, of: id, state, .null)
                member.setValue(nil, forKey: name)
                noteIntended(member, name)
                noteRemoved(found.came, name, of: id, state.entity.name, .reference(found.owner))
            case .pair(let source, let edge):
                changePair(edge, of: source) { pair in pair.removed = pair.added.map { next($0) } }
                setMember(member, of: owner, relationship.name, isOrdered: relationship.isOrdered, isMember: false)
                let entity = presentState(of: source)?.entity.name ?? ""
                noteRemoved(found.came, edge.relationship, of: source, entity, .reference(edge.destination))
            }
        }
    }

    private func noteRemoved(
        _ stamp: Stamp, _ name: String, of id: GlobalID, _ entity: String, _ value: SyncValue
    ) {
        conflicts.append(
            SidecarConflict(
                serial: UUID(), object: id, entityName: entity, property: name,
                losing: .init(stamp: stamp, value: value), winning: .init(stamp: next(stamp), value: .null),
                date: applier.now, reason: SyncConflict.Reason.edited.rawValue))
    }

    // MARK: Too few

    private func restore(
        _ count: Int, besides members: [NSManagedObject], _ owner: NSManagedObject,
        _ relationship: NSRelationshipDescription
    ) throws {
        let former = Self.members(owner.committedValues(forKeys: [relationship.name])[relationship.name])
        let links = try former.filter { !members.contains($0) }.compactMap { member in
            try link(member, owner, relationship).map { (member: member, found: $0) }
        }.sorted { ($0.found.left ?? $0.found.came, $0.found.id) > ($1.found.left ?? $1.found.came, $1.found.id) }
        for (member, found) in links.prefix(count) {
            if member.isDeleted {
                guard deletedByPlan.contains(found.id) else { continue }
                throw ApplyRetry.found(ApplyFindings(kept: [found.id]))
            }
            switch found.link {
            case .reference(let id, let name):
                guard let state = presentState(of: id) else { continue }
                repair(name, of: id, state, .reference(found.owner))
                member.setValue(owner, forKey: name)
                noteIntended(member, name)
            case .pair(let source, let edge):
                changePair(edge, of: source) { pair in pair.added = pair.removed.map { next($0) } ?? pair.added }
                setMember(member, of: owner, relationship.name, isOrdered: relationship.isOrdered, isMember: true)
            }
        }
    }

    // MARK: Parts

    private func noteIntended(_ object: NSManagedObject, _ name: String) {
        guard let root = rules[object.entity.name ?? ""]?.root, !object.objectID.isTemporaryID else { return }
        intended.insertUpdate(ObjectKey(root: root, key: object.objectID.key), name)
    }
}
