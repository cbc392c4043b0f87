import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// The part of a save that writes: one transaction per store, all open until everything is written. It is repeated after
// the merge policy resolved the conflicts.
extension NSManagedObjectContext {
    /// The objects that were written, in all stores.
    struct SavedObjects {
        var inserted: [NSManagedObject] = []
        var updated: [NSManagedObject] = []
        var deleted: [NSManagedObject] = []
        /// Faults that found no row. They leave the context like deleted objects, but this save deleted nothing. The
        /// row may be newer than the context's generation, so observers are not notified.
        var vanished: [NSManagedObject] = []
        /// Objects related to objects whose rows were inserted again: they had been told that these were deleted.
        var related: [NSManagedObject] = []
        /// The numbers of the transactions that were recorded, by the stores' UUIDs.
        var transactions: [String: Int64] = [:]

        mutating func add(_ saved: SavePreparation) {
            Self.append(saved.inserted, to: &inserted)
            Self.append(saved.updated, to: &updated)
            Self.append(saved.deleted, to: &deleted)
            if !saved.broughtBack.isEmpty { addRelated(saved) }
            if let number = saved.historyTransaction { transactions[saved.store.identifier] = number }
        }

        /// The objects that notifications report as updated.
        var told: [NSManagedObject] { related.isEmpty ? updated : updated + related }

        private mutating func addRelated(_ saved: SavePreparation) {
            var seen = Set((inserted + updated + deleted).map(ObjectReference.init))
            related += saved.broughtBack.flatMap(\.relatives).map(\.object).filter {
                $0.isStored && $0.registry === saved.context.registry && seen.insert(ObjectReference($0)).inserted
            }
        }

        /// Of a single store the list itself and no copy.
        private static func append(_ objects: [NSManagedObject], to list: inout [NSManagedObject]) {
            if list.isEmpty { list = objects } else { list += objects }
        }
    }

    /// The result of one attempt.
    private struct Attempt {
        /// The stores that have been written.
        var done: Set<Int32> = []
        var isAnythingWritten = false
        var failures: [(store: AttachedStore, error: any Error)] = []
        var conflicts = SaveConflicts()
        /// Whether the store itself may merge new objects into rows with the same unique values.
        var mayAbsorb = false

        var meetsNothing: Bool { failures.isEmpty && conflicts.unlessNone == nil }
    }

    /// Writes all changes. Conflicts of all stores go to the merge policy; if it resolves them, the write is repeated.
    /// After an error stores and context are unchanged, except if a store could not commit after another store had.
    final func write(to coordinator: NSPersistentStoreCoordinator) throws -> SavedObjects {
        if parentLink.isChild { return try writeToParent() }
        var outcome = SavedObjects()
        var attempt = Attempt()
        attempt.mayAbsorb = (mergePolicy as? NSMergePolicy)?.isPlainAndMine == true
        var rounds: ConflictRounds?
        do {
            while true {
                try write(to: coordinator.attachedStores, &attempt, &outcome)
                guard attempt.failures.isEmpty, let conflicts = attempt.conflicts.unlessNone else { break }
                let known = rounds ?? ConflictRounds(self)
                rounds = known
                try known.resolve(conflicts)
                attempt.conflicts = SaveConflicts()
                attempt.mayAbsorb = false
            }
            if !attempt.failures.isEmpty { try throwFailures(of: attempt, &outcome, rounds) }
        } catch {
            rounds?.rollBack(except: attempt.done)
            throw error
        }
        outcome.vanished += lostDeletions()
        rounds?.finish()
        return outcome
    }

    /// Hands what changed to the parent, which resolves no conflicts.
    private func writeToParent() throws -> SavedObjects {
        let inserted = current(pendingChanges.inserted) { $0.isInserted && !$0.isDeleted }
        let updated = current(pendingChanges.updated) { $0.isUpdated && !$0.isDeleted }
        let deleted = current(pendingChanges.deleted) { $0.isDeleted && !$0.flags.contains(.inaccessible) }
        let late = try saveToParent(inserted: inserted, updated: updated, deleted: deleted)
        var outcome = SavedObjects(inserted: inserted, updated: updated, deleted: deleted)
        inserted.forEachHeld { $0.flags.subtract([.inserted, .new]) }
        updated.forEachHeld { $0.flags.remove(.updated) }
        leave(deleted)
        late.make(in: self)
        outcome.vanished += lostDeletions()
        return outcome
    }

    /// Returns deleted objects without a row: there is nothing to write for them.
    private func lostDeletions() -> [NSManagedObject] {
        let lost = pendingChanges.deleted.filter { $0.isDeleted && $0.flags.contains(.inaccessible) }
        lost.forEachHeld { $0.flags.remove(.deleted) }
        return lost
    }

