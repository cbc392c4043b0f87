import CoreDataPrimitives
import CoreDataStore
import Foundation

// Faults take the rows of their objects.
extension NSManagedObjectContext {
    /// Gives the fault its values.
    ///
    /// `slot` is the property that is read; -1 for none.
    final func realise(_ object: NSManagedObject, slot: Int) {
        adoptPermanentKeys()
        if !object.hasCurrentRow {
            do {
                if object.batch != nil {
                    try readRows(of: neighbours(of: object))
                } else if try !readRowWithSiblings(of: object) {
                    try readRow(of: object)
                }
            } catch {
                noteReadFailure(error, "\(object.objectID)")
                return
            }
        }
        if !object.hasRow { return lose(object, slot: slot) }
        object.becomeRealised()
    }

    /// Gives every fault its values with as few statements as possible. Objects whose rows were deleted are skipped.
    final func realiseAll(_ objects: [NSManagedObject]) {
        let faults = objects.filter { $0.isFault }
        do {
            try readRows(of: faults)
        } catch {
            noteReadFailure(error, "\(faults.count) faults")
            return
        }
        for object in faults where object.isFault {
            if !object.hasRow { lose(object, slot: -1) } else { object.becomeRealised() }
        }
    }

    /// Reads the rows of faults, from memory if they are cached and recent enough. A fault whose row was replaced gets
    /// the new row; if the row was deleted, the fault gets none.
    final func readRows(of objects: [NSManagedObject]) throws {
        let unread = objects.filter { !$0.hasCurrentRow && $0.isStored }
        guard let home = unread.first?.home else { return }
        // Most often all live in one place.
        if unread.allHeldSatisfy({ ObjectIdentifier($0.home) == ObjectIdentifier(home) }) {
            return try readRows(of: unread, in: home)
        }
        for members in Dictionary(grouping: unread, by: { [Int($0.storeIndex), $0.home.root] }).values {
            try readRows(of: members, in: members[0].home)
        }
    }

    /// The objects are all of the home's store and root entity.
    private func readRows(of objects: [NSManagedObject], in home: ObjectHome) throws {
        if objects.count == 1 { return try readRow(of: objects[0]) }
        guard let store = store(at: home.storeIndex) else { return }
        let rows = try store.source.heldRows(
            objects.map(\.primaryKey), root: home.root, staleness: rowReading.staleness)
        var renewed: RowReplacement?
        var index = 0
        objects.forEachHeld { object in
            if object.hasRow {
                let taking = renewed ?? RowReplacement(self)
                renewed = taking
                renewRow(of: object, rows.hasRow(index) ? rows[index] : nil, taking)
            } else {
                object.takeRow(rows.take(index))
            }
            index += 1
        }
        renewed?.finish()
    }

    @inline(never)
    private func renewRow(of object: NSManagedObject, in store: AttachedStore) throws {
        let row = try store.source.row(object.primaryKey, root: object.home.root, staleness: rowReading.staleness)
        let taking = RowReplacement(self)
        renewRow(of: object, row, taking)
        taking.finish()
    }

    /// Replaces the superseded row of a fault by the current one, or by none.
    private func renewRow(of object: NSManagedObject, _ row: RowSnapshot?, _ taking: RowReplacement) {
        guard let row else { return object.giveUpRow() }
        taking.noteMoves(of: object, to: row)
        object.takeRow(HeldRow(row))
        if !object.relations.isEmpty { taking.takeMembers(of: object) }
    }

    private func readRow(of object: NSManagedObject) throws {
        guard let store = object.home.uncountedStore, object.isStored else { return }
        try store._withUnsafeGuaranteedRef { store in
            guard store.isAttached else { return }
            if rowReading.faultWatch != nil { noteRead(of: object, in: store) }
            if object.hasRow { return try renewRow(of: object, in: store) }
            object.takeRow(
                try store.source.heldRow(object.primaryKey, root: object.home.root, staleness: rowReading.staleness))
        }
    }

    /// Has the watch count the read, unless the row is in memory.
    @inline(never)
    private func noteRead(of object: NSManagedObject, in store: AttachedStore) {
        let held = store.source.cachedRow(object.primaryKey, root: object.home.root, staleness: rowReading.staleness)?
            .snapshot()
        if held == nil { rowReading.faultWatch?.willReadRow(of: object, in: self) }
    }

    /// Returns the fault and the faults that the same batch fetch made.
    private func neighbours(of object: NSManagedObject) -> [NSManagedObject] {
        guard let batch = object.batch, object.home.store?.readsOneRowAtATime != true else { return [object] }
        var found: [NSManagedObject] = []
        for neighbour in batch.neighbours {
            guard let runtime = coordinator?.runtime.entities[neighbour.entity],
                let known = registry.object(
                    store: object.storeIndex, root: runtime.root, primaryKey: neighbour.primaryKey),
                known.isFault
            else { continue }
            found.append(known)
        }
        return found.contains { $0 === object } ? found : found + [object]
    }

    /// Handles a fault whose row was deleted.
    final func lose(_ object: NSManagedObject, slot: Int) {
        let property = slot < 0 ? nil : object.runtime.entity.propertiesByName[object.runtime.slots[slot].name]
        let isDeleted = shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: property)
        object.becomeInaccessible()
        registry.mayHaveDangling = true
        rowReading.missingRowCount += 1
        guard isDeleted, !object.flags.contains(.deleted) else { return }
        object.flags.remove(.updated)
        object.flags.insert(.deleted)
        if !object.flags.contains(.listedDeleted) {
            object.flags.insert(.listedDeleted)
            pendingChanges.deleted.append(object)
        }
    }

    /// Makes a fault again of an object whose row was missing: the row exists now, or must be looked up again.
    final func revive(_ object: NSManagedObject) {
        guard object.registry === registry, object.isStored else { return }
        object.flags.subtract([.inaccessible, .deleted])
        object.flags.insert(.fault)
    }

    /// Looks up a row that was missing. If it exists now, the object becomes a fault with that row. Returns whether the
    /// row exists.
    final func reviveIfThere(_ object: NSManagedObject) throws -> Bool {
        guard object.registry === registry, object.isStored, let store = object.home.store, store.isAttached,
            let row = try store.source.heldRow(object.primaryKey, root: object.home.root, staleness: 0)
        else { return false }
        revive(object)
        object.takeRow(row)
        return true
    }
}
