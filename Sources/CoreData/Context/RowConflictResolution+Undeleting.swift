import CoreDataPrimitives
import Foundation

// Deletions that are taken back.
extension RowConflictResolution {
    /// The object is there again, and with it what its deletion did to others.
    func undelete(_ object: NSManagedObject, _ theirs: RowSnapshot) {
        returnObject(object)
        object.row = theirs
        var next = [object]
        while let returned = next.popLast() {
            next += returnOwners(of: returned)
            for step in returned.home.deleteSteps {
                // Also those that the deletion led elsewhere, whose rows still lead here.
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

    /// Whoever takes the object along, or cannot go without it, comes back too; the rules of the others are applied again.
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
                    if !context.unpropagated.contains(where: { $0 === target }) { context.unpropagated.append(target) }
                }
            }
        }
        return returned
    }

    private func returnObject(_ object: NSManagedObject) {
        object.flags.remove(.deleted)
        context.unpropagated.removeAll { $0 === object }
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
            // It stands where the store has it.
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