    private func throwFailures(
        of attempt: Attempt, _ outcome: inout SavedObjects, _ rounds: ConflictRounds?
    ) throws {
        let failures =
            attempt.failures + attempt.conflicts.stores.map { ($0, attempt.conflicts.error(under: .error)) }
        if !attempt.isAnythingWritten {
            throw failures.count == 1
                ? failures[0].error : CoreDataErrors.incompleteSave(failures.map { ($0.store.store, $0.error) })
        }
        rounds?.rollBack(except: attempt.done)
        outcome.vanished += lostDeletions()
        finish(outcome)
        throw CoreDataErrors.incompleteSave(failures.map { ($0.store.store, $0.error) })
    }

    /// Tries every store: all are written, or none is.
    private func write(
        to stores: [AttachedStore], _ attempt: inout Attempt, _ outcome: inout SavedObjects
    ) throws {
        let inserted = current(pendingChanges.inserted) { $0.isInserted && !$0.isDeleted }
        let updated = current(pendingChanges.updated) { $0.isUpdated && !$0.isDeleted }
        let deleted = current(pendingChanges.deleted) { $0.isDeleted && !$0.flags.contains(.inaccessible) }
        if let coordinator { try assignStores(to: inserted, in: coordinator) }
        let checked =
            pendingChanges.versionChecked.filter { $0.isStored && !$0.isDeleted && $0.registry === registry }
            + (try partnersToCheck(inserted, updated, deleted))
        try checkReach(inserted, updated, deleted, stores)
        if stores.count > 1 { try checkStores(inserted, updated, deleted) }
        var preparations: [SavePreparation] = []
        for store in stores.count == 1 ? stores : stores.sorted(by: AttachedStore.isWrittenBefore) {
            let own = { (objects: [NSManagedObject]) in
                stores.count == 1 ? objects : objects.filter { $0.storeIndex == store.index }
            }
            let preparation = SavePreparation(
                context: self, store: store, inserted: own(inserted), updated: own(updated), deleted: own(deleted),
                checked: own(checked))
            preparation.mayAbsorb = attempt.mayAbsorb && stores.count == 1
            do { if try preparation.prepare() { preparations.append(preparation) } } catch {
                attempt.failures.append((store, CoreDataErrors.converted(error, store: store, context: self)))
            }
        }
        do { try write(preparations[...], &attempt, &outcome) } catch is SavePreparation.Abandoned {}
    }

    /// Writes the first store and, while its transaction is open, the others: the last store commits first. After a
    /// conflict in one store the others are still written to find their conflicts, and then all are rolled back.
    ///
    /// ```
    /// BEGIN a … BEGIN b … COMMIT b, COMMIT a          BEGIN a … conflict, ROLLBACK a; BEGIN b … ROLLBACK b
    /// ```
    private func write(
        _ preparations: ArraySlice<SavePreparation>, _ attempt: inout Attempt, _ outcome: inout SavedObjects
    ) throws {
        guard let first = preparations.first else {
            if attempt.meetsNothing { return }
            throw SavePreparation.Abandoned()
        }
        let others = preparations.dropFirst()
        var hasTriedOthers = false
        do {
            let isAlone = others.isEmpty && attempt.meetsNothing
            let isWritten =
                try isAlone
                ? first.run()
                : first.run {
                    hasTriedOthers = true
                    try write(others, &attempt, &outcome)
                }
            attempt.isAnythingWritten = attempt.isAnythingWritten || isWritten
            attempt.done.insert(first.store.index)
            markClean(first)
            outcome.add(first)
        } catch let abandoned as SavePreparation.Abandoned {
            throw abandoned
        } catch {
            if let conflicts = error as? SaveConflicts {
                attempt.conflicts.add(conflicts)
            } else {
                attempt.failures.append(
                    (first.store, CoreDataErrors.converted(error, store: first.store, context: self)))
            }
            if !hasTriedOthers { try write(others, &attempt, &outcome) }
            throw SavePreparation.Abandoned()
        }
    }

    /// Returns the unchanged other ends of changed one-to-ones. Their rows in the context seem to agree already, but
    /// may be older than the store's.
    private func partnersToCheck(_ changed: [NSManagedObject]...) throws -> [NSManagedObject] {
        var found: [NSManagedObject] = []
        for objects in changed {
            objects.forEachHeld { object in
                guard object.home.hasOneToOne else { return }
                for slot in object.runtime.relationSlots { addPartners(of: object, slot, to: &found) }
            }
        }
        var seen: Set<ObjectReference> = []
        found = found.filter { seen.insert(ObjectReference($0)).inserted }
        try readRows(of: found)
        return found
    }

    private func addPartners(of object: NSManagedObject, _ slot: Int, to found: inout [NSManagedObject]) {
        let facts = object.home.facts[slot]
        guard !facts.isToMany, facts.inverse >= 0, !facts.isInverseToMany else { return }
        let isConcerned =
            object.isDeleted
            ? object.runtime.slots[slot].relationship?.deleteRule != .noAction
            : object.relations.isRead(Int(facts.relation)) && object.isChanged(slot)
        guard isConcerned else { return }
        let ends = [object.isDeleted ? nil : object.toOne(slot), object.hasRow ? object.committedToOne(slot) : nil]
        for case let end? in ends
        where end.registry === registry && end.isStored && !end.isDeleted && !end.flags.contains(.inaccessible) {
            guard !end.isUpdated || !end.isChanged(Int(facts.inverse)) else { continue }
            found.append(end)
        }
    }

