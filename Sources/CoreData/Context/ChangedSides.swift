import CoreDataModel

/// The other ends of relationships that are changed here, once rows have been read anew.
///
/// ```
///  object ──changed here──▶ target        object ──▶ target
///                             │ row         ◀───────── │
///                             ▼
///                           others        others have lost it
/// ```
/// While a context has rows of different ages, one side may know already what is being set on the other, and take no note of it; with a newer
/// row it says something else. Where both ends are changed here, and do not agree, this one gives up.
struct ChangedSides {
    let context: NSManagedObjectContext
    /// Whether what was changed here wins over what the other end's row says.
    var prefersMine = true

    /// Has the other ends of what is changed in those objects agree with them.
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
        // Of a to-many whose members decide, these are looked at.
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
    /// The to-many has the other object by a change of that one, which is nothing to undo.
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
