import CoreDataModel

/// Reconciles the two ends of changed relationships after rows were read again.
///
/// ```
///  object ──changed here──▶ target        object ──▶ target
///                             │ row         ◀───────── │
///                             ▼
///                           others        others have lost it
/// ```
/// While a context has rows of different ages, one end may already have the value that is being set on the other end,
/// and then it records no change. A newer row may have another value. If both ends were changed here and disagree, this
/// end yields.
struct InverseReconciler {
    let context: NSManagedObjectContext
    /// Whether a change of this context wins over the row of the other end.
    var prefersMine = true

    /// Makes the other ends agree with the changed relationships of these objects.
    func settle(_ objects: [NSManagedObject]) {
        for object in objects where isHere(object) && object.hasChanges && !object.relations.isEmpty {
            for slot in object.runtime.relationSlots { settle(slot, of: object) }
        }
    }

    private func isHere(_ object: NSManagedObject) -> Bool {
        object.registry === context.registry && !object.isDeleted && !object.flags.contains(.inaccessible)
    }

    private func settle(_ slot: Int, of object: NSManagedObject) {
        let facts = object.home.facts[slot]
        guard facts.inverse >= 0, object.relations.isRead(Int(facts.relation)), object.isChanged(slot) else { return }
        let inverse = Int(facts.inverse)
        guard facts.isToMany else {
            guard let target = object.toOne(slot), isHere(target) else { return }
            return facts.isInverseToMany
                ? target.gainMember(object, inverse) : settleOneToOne(object, slot, target, inverse)
        }
        // A to-many whose members decide: check its members.
        guard facts.isInverseToMany else { return }
        let members = object.members(slot)
        for member in members.added where isHere(member.object) { member.object.gainMember(object, inverse) }
        for member in members.removed where isHere(member.object) { member.object.loseMember(object, inverse) }
    }

    private func settleOneToOne(_ object: NSManagedObject, _ slot: Int, _ target: NSManagedObject, _ inverse: Int) {
        target.fireIfNeeded(slot: inverse)
        guard isHere(target), target.toOne(inverse) !== object else { return }
        guard prefersMine, !target.isChanged(inverse) else { return object.loseToChange(target, slot) }
        let before = target.toOne(inverse)
        target.assignToOne(object, inverse)
        target.markChanged(inverse)
        if let before, isHere(before) { before.loseToChange(target, slot) }
    }
}

extension NSManagedObject {
    /// Adds a member whose own change made it one. The member's change is registered for undo, so this side is not.
    fileprivate final func gainMember(_ object: NSManagedObject, _ slot: Int) {
        let members = members(slot)
        if members.isKnown ? members.contains(object) : members.isNoted(object) { return }
        if members.add(object) { markChanged(slot) }
    }

    fileprivate final func loseMember(_ object: NSManagedObject, _ slot: Int) {
        let members = members(slot)
        if members.isKnown ? !members.contains(object) : members.removed.contains(ObjectReference(object)) { return }
        if members.remove(object) { markChanged(slot) }
    }
}
