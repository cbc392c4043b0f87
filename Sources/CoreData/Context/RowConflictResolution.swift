import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Resolves conflicts of rows as a built-in policy says: objects take the store's rows as their base, and keep or
/// discard the changes of this context. Writes nothing.
///
/// ```
///  row as it was read ──changed here──▶ object
///          │ changed there                 │ kept or discarded, property by property
///          ▼                               ▼
///  row in the store   ──────────────▶ object on the new row
/// ```
/// To-one relationships update their inverses. To-many ones are applied to the store's members after all rows were
/// taken.
final class RowConflictResolution {
    let context: NSManagedObjectContext
    let type: NSMergePolicyType
    /// The objects that took a row, and those whose relationships changed by that.
    var changed: [NSManagedObject] = []
    var partners: [Partner] = []
    /// Changed objects that referred to an object that took a row.
    private var leading: [NSManagedObject] = []
    /// The to-ones whose destination differs from the store's row.
    private var kept: [(object: NSManagedObject, target: NSManagedObject, inverse: Int)] = []
    /// The objects whose rows are inserted again.
    private var inserted: [NSManagedObject] = []
    private var looked: Set<ObjectIdentifier> = []

    struct Partner: Hashable {
        var object: ObjectReference
        var slot: Int
    }

    init(_ context: NSManagedObjectContext, _ type: NSMergePolicyType) {
        self.context = context
        self.type = type
    }

    /// Whether a change of this context wins if both changed.
    var prefersMine: Bool { type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType }

    func resolve(_ conflicts: [NSMergeConflict]) throws {
        for conflict in conflicts {
            let object = conflict.sourceObject
            guard object.registry === context.registry, !object.hasTemporaryKey,
                !object.flags.contains(.inaccessible)
            else { continue }
            looked.insert(ObjectIdentifier(object))
            if let theirs = try conflict.stored ?? storedRow(of: object) {
                change(object, theirs)
            } else {
                lose(object)
            }
        }
        for object in changed where !object.isDeleted {
            context.rebaseMembers(object, winsOrder: type != .rollbackMergePolicyType, prefersMine: prefersMine)
        }
        for partner in partners { rebase(partner) }
        for link in kept where !link.target.isDeleted {
            // Its members may have been read anew, from rows that do not know yet.
            guard link.target.relations.isRead(link.target.runtime.slots[link.inverse].relation) else { continue }
            link.target.inverseDidGain(link.object, link.inverse)
        }
        for object in inserted { join(object) }
        settleOtherEnds()
        for object in changed where !object.isDeleted {
            if object.isUpdated, !object.hasPersistentChangedValues { object.flags.remove(.updated) }
            object.withoutNotingChanges { object.awake(fromSnapshotEvents: .mergePolicy) }
            context.pendingChanges.event.refreshed.append(object)
        }
    }

    /// Rows are taken one after another, so that an end may have been set before its own row came.
    private func settleOtherEnds() {
        let objects = changed.filter { !$0.isDeleted && $0.registry === context.registry }
        var seen: Set<ObjectReference> = []
        let all = (objects + leading + objects.flatMap { $0.relatives.map(\.object) }).filter {
            seen.insert(ObjectReference($0)).inserted && $0.registry === context.registry && !$0.isDeleted
        }
        for object in all { context.giveUpPartnersLedElsewhere(of: object) }
        InverseReconciler(context: context, prefersMine: prefersMine).settle(all)
        context.applyDeleteRulesAgain(to: objects.flatMap(deletedDestinations))
    }

    /// Returns the deleted objects to which the store's row of the object refers: their delete rules were not applied
    /// to it.
    private func deletedDestinations(of object: NSManagedObject) -> [NSManagedObject] {
        object.runtime.relationSlots.compactMap { slot in
            let facts = object.home.facts[slot]
            guard !facts.isToMany, facts.inverse >= 0, !object.isChanged(slot), let target = object.toOne(slot)
            else { return nil }
            return target.isDeleted ? target : nil
        }
    }

    private func storedRow(of object: NSManagedObject) throws -> RowSnapshot? {
        guard let store = object.home.store, store.isAttached else { return nil }
        return try CoreDataErrors.converting {
            try store.newest.row(object.primaryKey, root: object.home.root, staleness: 0)
        }
    }

    // MARK: Rows that changed

    private func change(_ object: NSManagedObject, _ theirs: RowSnapshot) {
        if !object.isStored { becomeStored(object) }
        if !object.isDeleted {
            take(theirs, object)
        } else if prefersMine {
            // It stays deleted; its new members are treated as the delete rules say.
            object.row = theirs
            object.relations.removeAll()
            context.pendingChanges.awaitingDeleteRules.append(object)
        } else {
            undelete(object, theirs)
        }
    }

    /// Handles a row that another writer inserted again first.
    private func becomeStored(_ object: NSManagedObject) {
        object.flags.subtract([.new, .inserted])
        context.noteChange(of: object)
    }

