import CoreDataModel
import CoreDataPrimitives

// Unsaved changes on top of the current rows of the store.
extension NSManagedObjectContext {
    /// The object takes a newer row; its unsaved changes stay.
    final func merge(_ row: RowSnapshot, into object: NSManagedObject) {
        let taking = RowReplacement(self)
        taking.take(row, object)
        taking.finish()
    }

    /// Applies the object's unsaved changes to a new row. Unchanged properties get the row's values.
    final func rebase(_ object: NSManagedObject) {
        rebaseValues(object)
        rebaseMembers(object)
    }

    /// Gives unchanged attributes and to-one relationships the row's values.
    final func rebaseValues(_ object: NSManagedObject) {
        if let values = object.values {
            for slot in object.runtime.slots.indices
            where !values.changed.contains(slot) && !object.runtime.slots[slot].property.isTransient {
                values[slot] = nil
            }
        }
        for (index, relation) in object.relations.enumerated() {
            guard case .toOne = relation else { continue }
            let slot = object.runtime.relationSlots[index]
            if object.values?.changed.contains(slot) != true { object.relations.forget(index) }
        }
    }

    /// Gives to-many relationships the store's members, with this context's additions, removals and moves.
    ///
    /// With `winsOrder`, the order of members that were moved here is kept if the store's order is unchanged. If it
    /// changed, `prefersMine` decides.
    final func rebaseMembers(_ object: NSManagedObject, winsOrder: Bool = true, prefersMine: Bool = true) {
        for (index, slot) in object.runtime.relationSlots.enumerated() where object.relations.isRead(index) {
            if object.runtime.slots[slot].isToMany {
                rebaseMembers(object, slot: slot, winsOrder: winsOrder, prefersMine: prefersMine)
            }
        }
    }

    final func rebaseMembers(_ object: NSManagedObject, slot: Int, winsOrder: Bool, prefersMine: Bool) {
        let info = object.runtime.slots[slot]
        guard case .toMany(let members) = object.relations[info.relation] else { return }
        forgetRefutedChanges(members, of: object, slot)
        guard members.hasChanges else { return object.relations.forget(info.relation) }
        guard members.isKnown, !info.property.isTransient, object.isStored,
            let stored = storedMembers(of: object, slot: slot, refreshes: true)
        else { return }
        members.rebase(onto: stored, keepsOrder: winsOrder && (prefersMine || !members.isReordered(in: stored)))
        giveUpMembersLedElsewhere(stored, of: object, slot)
    }

    /// Forgets changes that the to-one on the other side refutes: a member whose to-one refers to this object was not
    /// removed, and one whose to-one refers elsewhere was not added.
    private func forgetRefutedChanges(_ members: ToManyMembers, of object: NSManagedObject, _ slot: Int) {
        let facts = object.home.facts[slot]
        guard object.isStored, facts.inverse >= 0, !facts.isInverseToMany, members.hasChanges else { return }
        let inverse = Int(facts.inverse)
        members.forgetChanges { member, isAddition in
            guard member.registry === registry, !member.isDeleted, member.hasRow || !member.isStored,
                !member.flags.contains(.inaccessible)
            else { return false }
            let target = member.isFault ? member.committedToOne(inverse) : member.toOne(inverse)
            return (target === object) != isAddition
        }
    }

    /// Removes one-to-one partners: the object loses a destination of its row that refers to another object because of
    /// a change in this context.
    final func giveUpPartnersLedElsewhere(of object: NSManagedObject) {
        guard let row = object.row else { return }
        for slot in object.runtime.relationSlots {
            let facts = object.home.facts[slot]
            let column = Int(facts.column)
            guard !facts.isToMany, facts.inverse >= 0, !facts.isInverseToMany, column >= 0, !row.isNull(column),
                let partner = registry.object(
                    store: object.storeIndex, root: Int(facts.destinationRoot), primaryKey: row.integer(column)),
                partner.flags.contains(.updated), !object.isChanged(slot)
            else { continue }
            let inverse = Int(facts.inverse)
            if partner.isChanged(inverse), partner.toOne(inverse) !== object { object.loseToChange(partner, slot) }
        }
    }

    /// Members that another's save gave to the object, and that lead elsewhere by a change of this context, are none
    /// here.
    final func giveUpMembersLedElsewhere(
        _ stored: [NSManagedObject], of object: NSManagedObject, _ slot: Int, besides changing: NSManagedObject? = nil
    ) {
        let facts = object.home.facts[slot]
        guard facts.inverse >= 0, !facts.isInverseToMany else { return }
        let inverse = Int(facts.inverse)
        stored.forEachHeld { member in
            guard member.flags.contains(.updated), member !== changing, member.isChanged(inverse),
                member.toOne(inverse) !== object
            else { return }
            object.loseToChange(member, slot)
        }
    }
}

extension NSManagedObjectContext {
    /// Applies the delete rules of deleted objects to members that they got since. If the rules were not applied yet,
    /// changes at the other end are merged as well.
    final func applyDeleteRulesAgain(to objects: [NSManagedObject]) {
        let again = Set(
            objects.lazy.filter { $0.isDeleted && !$0.flags.contains(.inaccessible) }.map(ObjectReference.init)
        )
        .subtracting(pendingChanges.awaitingDeleteRules.map(ObjectReference.init))
        for reference in again {
            reference.object.relations.removeAll()
            pendingChanges.awaitingDeleteRules.append(reference.object)
            if registry.recordsUndo { undoRecording.reappliedDeletions.insert(ObjectIdentifier(reference.object)) }
        }
    }
}