    /// Marks the written objects as clean.
    private func markClean(_ saved: SavePreparation) {
        saved.inserted.forEachHeld { $0.flags.subtract([.inserted, .new]) }
        saved.updated.forEachHeld { $0.flags.remove(.updated) }
        leave(saved.deleted)
        saved.late?.make(in: self)
    }

    /// Removes deleted objects from the context. Observers that are notified before the save ends must not treat them
    /// as existing.
    private func leave(_ deleted: [NSManagedObject]) {
        deleted.forEachHeld { object in
            object.flags.remove(.deleted)
            object.flags.insert(.leaving)
        }
    }

    /// Throws for objects of a store that is no longer the coordinator's: there is nowhere to write them to.
    private func checkReach(
        _ inserted: [NSManagedObject], _ updated: [NSManagedObject], _ deleted: [NSManagedObject],
        _ stores: [AttachedStore]
    ) throws {
        let indexes = stores.map(\.index)
        let isReached =
            if let index = indexes.first, indexes.count == 1 {
                { (object: NSManagedObject) in object.storeIndex == index }
            } else {
                { (object: NSManagedObject) in indexes.contains(object.storeIndex) }
            }
        for objects in [inserted, updated, deleted] where !objects.allHeldSatisfy(isReached) {
            throw CoreDataErrors.storeOutOfReach(objects.filter { !isReached($0) })
        }
    }

    /// Throws for changes that a store cannot save whatever its rows are, before another store is written:
    /// relationships between stores, and changes of a read-only store.
    private func checkStores(_ changed: [NSManagedObject]...) throws {
        for object in changed.joined() {
            if let store = object.home.store, store.isReadOnly { throw CoreDataErrors.readOnly(store.store) }
            guard !object.isDeleted else { continue }
            for (index, relation) in object.relations.enumerated() {
                let slot = object.runtime.relationSlots[index]
                guard !object.runtime.slots[slot].property.isTransient else { continue }
                switch relation {
                case .unread, .toOne(nil): break
                case .toOne(let target?):
                    guard object.isChanged(slot) else { break }
                    try SavePreparation.checkDestination(target, of: object, slot)
                case .toMany(let members):
                    for member in members.added where !member.object.isDeleted {
                        try SavePreparation.checkDestination(member.object, of: object, slot)
                    }
                }
            }
        }
    }

    /// Assigns a store to every new object: the one that the program assigned, else the store of its relatives, else
    /// the first that accepts it.
    final func assignStores(to objects: [NSManagedObject], in coordinator: NSPersistentStoreCoordinator) throws {
        var candidates: [Int: [AttachedStore]] = [:]
        // The home from which and to which objects of one entity move; usually all of them.
        var move: (from: ObjectHome, to: ObjectHome)?
        try objects.forEachHeld { object in
            guard object.storeIndex == 0 else { return }
            if let move, object.home === move.from {
                object.move(to: move.to)
                return
            }
            let runtime = object.runtime
            let stores = candidates[runtime.ordinal] ?? writableStores(for: runtime)
            candidates[runtime.ordinal] = stores
            guard let first = stores.first else {
                throw CoreDataErrors.noWritableStore(entity: runtime.name, in: coordinator)
            }
            if stores.count == 1 {
                let home = registry.home(of: runtime, in: first)
                move = (object.home, home)
                object.move(to: home)
                return
            }
            object.move(to: registry.home(of: runtime, in: storeOfRelatives(of: object, among: stores) ?? first))
        }
    }

    /// Returns the store to which a save would assign a new object, if nothing else changes. If all stores of its
    /// entity are read-only, returns the first.
    final func futureStore(of object: NSManagedObject) -> AttachedStore? {
        let stores = writableStores(for: object.runtime)
        guard stores.count > 1 else { return stores.first ?? storeForNew(object.runtime) }
        return storeOfRelatives(of: object, among: stores) ?? stores[0]
    }

    /// Returns the stores that have the entity itself: other stores may have only some of its subentities.
    private func writableStores(for runtime: EntityRuntime) -> [AttachedStore] {
        stores(for: runtime, affected: nil).filter { !$0.isReadOnly && $0.source.includes(entity: runtime.ordinal) }
    }

    private func storeOfRelatives(of object: NSManagedObject, among stores: [AttachedStore]) -> AttachedStore? {
        object.runtime.relationSlots.lazy
            .filter { !object.runtime.slots[$0].isToMany }
            .compactMap { object.toOne($0)?.home.store }
            .first { store in stores.contains { $0 === store } }
    }
}
