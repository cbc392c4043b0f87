import CoreDataModel
import CoreDataPrimitives

// Unsaved changes on top of what the store has now.
extension NSManagedObjectContext {
    /// The object takes a newer row; its unsaved changes stay.
    final func merge(_ row: RowSnapshot, into object: NSManagedObject) {
        let taking = RowTaking(self)
        taking.take(row, object)
        taking.finish()
    }

    /// Puts the object's changes on top of a row that is new to it; what nobody changed is the row's.
    final func rebase(_ object: NSManagedObject) {
        rebaseValues(object)
        rebaseMembers(object)
    }

    /// Attributes and to-one relationships that nobody changed are the row's.
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

    /// To-many relationships are the store's, with what was added, removed and moved on top.
    ///
    /// `winsOrder` keeps the order of one whose members were moved here, where the store's order is as it was; where it is not,
    /// `prefersMine` does.
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

    /// Of a relationship whose other side is a to-one, that one decides: who leads here was not removed, who does not was not added.
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

    /// Of one-to-ones: what the object's row leads to, and what leads elsewhere by a change of this context, the object has lost.
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

    /// Members that another's save gave to the object, and that lead elsewhere by a change of this context, are none here.
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
    /// What came to objects that are deleted here goes the way of their other members. Those whose delete rules have not been applied yet
    /// have changes, too, which those at the other end shall learn of.
    final func applyDeleteRulesAgain(to objects: [NSManagedObject]) {
        let again = Set(
            objects.lazy.filter { $0.isDeleted && !$0.flags.contains(.inaccessible) }.map(ObjectReference.init)
        )
        .subtracting(unpropagated.map(ObjectReference.init))
        for reference in again {
            reference.object.relations.removeAll()
            unpropagated.append(reference.object)
            if registry.recordsUndo { mergedDeletions.insert(ObjectIdentifier(reference.object)) }
        }
    }
}

/// Objects that take newer rows, and keep their unsaved changes.
///
/// ```
///  row as it was read ──changed here──▶ object
///          │ changed there                 │ kept
///          ▼                               ▼
///  row in the store   ──────────────▶ object on the new row      attributes and to-ones: at once
///                                       │
///                                       ▼
///                                     the other ends             to-manys: when all objects have their rows
/// ```
/// A to-one that is changed here and that another's save changed too leads where it leads here: the object that it leads to in the
/// store has lost this one, which is a change of it as well.
final class RowTaking {
    private struct Link {
        let object: NSManagedObject
        let slot: Int
    }

    private let context: NSManagedObjectContext
    private var objects: [NSManagedObject] = []
    /// Faults that have members nevertheless, since somebody asked for these alone or others left.
    private var faults: [NSManagedObject] = []
    /// The other ends that the rows' to-ones led and lead to.
    private var partners: [Link] = []
    /// The to-ones that are changed here and there.
    private var kept: [Link] = []
    /// Those that are deleted here, and to which a newer row leads.
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

    /// Brings the other ends in step and tells of everything.
    func finish() {
        for fault in faults { context.rebaseMembers(fault) }
        for object in objects where !object.relations.isEmpty { context.rebaseMembers(object) }
        for partner in partners { rebase(partner) }
        for link in kept { settle(link) }
        for object in faults + objects { context.giveUpPartnersLedElsewhere(of: object) }
        context.applyDeleteRulesAgain(to: deleted)
        for object in objects {
            object.withoutNotingChanges { object.awake(fromSnapshotEvents: .refresh) }
            context.event.refreshed.append(object)
        }
        if !objects.isEmpty { context.followTurn() }
    }

    /// Takes note of those at the other ends of the to-ones that lead elsewhere by the newer row.
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
                guard key == old, !context.followers.isEmpty else { continue }
                if let partner {
                    context.event.formerDestinations.append(partner)
                } else {
                    context.event.strangers.append(object.objectID)
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
    /// What was set to the value that it had anyway is no change, and will be what the next row says.
    final func forgetSameValues() {
        guard isStored, hasRow, let values else { return }
        for slot in values.changed {
            let info = runtime.slots[slot]
            guard !info.property.isTransient, !info.isToMany, !isChanged(slot) else { continue }
            if info.attribute != nil { values[slot] = nil } else { relations.forget(info.relation) }
            values.changed.remove(slot)
        }
    }

    /// This object has the other by another's save, and has lost it by an earlier change of this context: that is a change of both, and
    /// nothing to undo.
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
