import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// A save, on one screen: hooks and validation until nothing changes any more, then one transaction per store,
// then what was written becomes what is known.
extension NSManagedObjectContext {
    /// What ``save()`` does.
    final func saveChanges() throws {
        checkOwned("save()")
        isSaving = true
        defer { isSaving = false }
        processPendingChanges()
        guard let coordinator else {
            guard hasChanges else { return }
            throw CoreDataErrors.coreData("The context has no persistentStoreCoordinator to save to.")
        }
        guard hasChanges || !checkedList.isEmpty || keptParent == nil && coordinator.hasUnsavedMetadata else { return }
        // Also what could not be read since the last save: what was set meanwhile may come of it.
        try checkReads()
        guard keptParent != nil || !coordinator.persistentStores.isEmpty else {
            throw CoreDataErrors.coreData(
                "This NSPersistentStoreCoordinator has no persistent stores. It cannot perform a save operation.")
        }
        if ContextNotification.willSave.isWanted {
            NotificationCenter.default.post(name: ContextNotification.willSave.name, object: self)
        }
        try settle()
        var outcome = SavedObjects()
        try write(to: coordinator, outcome: &outcome)
        finish(outcome)
    }

    // MARK: Before

    /// Calls `willSave` and validates until no hook changes anything any more.
    private func settle() throws {
        var changed = changedLists()
        var rounds = 0
        while !changed.isEmpty {
            // Whoever is changed by a hook, its own too, has its hook called again.
            var next = changed
            while !next.isEmpty {
                rounds += 1
                if rounds > 1000 { throw CoreDataErrors.neverSettles() }
                for objects in next { objects.forEachHeld { $0.willSave() } }
                next = processPendingChanges(addingTo: &changed)
                try checkReads()
            }
            try validate(changed)
            // What a validator changed is validated again.
            changed = []
            _ = processPendingChanges(addingTo: &changed)
        }
    }

    private var eventObjects: [NSManagedObject] { event.inserted + event.updated + event.deleted }

    /// Ends the event, and adds to the lists what it changed and what is not in them; returns all that it changed.
    private func processPendingChanges(addingTo changed: inout [[NSManagedObject]]) -> [[NSManagedObject]] {
        propagateDeletes()
        let touched = eventObjects
        guard !touched.isEmpty else { return [] }
        var seen = Set(changed.joined().map(ObjectReference.init))
        let new = touched.filter { seen.insert(ObjectReference($0)).inserted }
        processPendingChanges()
        if !new.isEmpty { changed.append(new) }
        var told: Set<ObjectReference> = []
        let next = touched.filter { $0.hasChanges && told.insert(ObjectReference($0)).inserted }
        return next.isEmpty ? [] : [next]
    }

    /// What is to be saved, as it is listed: to put it into one list would count a reference to every object.
    private func changedLists() -> [[NSManagedObject]] {
        [
            current(insertedList) { $0.isInserted }, current(updatedList) { $0.isUpdated },
            current(deletedList) { $0.isDeleted },
        ].filter { !$0.isEmpty }
    }

    /// Those of a list that still have the state: most often all, and then the list itself and no copy.
    private func current(
        _ list: [NSManagedObject], _ isCurrent: (NSManagedObject) -> Bool
    ) -> [NSManagedObject] {
        list.allHeldSatisfy(isCurrent) ? list : list.filter(isCurrent)
    }

    private func validate(_ lists: [[NSManagedObject]]) throws {
        var errors: [any Error] = []
        let losses = losses
        for objects in lists {
            objects.forEachHeld { object in
                guard object.hasChanges, !object.flags.contains(.inaccessible) else { return }
                do {
                    if object.isDeleted {
                        try object.validateForDelete()
                    } else if object.isInserted {
                        try object.validateForInsert()
                    } else {
                        try object.validateForUpdate()
                    }
                } catch { errors.append(error) }
            }
        }
        try checkReads()
        if errors.isEmpty, self.losses != losses {
            // Validation itself found rows gone, perhaps those that objects lead to which had been validated before.
            for object in lists.joined() where object.hasChanges && !object.isDeleted {
                object.validateDestinations(&errors)
            }
        }
        if let error = CoreDataErrors.combined(errors) { throw error }
    }

