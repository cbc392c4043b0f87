import CoreData
import CoreDataSyncEngine
import Foundation

// Objects that other devices deleted, and those that this device announces again because they cannot be.
extension ApplySession {
    /// Deletes what the plan deletes, but for objects that cannot be deleted here: those exist again on all devices.
    func deleteObjects() throws {
        var isDone = false
        while !isDone {
            isDone = true
            for id in deletedByPlan.sorted() {
                guard let object = objects[id], !object.isDeleted, isForbidden(object, id),
                    let index = plan.index(of: id)
                else { continue }
                deletedByPlan.remove(id)
                try change(index) { planned in
                    announce(&planned)
                    try writeValues(&planned)
                    try writeEdges(&planned)
                }
                isDone = false
            }
        }
        for id in deletedByPlan.sorted() { if let index = plan.index(of: id) { try change(index, delete) } }
    }

    private func delete(_ planned: inout PlannedObject) throws {
        guard let object = objects[planned.id], !object.isDeleted else { return }
        if planned.wasEditedHere { try journalDeletion(planned.id, planned.entity, planned.state, object) }
        if defersDeletions { return }
        intended.deleted.insert(ObjectKey(root: planned.entity.root, key: planned.key))
        noteNullified(object, planned.id)
        // Later values than the deletion count if another device announces the object again.
        planned.state = try whole(planned.state.compacted(planned.entity.deletionRule), of: object, planned.entity)
        context.delete(object)
    }

    /// Whether a delete rule of this object, a member that needs it, or an earlier attempt forbids the deletion.
    private func isForbidden(_ object: NSManagedObject, _ id: GlobalID) -> Bool {
        if findings.kept.contains(id) { return true }
        return object.entity.relationshipsByName.values.contains { relationship in
            forbidsDeletion(relationship) && hasMembers(object, relationship)
        }
    }

    /// References to an object that is deleted become empty on all devices: this is no edit of this one.
    ///
    /// If the device that deleted the object did not know a reference, its removal is sent to the other devices: they
    /// may receive the deletion and the reference in another order.
    private func noteNullified(_ object: NSManagedObject, _ id: GlobalID) {
        for (name, relationship) in object.entity.relationshipsByName {
            guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
                relationship.deleteRule != .cascadeDeleteRule
            else { continue }
            for member in Self.members(object.value(forKey: name)) where !member.objectID.isTemporaryID {
                guard !member.isDeleted, let entity = rules[member.entity.name ?? ""] else { continue }
                intended.insertUpdate(ObjectKey(root: entity.root, key: member.objectID.key), inverse.name)
                if relationship.deleteRule == .noActionDeleteRule { member.setValue(nil, forKey: inverse.name) }
                guard entity[inverse.name]?.isExchanged == true, let memberID = try? identifier(of: member),
                    !deletedByPlan.contains(memberID), let state = presentState(of: memberID),
                    case .last(let stamp, let value)? = state.properties[inverse.name], value != .null
                else { continue }
                repair(inverse.name, of: memberID, state, .null)
                noteEmptied(inverse.name, stamp, target: id, of: memberID, state.entity.name)
            }
        }
    }

    static func members(_ value: Any?) -> [NSManagedObject] {
        switch value {
        case let member as NSManagedObject: [member]
        case let members as NSSet: members.compactMap { $0 as? NSManagedObject }
        case let members as NSOrderedSet: members.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }

    private func hasMembers(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> Bool {
        Self.members(object.value(forKey: relationship.name)).contains { member in
            guard !member.isDeleted, member !== object else { return false }
            return (try? identifier(of: member)).flatMap { $0 }.map { !deletedByPlan.contains($0) } ?? true
        }
    }

    /// Tells the other devices that an object exists which one of them deleted.
    ///
    /// Values from before the deletion get a stamp directly after it: they count again, and every later edit wins
    /// against them.
    func announce(_ planned: inout PlannedObject) {
        guard let object = objects[planned.id], let deleted = planned.state.deleted else { return }
        let restored = Stamp(ticks: deleted.ticks + 1, device: settings.device)
        planned.state.properties = planned.state.properties.mapValues { $0.restored(after: deleted, at: restored) }
        for (edge, state) in planned.state.edges where state.isPresent && (state.added.map { $0 <= deleted } ?? false) {
            planned.state.edges[edge]?.added = restored
            planned.state.edges[edge]?.position = state.position?.restored(after: deleted, at: restored)
            planned.state.edges[edge]?.inversePosition = state.inversePosition?.restored(after: deleted, at: restored)
        }
        planned.state.created = nextStamp()
        guard let state = try? whole(planned.state, of: object, planned.entity) else { return }
        announced.append(state)
        announceReferences(to: object, planned.id)
    }
}