    private func take(_ row: RowSnapshot, _ object: NSManagedObject) {
        let theirs = context.row(row, withToOnesReadBy: object)
        leading += object.relatives.map(\.object).filter(\.hasChanges)
        let before = object.row
        let kinds = object.runtime.layout.kinds
        func differs(_ column: Int) -> Bool {
            guard let before else { return true }
            return column >= 0 && !before.isEqual(to: theirs, at: column, kind: kinds[column])
        }
        var kept: [(slot: Int, target: NSManagedObject?)] = []
        for (slot, info) in object.runtime.slots.enumerated()
        where info.column >= 0 && !info.property.isTransient && !(info.attribute?.isDerived ?? false) {
            let isTheirs = differs(info.column) || differs(info.entityColumn)
            if info.attribute != nil {
                mergeAttribute(slot, of: object, isTheirs: isTheirs)
            } else if let target = mergeToOne(slot, of: object, theirs, isTheirs: isTheirs) {
                kept.append((slot, target))
            }
        }
        if type == .rollbackMergePolicyType { takeBackMembers(of: object) }
        object.row = theirs
        object.forgetFetchedProperties()
        context.rebaseValues(object)
        for (slot, info) in object.runtime.slots.enumerated()
        where info.relationship != nil && !info.isToMany && info.column >= 0 && differs(info.column) {
            note(object.committedToOne(slot), slot, of: object)
        }
        for (slot, target) in kept { keep(target, slot, of: object) }
        changed.append(object)
    }

    private func mergeAttribute(_ slot: Int, of object: NSManagedObject, isTheirs: Bool) {
        let isMine = object.hasLiveValue(slot) && object.isChanged(slot)
        switch (isMine, isTheirs) {
        case (true, true) where prefersMine, (true, false) where type != .rollbackMergePolicyType:
            object.liveValues().changed.insert(slot)
        case (true, _):
            object.values?[slot] = nil
            object.values?.changed.remove(slot)
        case (false, true) where type == .overwriteMergePolicyType && object.isUpdated:
            if object.row?.isUnreadable(object.runtime.slots[slot].column) ?? true { return }
            let value = object.committedAttribute(slot)
            object.liveValues()[slot] = value
            object.liveValues().changed.insert(slot)
        case (false, _):
            // Set to the value that it had is not changed.
            object.values?.changed.remove(slot)
        }
    }

    // MARK: To-one relationships

    /// Returns the destination that the relationship gets instead of the store's; `nil` if the store's value counts.
    private func mergeToOne(
        _ slot: Int, of object: NSManagedObject, _ theirs: RowSnapshot, isTheirs: Bool
    ) -> NSManagedObject?? {
        let isMine = object.isChanged(slot)
        guard isMine || isTheirs else {
            object.values?.changed.remove(slot)
            return nil
        }
        let committed = object.committedToOne(slot)
        let mine = object.toOne(slot)
        let keeps: Bool =
            isMine
            ? (isTheirs ? prefersMine : type != .rollbackMergePolicyType)
            : type == .overwriteMergePolicyType && object.isUpdated
        note(committed, slot, of: object)
        note(mine, slot, of: object)
        if isMine, isTheirs, !object.isChangedToOne(key: mine?.primaryKey, in: theirs, slot) {
            // Both did the same.
            object.relations.forget(object.runtime.slots[slot].relation)
            object.values?.changed.remove(slot)
            return nil
        }
        if keeps, isTheirs, let mine, isGone(mine) {
            // The destination was deleted.
        } else if keeps {
            if !isTheirs {
                object.liveValues().changed.insert(slot)
                return nil
            }
            return .some(mine)
        }
        giveUp(slot, of: object, mine, committed, isTheirs: isTheirs)
        return nil
    }

    /// Gives the relationship the store's value, and updates the other side of the discarded change.
    private func giveUp(
        _ slot: Int, of object: NSManagedObject, _ mine: NSManagedObject?, _ committed: NSManagedObject?,
        isTheirs: Bool
    ) {
        let inverse = object.runtime.slots[slot].relationship?.inverseSlot
        object.relations.forget(object.runtime.slots[slot].relation)
        object.values?.changed.remove(slot)
        guard let inverse, mine !== committed else { return }
        mine?.inverseDidLose(object, inverse)
        if !isTheirs { committed?.inverseDidGain(object, inverse) }
    }

    /// Keeps the relationship's destination on top of the store's row.
    private func keep(_ target: NSManagedObject?, _ slot: Int, of object: NSManagedObject) {
        object.relations.forget(object.runtime.slots[slot].relation)
        let theirs = object.toOne(slot)
        for partner in [theirs, target].compactMap({ $0 }) { refreshUnlessChanged(partner) }
        note(theirs, slot, of: object)
        guard theirs !== target else {
            object.values?.changed.remove(slot)
            return
        }
        object.assignToOne(target, slot)
        object.markChanged(slot)
        guard let inverse = object.runtime.slots[slot].relationship?.inverseSlot else { return }
        theirs?.inverseDidLose(object, inverse)
        target?.inverseDidGain(object, inverse)
        if let target { kept.append((object, target, inverse)) }
    }

