import CoreDataPrimitives
import Foundation

// Objects that others have deleted.
extension NSManagedObjectContext {
    /// Marks the known objects as deleted. They keep their values until they leave the context.
    final func mergeDeletions(_ ids: [NSManagedObjectID], _ merged: inout MergedIDs) -> [NSManagedObject] {
        var deleted: [NSManagedObject] = []
        var unsure: Set<ObjectReference> = []
        for id in ids {
            guard let object = registeredObject(for: id), object.isStored else { continue }
            deleted.append(object)
            merged.add(object, NSDeletedObjectIDsKey)
            if !object.flags.contains(.inaccessible) {
                letGoOfChangedReferences(to: object)
                letGoOfMembers(object)
                if !object.hasRow || mayBeMemberUnknowingly(object) { unsure.insert(ObjectReference(object)) }
            }
            object.flags.remove(.updated)
            object.flags.insert(.deleted)
            if !object.flags.contains(.eventDeleted) {
                object.flags.insert(.eventDeleted)
                pendingChanges.event.deleted.append(object)
            }
        }
        if !unsure.isEmpty { letGoOfMembers(unsure) }
        return deleted
    }

    /// Returns whether other objects may have this object as a member, although no relationship that was read says so.
    private func mayBeMemberUnknowingly(_ object: NSManagedObject) -> Bool {
        if coordinator?.runtime.hasOneWayRelationship(to: object.runtime.ordinal) ?? false { return true }
        guard object.home.hasManyToMany else { return false }
        return object.runtime.relationSlots.contains { slot in
            let facts = object.home.facts[slot]
            guard facts.isToMany, facts.isInverseToMany else { return false }
            let members = object.relations.uncountedMembers(Int(facts.relation))?.takeUnretainedValue()
            return !(members?.isKnown ?? false)
        }
    }

    /// Does the work of ``letGoOfMembers(_:)`` for deleted objects that do not know whose members they were: searches
    /// for their owners.
    private func letGoOfMembers(_ deleted: Set<ObjectReference>) {
        for owner in registry.objects where owner.home.hasToMany && !owner.relations.isEmpty && !owner.isDeleted {
            var hasLost = false
            for (relation, slot) in owner.runtime.relationSlots.enumerated() where owner.runtime.slots[slot].isToMany {
                guard let members = owner.relations.uncountedMembers(relation)?.takeUnretainedValue(), members.isKnown,
                    members.members.contains(where: { deleted.contains(ObjectReference($0)) })
                else { continue }
                rebaseMembers(owner, slot: slot, winsOrder: true, prefersMine: true)
                hasLost = true
            }
            if hasLost { pendingChanges.event.refreshed.append(owner) }
        }
    }

    /// To-many relationships that were read have an object no longer that the store has lost.
    private func letGoOfMembers(_ object: NSManagedObject) {
        for slot in object.runtime.relationSlots {
            let info = object.runtime.slots[slot]
            guard let inverse = info.relationship?.inverseSlot, object.relations.isRead(info.relation) || !info.isToMany
            else { continue }
            // An object without a row does not know any more whose member it was.
            if !info.isToMany, !object.hasRow, !object.relations.isRead(info.relation) { continue }
            let owners = info.isToMany ? object.members(slot).members : object.toOne(slot).map { [$0] } ?? []
            for owner in owners where !owner.isFault && owner.runtime.slots[inverse].isToMany {
                let relation = owner.runtime.slots[inverse].relation
                let members = owner.relations.uncountedMembers(relation)?.takeUnretainedValue()
                guard let members, members.isKnown, members.contains(object), !members.hasChanges else { continue }
                owner.relations.forget(relation)
                pendingChanges.event.refreshed.append(owner)
            }
        }
    }

    /// Sets changed references to a deleted object to nil, if the object's delete rules say so.
    private func letGoOfChangedReferences(to object: NSManagedObject) {
        for step in object.home.deleteSteps where step.inverse >= 0 {
            let relation = Int(object.home.facts[step.slot].relation)
            guard object.relations.isRead(relation) else { continue }
            var targets: [NSManagedObject] = []
            switch object.relations[relation] {
            case .toOne(let target?): targets = [target]
            case .toMany(let members): targets = members.added.map(\.object)
            case .toOne(nil), .unread: break
            }
            for target in targets where target.hasChanges && !target.isDeleted && target.isChanged(step.inverse) {
                target.inverseDidLose(object, step.inverse)
                guard target.home.facts[step.inverse].isToMany else { continue }
                target.members(step.inverse).forgetNote(of: object)
            }
        }
    }
}
