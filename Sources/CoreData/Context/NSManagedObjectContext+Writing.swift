import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// The part of a save that writes: one transaction per store, again where the merge policy has resolved what was in the way.
extension NSManagedObjectContext {
    /// What was written, to whichever store.
    struct SavedObjects {
        var inserted: [NSManagedObject] = []
        var updated: [NSManagedObject] = []
        var deleted: [NSManagedObject] = []

        mutating func add(_ saved: SavePreparation) {
            Self.append(saved.inserted, to: &inserted)
            Self.append(saved.updated, to: &updated)
            Self.append(saved.deleted, to: &deleted)
        }

        /// Of a single store the list itself and no copy.
        private static func append(_ objects: [NSManagedObject], to list: inout [NSManagedObject]) {
            if list.isEmpty { list = objects } else { list += objects }
        }
    }

    /// What one attempt came to.
    private struct Attempt {
        /// The stores that have been written, in this attempt and before.
        var done: Set<Int32> = []
        var isAnythingWritten = false
        var failures: [(store: AttachedStore, error: any Error)] = []
        var conflicts = SaveConflicts()
    }

    /// Writes all that changed. What is in the way is shown to the merge policy; where that resolves it the stores that are left
    /// are tried again. After an error the context is as it was before, but for what another store has taken already.
    final func write(to coordinator: NSPersistentStoreCoordinator) throws -> SavedObjects {
        var outcome = SavedObjects()
        var attempt = Attempt()
        var rounds: ConflictRounds?
        do {
            while true {
                try write(to: coordinator.attachedStores, &attempt, &outcome)
                guard attempt.failures.isEmpty, let conflicts = attempt.conflicts.unlessNone else { break }
                let known = rounds ?? ConflictRounds(self)
                rounds = known
                do { try known.resolve(conflicts) } catch {
                    attempt.failures = conflicts.stores.map { ($0, error) }
                    attempt.conflicts = SaveConflicts()
                    break
                }
                attempt.conflicts = SaveConflicts()
            }
            if !attempt.failures.isEmpty { try throwFailures(of: attempt, &outcome, rounds) }
        } catch {
            rounds?.takeBack(except: attempt.done)
            throw error
        }
        outcome.deleted += lostDeletions()
        rounds?.finish()
        return outcome
    }

    /// Deleted objects without a row: there is nothing to write of them.
    private func lostDeletions() -> [NSManagedObject] {
        let lost = deletedList.filter { $0.isDeleted && $0.flags.contains(.inaccessible) }
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
        rounds?.takeBack(except: attempt.done)
        outcome.deleted += lostDeletions()
        finish(outcome)
        throw CoreDataErrors.incompleteSave(failures.map { ($0.store.store, $0.error) })
    }

    /// Tries every store that is not done.
    private func write(
        to stores: [AttachedStore], _ attempt: inout Attempt, _ outcome: inout SavedObjects
    ) throws {
        let inserted = current(insertedList) { $0.isInserted && !$0.isDeleted }
        let updated = current(updatedList) { $0.isUpdated && !$0.isDeleted }
        let deleted = current(deletedList) { $0.isDeleted && !$0.flags.contains(.inaccessible) }
        if let coordinator { try assignStores(to: inserted, in: coordinator) }
        let checked = checkedList.filter { $0.isStored && !$0.isDeleted && $0.registry === registry }
        try checkReach(inserted, updated, deleted, stores)
        if stores.count > 1 { try checkStores(inserted, updated, deleted) }
        for store in stores where !attempt.done.contains(store.index) {
            let own = { (objects: [NSManagedObject]) in
                stores.count == 1 ? objects : objects.filter { $0.storeIndex == store.index }
            }
            let preparation = SavePreparation(
                context: self, store: store, inserted: own(inserted), updated: own(updated), deleted: own(deleted),
                checked: own(checked))
            do {
                let saved = try preparation.run()
                attempt.isAnythingWritten = attempt.isAnythingWritten || saved.writesAnything
                attempt.done.insert(store.index)
                markClean(preparation)
                outcome.add(preparation)
            } catch let conflicts as SaveConflicts {
                attempt.conflicts.add(conflicts)
            } catch {
                attempt.failures.append((store, CoreDataErrors.converted(error, store: store, context: self)))
            }
        }
    }

    /// What was written is no change any more.
    private func markClean(_ saved: SavePreparation) {
        saved.inserted.forEachHeld { $0.flags.subtract([.inserted, .new]) }
        saved.updated.forEachHeld { $0.flags.remove(.updated) }
        saved.deleted.forEachHeld { $0.flags.remove(.deleted) }
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

    /// Throws for what one of several stores could not save whatever its rows are like, before anything is written to another:
    /// relationships from store to store, and changes of a store that is read-only.
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

    /// Every new object gets the store that it was assigned to, or its relatives', or the first that takes it.
    final func assignStores(to objects: [NSManagedObject], in coordinator: NSPersistentStoreCoordinator) throws {
        var candidates: [Int: [AttachedStore]] = [:]
        // Where objects of one entity go from one home to another, most often all of them.
        var move: (from: ObjectHome, to: ObjectHome)?
        try objects.forEachHeld { object in
            guard object.storeIndex == 0 else { return }
            if let move, object.home === move.from {
                object.home = move.to
                return
            }
            let runtime = object.runtime
            let stores =
                candidates[runtime.ordinal]
                ?? coordinator.stores(for: runtime, affected: nil).filter { !$0.isReadOnly }
            candidates[runtime.ordinal] = stores
            guard let first = stores.first else {
                throw CoreDataErrors.noWritableStore(entity: runtime.name, in: coordinator)
            }
            if stores.count == 1 {
                let home = registry.home(of: runtime, in: first)
                move = (object.home, home)
                object.home = home
                return
            }
            let relative = runtime.relationSlots.lazy
                .filter { !runtime.slots[$0].isToMany }
                .compactMap { object.toOne($0)?.home.store }
                .first { store in stores.contains { $0 === store } }
            object.home = registry.home(of: runtime, in: relative ?? first)
        }
    }
}