/// Gives objects newer rows and keeps their unsaved changes.
///
/// ```
///  row as it was read ──changed here──▶ object
///          │ changed there                 │ kept
///          ▼                               ▼
///  row in the store   ──────────────▶ object on the new row      attributes and to-ones: immediately
///                                       │
///                                       ▼
///                                     the other ends             to-manys: when all objects have their rows
/// ```
/// A to-one that was changed both here and by another save keeps the value of this context. The destination that the
/// store has for it then loses this object, which is a change of that destination, too.
final class RowReplacement {
    private struct Link {
        let object: NSManagedObject
        let slot: Int
    }

    private let context: NSManagedObjectContext
    private var objects: [NSManagedObject] = []
    /// Faults that have members: a caller read only the members, or other objects removed some.
    private var faults: [NSManagedObject] = []
    /// The old and the new other ends of the rows' to-ones.
    private var partners: [Link] = []
    /// The to-ones that were changed both here and in the store.
    private var kept: [Link] = []
    /// The objects that are deleted here and to which a newer row refers.
    private var deleted: [NSManagedObject] = []

    init(_ context: NSManagedObjectContext) { self.context = context }

    func take(_ newer: RowSnapshot, _ object: NSManagedObject) {
        let row = context.row(newer, withToOnesReadBy: object)
        object.forgetSameValues()
        noteMoves(of: object, to: row)
        object.replacingValues {
            object.row = row
            object.forgetFetchedProperties()
            if object.uncountedValues != nil || !object.relations.isEmpty { context.rebaseValues(object) }
        }
        objects.append(object)
    }

    /// The members of a fault that has taken its newer row.
    func takeMembers(of fault: NSManagedObject) {
        context.rebaseValues(fault)
        faults.append(fault)
    }

    /// Updates the other ends and notifies observers.
    func finish() {
        for fault in faults { context.rebaseMembers(fault) }
        for object in objects where !object.relations.isEmpty { context.rebaseMembers(object) }
        for partner in partners { rebase(partner) }
        for link in kept { settle(link) }
        for object in faults + objects { context.giveUpPartnersLedElsewhere(of: object) }
        context.applyDeleteRulesAgain(to: deleted)
        for object in objects {
            object.withoutNotingChanges { object.awake(fromSnapshotEvents: .refresh) }
            context.pendingChanges.event.refreshed.append(object)
        }
        if !objects.isEmpty { context.followTurn() }
    }

    /// Records the other ends of the to-ones that the newer row changes.
    func noteMoves(of object: NSManagedObject, to row: RowSnapshot) {
        guard let before = object.row else { return }
        let home = object.home
        for slot in object.runtime.relationSlots {
            let facts = home.facts[slot]
            let column = Int(facts.column)
            guard !facts.isToMany, facts.inverse >= 0, column >= 0 else { continue }
            let old = before.isNull(column) ? nil : before.integer(column)
            let new = row.isNull(column) ? nil : row.integer(column)
            // An ancestor has saved the destination since: it is the same.
            if old == new || old.map(context.permanentKey) == new.map(context.permanentKey) { continue }
            if object.values?.changed.contains(slot) ?? false { kept.append(Link(object: object, slot: slot)) }
            for case let key? in [old, new] {
                let partner = context.registry.object(
                    store: home.storeIndex, root: Int(facts.destinationRoot), primaryKey: key)
                if let partner { partners.append(Link(object: partner, slot: Int(facts.inverse))) }
                if key == new, let partner, partner.isDeleted { deleted.append(partner) }
                guard key == old, !context.observers.followers.isEmpty else { continue }
                if let partner {
                    context.pendingChanges.event.previousDestinations.append(partner)
                } else {
                    context.pendingChanges.event.unknownUpdates.append(object.objectID)
                }
            }
        }
    }

    private func rebase(_ partner: Link) {
        let object = partner.object
        guard object.runtime.slots[partner.slot].isToMany, object.isStored, !object.isDeleted,
            !object.flags.contains(.inaccessible)
        else { return }
        context.rebaseMembers(object, slot: partner.slot, winsOrder: true, prefersMine: true)
    }

    private func settle(_ link: Link) {
        let (object, slot) = (link.object, link.slot)
        guard !object.isDeleted, let inverse = object.runtime.slots[slot].relationship?.inverseSlot else { return }
        guard object.isChanged(slot) else {
            // Both did the same.
            object.relations.forget(object.runtime.slots[slot].relation)
            object.values?.changed.remove(slot)
            return
        }
        guard let theirs = object.committedToOne(slot), !theirs.isDeleted, !theirs.flags.contains(.inaccessible)
        else { return }
        context.takeNewestRow(of: theirs, ledBy: inverse, to: object)
        theirs.loseToChange(object, inverse)
    }
}

extension NSManagedObject {
    /// Forgets changes to the value that the row already had: the next row's values replace them.
    final func forgetSameValues() {
        guard isStored, hasRow, let values else { return }
        for slot in values.changed {
            let info = runtime.slots[slot]
            guard !info.property.isTransient, !info.isToMany, !isChanged(slot) else { continue }
            if info.attribute != nil { values[slot] = nil } else { relations.forget(info.relation) }
            values.changed.remove(slot)
        }
    }

    /// This object has the other by another's save, and has lost it by an earlier change of this context: that is a
    /// change of both, and nothing to undo.
    final func loseToChange(_ object: NSManagedObject, _ slot: Int) {
        if home.facts[slot].isToMany {
            if members(slot).lose(object) { markChanged(slot) }
            return
        }
        fireIfNeeded(slot: slot)
        guard toOne(slot) === object else { return }
        assignToOne(nil, slot)
        markChanged(slot)
    }
}
