import CoreDataPrimitives
import Foundation

// Deletions that are taken back.
extension RowConflictResolution {
    /// Restores the object, and undoes the effects of its deletion on other objects.
    func undelete(_ object: NSManagedObject, _ theirs: RowSnapshot) {
        returnObject(object)
        object.row = theirs
        var next = [object]
        while let returned = next.popLast() {
            next += returnOwners(of: returned)
            for step in returned.home.deleteSteps {
                // Also objects that the deletion changed and whose rows still refer to this one.
                let targets =
                    step.isToMany
                    ? context.storedMembers(of: returned, slot: step.slot) ?? []
                    : returned.toOne(step.slot).map { [$0] } ?? []
                for target in targets {
                    if step.cascades, target.isDeleted {
                        returnObject(target)
                        next.append(target)
                    } else if step.inverse >= 0 {
                        restoreReference(of: target, step.inverse, to: returned)
                    }
                }
            }
        }
    }

    /// Restores objects that own this one or cannot be deleted without it, and applies the delete rules of the other
    /// deleted ones again.
    private func returnOwners(of object: NSManagedObject) -> [NSManagedObject] {
        var returned: [NSManagedObject] = []
        for slot in object.runtime.relationSlots {
            let facts = object.home.facts[slot]
            guard facts.inverse >= 0 else { continue }
            let targets =
                facts.isToMany
                ? context.storedMembers(of: object, slot: slot) ?? [] : object.committedToOne(slot).map { [$0] } ?? []
            for target in targets where target.isDeleted && !target.flags.contains(.inaccessible) {
                switch target.runtime.slots[Int(facts.inverse)].relationship?.deleteRule {
                case .cascade, .deny:
                    returnObject(target)
                    returned.append(target)
                default:
                    target.relations.removeAll()
                    if !context.pendingChanges.awaitingDeleteRules.contains(where: { $0 === target }) {
                        context.pendingChanges.awaitingDeleteRules.append(target)
                    }
                }
            }
        }
        return returned
    }

    private func returnObject(_ object: NSManagedObject) {
        object.flags.remove(.deleted)
        context.pendingChanges.awaitingDeleteRules.removeAll { $0 === object }
        object.values = nil
        object.relations.removeAll()
        object.forgetFetchedProperties()
        changed.append(object)
    }

    /// The other side lost the object when it was deleted.
    private func restoreReference(of target: NSManagedObject, _ slot: Int, to object: NSManagedObject) {
        let info = target.runtime.slots[slot]
        guard !target.isDeleted, target.relations.isRead(info.relation) else { return }
        if case .toMany(let members) = target.relations[info.relation] {
            // The member has the position that the store says.
            members.forgetChanges { member, isAddition in member === object && !isAddition }
            if members.isKnown, !members.contains(object) {
                partners.append(Partner(object: ObjectReference(target), slot: slot))
            }
        } else if target.toOne(slot) == nil, target.committedToOne(slot) === object {
            target.relations.forget(info.relation)
            target.values?.changed.remove(slot)
        }
        if target.isUpdated, !target.hasPersistentChangedValues { target.flags.remove(.updated) }
    }
}