    // MARK: Writing

    /// What was written to which store.
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

    private func write(to coordinator: NSPersistentStoreCoordinator, outcome: inout SavedObjects) throws {
        let inserted = current(insertedList) { $0.isInserted && !$0.isDeleted }
        let updated = current(updatedList) { $0.isUpdated && !$0.isDeleted }
        let deleted = current(deletedList) { $0.isDeleted && !$0.flags.contains(.inaccessible) }
        if keptParent != nil {
            try saveToParent(inserted: inserted, updated: updated, deleted: deleted)
            (outcome.inserted, outcome.updated) = (inserted, updated)
            outcome.deleted = current(deletedList) { $0.isDeleted }
            return
        }
        try assignStores(to: inserted, in: coordinator)
        let checked = checkedList.filter { $0.isStored && !$0.isDeleted && $0.registry === registry }
        let stores = coordinator.attachedStores
        if stores.count > 1 { try checkStores(inserted, updated, deleted) }
        var failures: [(AttachedStore, any Error)] = []
        var isAnythingWritten = false
        for store in stores {
            let own = { (objects: [NSManagedObject]) in
                stores.count == 1 ? objects : objects.filter { $0.storeIndex == store.index }
            }
            let preparation = SavePreparation(
                context: self, store: store, inserted: own(inserted), updated: own(updated), deleted: own(deleted),
                checked: own(checked))
            do {
                let saved = try preparation.run()
                isAnythingWritten = isAnythingWritten || saved.writesAnything
                outcome.add(preparation)
            } catch {
                failures.append((store, CoreDataErrors.converted(error, store: store, context: self)))
            }
        }
        outcome.deleted += deletedList.filter { $0.isDeleted && $0.flags.contains(.inaccessible) }
        guard let first = failures.first else { return }
        if !isAnythingWritten || stores.count == 1 {
            throw failures.count == 1 ? first.1 : CoreDataErrors.incompleteSave(failures.map { ($0.0.store, $0.1) })
        }
        finish(outcome)
        throw CoreDataErrors.incompleteSave(failures.map { ($0.0.store, $0.1) })
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
    private func assignStores(to objects: [NSManagedObject], in coordinator: NSPersistentStoreCoordinator) throws {
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
                ?? self.stores(for: runtime, affected: nil).filter { !$0.isReadOnly }
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

    // MARK: After

    /// What was written is clean now; hooks and notifications tell of it.
    private func finish(_ saved: SavedObjects) {
        saved.inserted.forEachHeld { $0.flags.subtract([.inserted, .new]) }
        saved.updated.forEachHeld { $0.flags.remove(.updated) }
        saved.deleted.forEachHeld { $0.flags.remove(.deleted) }
        checkedList = []
        registry.mayHaveDangling = false
        insertedList = stillListed(insertedList, .inserted, .listedInserted)
        updatedList = stillListed(updatedList, .updated, .listedUpdated)
        deletedList = stillListed(deletedList, .deleted, .listedDeleted)
        saved.inserted.forEachHeld { $0.didSave() }
        saved.updated.forEachHeld { $0.didSave() }
        saved.deleted.forEachHeld { $0.didSave() }
        detach(saved.deleted)
        postDidSave(saved)
        saved.deleted.forEachHeld { $0.leaveRelations() }
    }

    /// Those of a list that have the state again or still, because a hook changed them.
    private func stillListed(
        _ list: [NSManagedObject], _ state: ObjectFlags, _ listed: ObjectFlags
    ) -> [NSManagedObject] {
        var kept: [NSManagedObject] = []
        list.forEachHeld { object in
            if object.flags.contains(state) { kept.append(object) } else { object.flags.remove(listed) }
        }
        return kept
    }

    /// A deleted object is in no context any more; its ID can still be read.
    final func detach(_ objects: [NSManagedObject]) {
        registry.unregister(objects)
        var move: (from: ObjectHome, to: ObjectHome)?
        objects.forEachHeld { object in
            object.flags.subtract([.registered, .updated, .inserted])
            if let move, object.home === move.from {
                object.home = move.to
            } else {
                let outside = registry.homeOutside(object.home)
                move = (object.home, outside)
                object.home = outside
            }
        }
    }

    private func postDidSave(_ saved: SavedObjects) {
        let center = NotificationCenter.default
        if ContextNotification.didSave.isWanted {
            let objects: [AnyHashable: Any] = [
                NSInsertedObjectsKey: Set(saved.inserted), NSUpdatedObjectsKey: Set(saved.updated),
                NSDeletedObjectsKey: Set(saved.deleted), "managedObjectContext": self,
            ]
            center.post(name: ContextNotification.didSave.name, object: self, userInfo: objects)
        }
        if ContextNotification.didSaveObjectIDs.isWanted {
            let ids: [AnyHashable: Any] = [
                NSInsertedObjectIDsKey: Set(saved.inserted.map(\.objectID)),
                NSUpdatedObjectIDsKey: Set(saved.updated.map(\.objectID)),
                NSDeletedObjectIDsKey: Set(saved.deleted.map(\.objectID)), "managedObjectContext": self,
            ]
            center.post(name: ContextNotification.didSaveObjectIDs.name, object: self, userInfo: ids)
        }
    }

    /// Gives new objects their permanent IDs before they are saved; they stay inserted.
    ///
    /// - Throws: where no store takes an object, or the keys cannot be reserved; then no object has changed.
    public final func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        checkOwned("obtainPermanentIDs(for:)")
        let coordinator = try coordinatorForRequest()
        var new = objects.filter { $0.registry === registry && $0.hasTemporaryKey }
        if keptParent != nil {
            try obtainInParent(new.filter(\.isStored))
            new = new.filter(\.hasTemporaryKey)
        }
        try assignStores(to: new.filter { $0.storeIndex == 0 }, in: coordinator)
        let groups = Dictionary(grouping: new) { [Int($0.storeIndex), $0.runtime.root] }
        var keys: [(NSManagedObject, AttachedStore, Int64)] = []
        for (group, members) in groups {
            guard let store = store(at: Int32(group[0])) else { continue }
            let range = try CoreDataErrors.converting {
                try store.source.allocateKeys(root: group[1], count: members.count)
            }
            for (object, key) in zip(members, range) { keys.append((object, store, key)) }
        }
        for (object, store, key) in keys {
            let temporaryKey = object.primaryKey
            object.primaryKey = key
            becomePermanent([object], 0..<1, in: store, temporaryKeys: [temporaryKey])
        }
    }

    /// The objects of the range, which have got their keys, are known under them from now on; those without a temporary key
    /// were.
    final func becomePermanent(
        _ objects: [NSManagedObject], _ range: Range<Int>, in store: AttachedStore, temporaryKeys: [Int64]
    ) {
        objects.forEachHeld(in: range) { object in
            if object.storeIndex != store.index { object.home = registry.home(of: object.runtime, in: store) }
        }
        registry.rename(objects, in: range, temporaryKeys: temporaryKeys)
        // Rows that contexts have of one another may name them.
        let isKnownElsewhere = keptParent != nil || !children.isEmpty
        var index = range.lowerBound
        objects.forEachHeld(in: range) { object in
            defer { index += 1 }
            guard temporaryKeys[index] < 0 else { return }
            let isHeld = object.hasExtras && object.cachedID != nil
            // Somebody holds the temporary ID: it still leads here.
            if isHeld { object.renewID() }
            if isHeld || isKnownElsewhere { registry.alias(temporaryKeys[index], to: object.objectID) }
        }
        if isKnownElsewhere { renamings.wrappingAdd(1, ordering: .releasing) }
    }

    /// Has the parent get permanent IDs for objects that it knows by temporary ones.
    private func obtainInParent(_ objects: [NSManagedObject]) throws {
        guard !objects.isEmpty else { return }
        adoptPermanentKeys()
        let keys = objects.filter(\.hasTemporaryKey).map(\.primaryKey)
        try withParent { parent in
            try parent.obtainPermanentIDs(
                for: keys.compactMap { parent.registry.object(store: 0, root: 0, primaryKey: $0) })
        }
        adoptPermanentKeys()
    }
}
