import CoreDataPrimitives
import Foundation

// Undoing the changes of one object.
extension NSManagedObject {
    /// Forgets relationships to objects that have left the context meanwhile: undo does not restore them.
    final func forgetStrangers(_ gone: Set<ObjectReference>) {
        let registry = registry
        for index in relations.indices {
            switch relations[index] {
            case .toOne(let target?):
                if target.registry === registry, !gone.contains(ObjectReference(target)) { break }
                relations.setToOne(index, nil, of: home.relationCount)
            case .toMany(let members): members.forget { $0.registry !== registry }
            case .toOne(nil), .unread: break
            }
        }
    }

    final func takeBackAttribute(
        _ old: ValueBeforeEvent.Content?, _ slot: Int, _ row: RowSnapshot?
    ) {
        let info = runtime.slots[slot]
        var value: Value
        if case .attribute(let old)? = old {
            value = old
        } else if let row, info.column >= 0 {
            value = ManagedObjectValues.decode(row, column: info.column, kind: info.kind)
            if info.type == .transformable, case .data(let data) = value { value = transformedValue(data, slot) }
        } else {
            value = info.attribute?.defaultValue ?? .null
        }
        setAttribute(value, slot)
    }

    final func isToOne(_ slot: Int) -> Bool {
        let info = runtime.slots[slot]
        return info.relationship != nil && !info.isToMany
    }

    /// Returns the destination of the to-one before the change.
    final func toOne(_ slot: Int, before change: ChangedObject) -> NSManagedObject? {
        if case .toOne(let old)? = change.old.first(where: { $0.slot == slot })?.content { return old }
        return change.row.flatMap { destination(slot, in: $0) }
    }

    /// Restores the to-one; nil if the destination does not exist any more.
    final func takeBackToOne(_ old: NSManagedObject?, _ slot: Int, _ gone: Set<ObjectReference>) {
        fireIfNeeded(slot: slot)
        let target = old.flatMap { old in
            let isHere = old.registry === registry && old.flags.isDisjoint(with: [.deleted, .inaccessible])
            return isHere && !gone.contains(ObjectReference(old)) ? old : nil
        }
        let present = toOne(slot)
        noteOldValue(slot)
        assignToOne(target, slot)
        markChanged(slot)
        let inverse = Int(home.facts[slot].inverse)
        guard inverse >= 0, present !== target else { return }
        // The other sides were undone by themselves, unless other code changed them meanwhile.
        if let present, present.leads(to: self, inverse) { present.inverseDidLose(self, inverse) }
        if let target, !target.leads(to: self, inverse) { target.inverseDidGain(self, inverse) }
    }

    /// The destination of a to-one as a row has it.
    private final func destination(_ slot: Int, in row: RowSnapshot) -> NSManagedObject? {
        let info = runtime.slots[slot]
        guard info.column >= 0, !row.isNull(info.column), let context = managedObjectContext, let store = home.store
        else { return nil }
        let number =
            info.entityColumn >= 0 && !row.isNull(info.entityColumn) ? row.integer(info.entityColumn) : nil
        return context.destination(
            in: store, entity: Int(home.facts[slot].destination), entityNumber: number,
            primaryKey: row.integer(info.column))
    }

    /// Returns whether the relationship refers to the object, as far as it is known without reading.
    private final func leads(to object: NSManagedObject, _ slot: Int) -> Bool {
        isKnownToLead(to: object, slot) ?? false
    }

    /// Returns whether the relationship refers to the object; `nil` if only its members tell and they are unread.
    final func isKnownToLead(to object: NSManagedObject, _ slot: Int) -> Bool? {
        if home.facts[slot].isToMany {
            let members = members(slot)
            if members.isKnown { return members.contains(object) }
            if members.isNoted(object) { return true }
            return members.removed.contains(ObjectReference(object)) ? false : nil
        }
        fireIfNeeded(slot: slot)
        return toOne(slot) === object
    }

    /// Forgets values that were set and are equal to the store's: they are no changes. An object without other changes
    /// is not updated any more.
    final func forgetUnchangedValues() {
        guard isUpdated, !isDeleted, !isInserted, let values, values.event.isEmpty, !values.isPlaced else { return }
        for slot in values.changed {
            if runtime.slots[slot].property.isTransient || isChanged(slot) { return }
        }
        for slot in values.changed { values[slot] = nil }
        values.changed.removeAll()
        flags.remove(.updated)
    }
}