    private func note(_ target: NSManagedObject?, _ slot: Int, of object: NSManagedObject) {
        guard let target, let inverse = object.runtime.slots[slot].relationship?.inverseSlot,
            target.runtime.slots[inverse].isToMany
        else { return }
        partners.append(Partner(object: ObjectReference(target), slot: inverse))
    }

    /// An object at the other end that is not changed here takes the row that the store has now.
    private func refreshUnlessChanged(_ object: NSManagedObject) {
        guard object.isStored, !object.hasChanges, !object.flags.contains(.inaccessible),
            looked.insert(ObjectIdentifier(object)).inserted
        else { return }
        do {
            guard let row = try storedRow(of: object) else { return context.delete(object) }
            if object.isFault {
                object.row = row
            } else if object.row?.version != row.version {
                context.merge(row, into: object)
            }
        } catch { context.noteReadFailure(error, "\(object.objectID)") }
    }

    private func isGone(_ object: NSManagedObject) -> Bool {
        guard object.isStored else { return false }
        if object.isDeleted || object.flags.contains(.inaccessible) { return true }
        do { return try storedRow(of: object) == nil } catch {
            context.noteReadFailure(error, "\(object.objectID)")
            return false
        }
    }

    // MARK: To-many relationships

    private func rebase(_ partner: Partner) {
        let object = partner.object.object
        guard object.isStored, !object.isDeleted, !object.flags.contains(.inaccessible) else { return }
        context.rebaseMembers(object, slot: partner.slot, winsOrder: true, prefersMine: prefersMine)
    }

    /// Discards additions and removals of many-to-manys, which belong to the object and not to its members.
    private func takeBackMembers(of object: NSManagedObject) {
        for (index, slot) in object.runtime.relationSlots.enumerated() where object.relations.isRead(index) {
            let info = object.runtime.slots[slot]
            guard info.isToMany, !info.property.isTransient, case .toMany(let members) = object.relations[index],
                members.hasChanges, info.relationship?.inverseSlot == nil || info.isInverseToMany
            else { continue }
            let (added, removed) = (members.added, members.removed)
            object.relations.forget(index)
            object.values?.changed.remove(slot)
            guard let inverse = info.relationship?.inverseSlot else { continue }
            for member in added { member.object.inverseDidLose(object, inverse) }
            for member in removed { member.object.inverseDidGain(object, inverse) }
        }
    }

    // MARK: Rows that are gone

    private func lose(_ object: NSManagedObject) {
        guard !object.isDeleted else { return }
        if prefersMine, object.hasRow, object.isUpdated, !object.hasOnlyLost {
            insertAgain(object)
        } else {
            context.delete(object)
        }
    }

    /// Inserts the object's row again under its key, with all values of the object. Members whose rows refer to it
    /// follow their own rows.
    private func insertAgain(_ object: NSManagedObject) {
        for (index, slot) in object.runtime.relationSlots.enumerated() {
            let info = object.runtime.slots[slot]
            guard !info.property.isTransient else { continue }
            if !info.isToMany {
                if let target = object.toOne(slot), isGone(target) { object.assignToOne(nil, slot) }
            } else if case .toMany(let members) = object.relations[index] {
                let isOwn = info.relationship?.inverseSlot == nil || info.isInverseToMany
                let present = isOwn && members.isKnown ? members.members : members.added.map(\.object)
                if !isOwn { members.members.forEach(refreshUnlessChanged) }
                let made = ToManyMembers(isOrdered: members.isOrdered, isKnown: true)
                for member in present where !isGone(member) { made.add(member) }
                object.relations.forget(index)
                object.relations.setMembers(index, made, of: object.home.relationCount)
            }
        }
        object.flags.remove(.updated)
        object.flags.formUnion([.new, .inserted])
        if !object.flags.contains(.listedInserted) {
            object.flags.insert(.listedInserted)
            context.pendingChanges.inserted.append(object)
        }
        changed.append(object)
        inserted.append(object)
    }

    /// Makes the destinations refer to the object again, if the store's rows do not any more.
    private func join(_ object: NSManagedObject) {
        for (index, slot) in object.runtime.relationSlots.enumerated() {
            guard let inverse = object.runtime.slots[slot].relationship?.inverseSlot else { continue }
            var targets: [NSManagedObject] = []
            switch object.relations[index] {
            case .toOne(let target?): targets = [target]
            case .toMany(let members): targets = members.members
            case .toOne(nil), .unread: break
            }
            for target in targets where !target.isDeleted {
                guard target.relations.isRead(target.runtime.slots[inverse].relation) else { continue }
                target.inverseDidGain(object, inverse)
            }
        }
    }

}

extension NSManagedObject {
    /// Returns whether a to-one whose destination has that key differs from the row.
    fileprivate final func isChangedToOne(key: Int64?, in row: RowSnapshot, _ slot: Int) -> Bool {
        let column = runtime.slots[slot].column
        guard let key else { return !row.isNull(column) }
        return row.isNull(column) || row.integer(column) != key
    }
}
