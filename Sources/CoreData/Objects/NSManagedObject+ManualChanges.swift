import CoreDataModel
import Foundation

// Relationships that a class changes by way of their primitive values, between `willChangeValue` and `didChangeValue`:
// the other side is kept in step as after any change.
//
//     func addTagsObject(_ tag: Tag) {
//         willChangeValue(forKey: "tags", withSetMutation: .union, using: [tag])
//         (primitiveValue(forKey: "tags") as? NSMutableSet)?.add(tag)
//         didChangeValue(forKey: "tags", withSetMutation: .union, using: [tag])      // tag.item is this object
//     }

extension NSManagedObject {
    /// How a change ends: which objects may have come.
    enum ManualAddition {
        case anything
        case objects(Set<AnyHashable>)
        case positions(IndexSet)
    }

    final func beginManualChange(_ key: String) {
        guard let slot = beginChange(key) else { return }
        if !runtime.slots[slot].isToMany {
            push(slot, uncountedToOne(slot).map { [$0.takeUnretainedValue()] } ?? [])
        } else {
            // Code that only wants the object to count as changed reads no members.
            let members = members(slot)
            push(slot, members.isKnown ? members.members : nil)
        }
    }

    final func beginManualChange(
        _ key: String, _ mutation: NSKeyValueSetMutationKind, _ objects: Set<AnyHashable>
    ) {
        guard let slot = beginChange(key) else { return }
        switch mutation {
        case .union: push(slot, [])
        case .minus: push(slot, objects.compactMap { $0.base as? NSManagedObject })
        case .intersect: push(slot, knownMembers(slot).members.filter { !objects.contains($0) })
        case .set: push(slot, knownMembers(slot).members)
        }
    }

    final func beginManualChange(_ key: String, _ kind: NSKeyValueChange, at positions: IndexSet) {
        guard let slot = beginChange(key) else { return }
        switch kind {
        case .insertion: push(slot, [])
        case .removal, .replacement: push(slot, members(at: positions, slot))
        case .setting: push(slot, knownMembers(slot).members)
        }
    }

    /// Updates the other sides of removed and added members, and marks the object as changed.
    final func endManualChange(_ key: String, _ addition: ManualAddition) {
        guard let slot = runtime.slot(forKey: key) else { return }
        if runtime.slots[slot].kind == .composite { return runtime.slots[slot].leaves.forEach { markChanged($0) } }
        markChanged(slot)
        let inverse = Int(home.facts[slot].inverse)
        guard home.facts[slot].relation >= 0 else { return }
        let noted = popManualChange(slot)
        guard inverse >= 0, home.isInContext else { return }
        let before = noted ?? members(slot).removed.map(\.object)
        if !runtime.slots[slot].isToMany {
            let now = toOne(slot)
            for old in before where old !== now { old.inverseDidLose(self, inverse) }
            if let now, before.first !== now { gain(now, slot, inverse) }
            return
        }
        let members = members(slot)
        for old in before where !members.contains(old) { old.inverseDidLose(self, inverse) }
        switch addition {
        case .objects(let objects):
            for case let object as NSManagedObject in objects.lazy.map(\.base) where members.contains(object) {
                gain(object, slot, inverse)
            }
        case .positions(let positions):
            for object in self.members(at: positions, slot) { gain(object, slot, inverse) }
        case .anything:
            let known = Set(before.map(ObjectReference.init))
            let present = noted == nil ? members.added.map(\.object) : members.members
            for object in present where !known.contains(ObjectReference(object)) { gain(object, slot, inverse) }
        }
    }

    private final func gain(_ object: NSManagedObject, _ slot: Int, _ inverse: Int) {
        checkDestination(object, slot)
        object.inverseDidGain(self, inverse)
    }

    /// Fires the fault and notes the old value; the slot of a relationship.
    private final func beginChange(_ key: String) -> Int? {
        checkQueue(key)
        fireIfNeeded(key: key)
        guard let slot = runtime.slot(forKey: key) else { return nil }
        if runtime.slots[slot].kind == .composite {
            for leaf in runtime.slots[slot].leaves { noteOldValue(leaf) }
            return nil
        }
        noteOldValue(slot)
        return home.facts[slot].relation >= 0 ? slot : nil
    }

    private final func members(at positions: IndexSet, _ slot: Int) -> [NSManagedObject] {
        let members = knownMembers(slot)
        return positions.filter { $0 < members.count }.map { members[$0] }
    }
}

extension NSManagedObject {
    /// Keeps the content of a relationship while its primitive value is being changed.
    final func push(_ slot: Int, _ objects: [NSManagedObject]?) {
        madeExtras().manualChanges.append(ManualChange(slot: slot, objects: objects))
    }

    /// Returns the content that the relationship had when the change that ends now began.
    final func popManualChange(_ slot: Int) -> [NSManagedObject]? {
        guard let extras, let index = extras.manualChanges.lastIndex(where: { $0.slot == slot }) else { return [] }
        return extras.manualChanges.remove(at: index).objects
    }
}
