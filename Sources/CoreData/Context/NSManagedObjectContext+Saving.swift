import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// A save on one screen: hooks and validation until nothing changes any more, then one transaction per store, then the
// written values become the known ones.
extension NSManagedObjectContext {
    /// What ``save()`` does.
    final func saveChanges() throws {
        checkOwned("save()")
        try beginSave()
        defer { endSave() }
        processPendingChanges()
        guard let coordinator else {
            guard hasChanges else { return }
            throw CoreDataErrors.coreData("The context has no persistentStoreCoordinator to save to.")
        }
        guard
            hasChanges || !pendingChanges.versionChecked.isEmpty
                || !parentLink.isChild && coordinator.hasUnsavedMetadata
        else {
            return tellChildrenOfDiscardedInsertions()
        }
        // Also reports reads that failed since the last save: values that were set meanwhile may depend on them.
        try checkReads()
        guard parentLink.isChild || !coordinator.persistentStores.isEmpty else {
            throw CoreDataErrors.coreData(
                "This NSPersistentStoreCoordinator has no persistent stores. It cannot perform a save operation.")
        }
        if ContextNotification.willSave.isWanted {
            NotificationCenter.default.post(name: ContextNotification.willSave.name, object: self)
        }
        try callHooksAndValidate()
        finish(try write(to: coordinator))
    }

    /// Writes the changes without hooks, validation and notifications. For objects that are validated later; see
    /// ``NSMigrationManager``.
    final func saveUnvalidated() throws {
        checkOwned("save()")
        try beginSave()
        defer { endSave() }
        processPendingChanges()
        guard let coordinator, hasChanges else { return }
        try checkReads()
        finish(try write(to: coordinator), tells: false)
    }

    // MARK: Before

    /// Calls `willSave` and validates, until a round in which no hook changes anything.
    private func callHooksAndValidate() throws {
        saveState.touched = []
        defer { saveState.touched = nil }
        var changed = changedLists()
        var rounds = 0
        while !changed.isEmpty {
            // If a hook changes an object, also its own, that object's hook is called again.
            var next = changed
            while !next.isEmpty {
                rounds += 1
                if rounds > 1000 { throw CoreDataErrors.neverSettles() }
                for objects in next { objects.forEachHeld { if $0.hasChanges { $0.willSave() } } }
                next = processPendingChanges(addingTo: &changed)
                try checkReads()
            }
            try validate(changed)
            // Validate again the objects that a validator changed.
            changed = []
            _ = processPendingChanges(addingTo: &changed)
        }
    }

    /// Ends the event, and adds to the lists what changed since the last call and is not in them; returns all that
    /// changed.
    ///
    /// A hook that fetches ends an event, too: its objects count as well.
    private func processPendingChanges(addingTo changed: inout [[NSManagedObject]]) -> [[NSManagedObject]] {
        propagateDeletes()
        if !(pendingChanges.event.inserted.isEmpty && pendingChanges.event.updated.isEmpty
            && pendingChanges.event.deleted.isEmpty)
        {
            processPendingChanges()
        }
        guard let touched = saveState.touched, !touched.isEmpty else { return [] }
        saveState.touched = []
        var seen = Set(changed.joined().map(ObjectReference.init))
        let new = touched.filter { seen.insert(ObjectReference($0)).inserted }
        if !new.isEmpty { changed.append(new) }
        var told: Set<ObjectReference> = []
        let next = touched.filter { $0.hasChanges && told.insert(ObjectReference($0)).inserted }
        return next.isEmpty ? [] : [next]
    }

    /// Returns the changed objects as lists. One joined list would retain and release every object.
    private func changedLists() -> [[NSManagedObject]] {
        [
            current(pendingChanges.inserted) { $0.isInserted }, current(pendingChanges.updated) { $0.isUpdated },
            current(pendingChanges.deleted) { $0.isDeleted },
        ].filter { !$0.isEmpty }
    }

    /// Returns the objects of a list that still have the state. Usually these are all, and the list itself is returned
    /// without a copy.
    final func current(
        _ list: [NSManagedObject], _ isCurrent: (NSManagedObject) -> Bool
    ) -> [NSManagedObject] {
        list.allHeldSatisfy(isCurrent) ? list : list.filter(isCurrent)
    }

    /// Throws the validation errors of the objects to be saved.
    final func validate(_ lists: [[NSManagedObject]]) throws {
        var errors: [any Error] = []
        let missingBefore = rowReading.missingRowCount
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
        if errors.isEmpty, rowReading.missingRowCount != missingBefore {
            // Validation found deleted rows. Objects that were validated before may refer to them.
            for object in lists.joined() where object.hasChanges && !object.isDeleted {
                object.validateDestinations(&errors)
            }
        }
        if let error = CoreDataErrors.combined(errors) { throw error }
    }

    // MARK: After

    /// Calls hooks and posts notifications for the written objects, which are clean now.
    final func finish(_ saved: SavedObjects, tells: Bool = true) {
        if isSaving { saveState.phase = .notifying }
        advanceGeneration()
        pendingChanges.versionChecked = []
        registry.mayHaveDangling = false
        if !undoRecording.deletionRecords.isEmpty {
            undoRecording.deletionRecords = [:]
            undoRecording.reappliedDeletions = []
        }
        pendingChanges.inserted = stillListed(pendingChanges.inserted, .inserted, .listedInserted)
        pendingChanges.updated = stillListed(pendingChanges.updated, .updated, .listedUpdated)
        pendingChanges.deleted = stillListed(pendingChanges.deleted, .deleted, .listedDeleted)
        if tells {
            saved.inserted.forEachHeld { $0.didSave() }
            saved.updated.forEachHeld { $0.didSave() }
            saved.deleted.forEachHeld { $0.didSave() }
        }
        detach(saved.deleted)
        detach(saved.vanished)
        observers.followers.forEach { $0.contextDidSave() }
        saveState.recordedTransactions = saved.transactions
        if tells { postDidSave(saved) }
        pendingChanges.discardedInsertions = []
        saved.deleted.forEachHeld { $0.leaveRelations() }
        saved.vanished.forEachHeld { $0.leaveRelations() }
        tellOfDerivedValues()
    }

    /// Tells lists that follow the context about rows whose derived attributes the save changed.
    private func tellOfDerivedValues() {
        guard !observers.followers.isEmpty, !pendingChanges.event.mergedUpdates.isEmpty else { return }
        var derived = ChangeEvent()
        swap(&derived.mergedUpdates, &pendingChanges.event.mergedUpdates)
        observers.followers.forEach { $0.contextDidChange(derived) }
    }

    /// Returns the objects of a list that have the state still or again, because a hook changed them.
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
            object.flags.subtract([.registered, .updated, .inserted, .leaving])
            if let move, object.home === move.from {
                object.move(to: move.to)
            } else {
                let outside = registry.homeOutside(object.home)
                move = (object.home, outside)
                object.move(to: outside)
            }
        }
    }

    private func postDidSave(_ saved: SavedObjects) {
        let center = NotificationCenter.default
        if ContextNotification.didSave.isWanted {
            var objects: [AnyHashable: Any] = [
                NSInsertedObjectsKey: Set(saved.inserted), NSUpdatedObjectsKey: Set(saved.told),
                NSDeletedObjectsKey: Set(saved.deleted), "managedObjectContext": self,
            ]
            objects["newChangeToken"] = historyTokenAfterSave
            var ids = SavedIDs(saved)
            ids.discardedInsertions = takeDiscardedInsertions()
            objects[SavedIDs.userInfoKey] = ids
            objects[NSManagedObjectContextQueryGenerationKey] = tokenAfterSave()
            center.post(name: ContextNotification.didSave.name, object: self, userInfo: objects)
        }
        if ContextNotification.didSaveObjectIDs.isWanted {
            var ids: [AnyHashable: Any] = [
                NSInsertedObjectIDsKey: Set(saved.inserted.map(\.objectID)),
                NSUpdatedObjectIDsKey: Set(saved.told.map(\.objectID)),
                NSDeletedObjectIDsKey: Set(saved.deleted.map(\.objectID)), "managedObjectContext": self,
            ]
            ids["newChangeToken"] = historyTokenAfterSave
            ids[NSManagedObjectContextQueryGenerationKey] = tokenAfterSave()
            center.post(name: ContextNotification.didSaveObjectIDs.name, object: self, userInfo: ids)
        }
    }

    /// The new objects that have left since the last save and have not come back.
    private func takeDiscardedInsertions() -> [NSManagedObjectID] {
        if pendingChanges.discardedInsertions.isEmpty { return [] }
        defer { pendingChanges.discardedInsertions = [] }
        // In the place of some another object may be since a uniqueness constraint said that they are the same.
        return pendingChanges.discardedInsertions.filter { id in
            knownObject(for: id) == nil && (!id.isTemporaryID || permanentID(forTemporaryKey: id.primaryKey) == nil)
        }
    }

    /// There is nothing to save, but children that merge automatically may have objects that this context discarded.
    private func tellChildrenOfDiscardedInsertions() {
        let saved = SavedIDs(discardedInsertions: takeDiscardedInsertions())
        if saved.discardedInsertions.isEmpty { return }
        for child in children.contexts {
            child.perform {
                guard child.automaticallyMergesChangesFromParent else { return }
                child.merge(saved, staleness: child.stalenessInterval)
            }
        }
    }

    /// The position of the histories after the last save; `nil` if no store recorded it.
    ///
    /// Cost: one statement for each store that the save did not write.
    package final var historyTokenAfterSave: NSPersistentHistoryToken? {
        guard !saveState.recordedTransactions.isEmpty, let coordinator else { return nil }
        // A token that does not name a store stands for the beginning of its history.
        let others = coordinator.attachedStores.filter { saveState.recordedTransactions[$0.identifier] == nil }.map(
            \.store)
        let known = others.isEmpty ? nil : coordinator.currentPersistentHistoryToken(fromStores: others)
        return NSPersistentHistoryToken(
            saveState.recordedTransactions.merging(known?.positions ?? [:]) { saved, _ in saved })
    }

    /// Implements the open method of the class.
    final func givePermanentIDs(for objects: [NSManagedObject]) throws {
        checkOwned("obtainPermanentIDs(for:)")
        let coordinator = try coordinatorForRequest()
        var new = objects.filter { $0.registry === registry && $0.hasTemporaryKey }
        if parentLink.isChild {
            try obtainInParent(new.filter(\.isStored))
            new = new.filter { $0.hasTemporaryKey && !$0.isStored }
        }
        try assignStores(to: new.filter { $0.storeIndex == 0 }, in: coordinator)
        let groups = Dictionary(grouping: new) { [Int($0.storeIndex), $0.runtime.root] }
        var keys: [(NSManagedObject, AttachedStore, Int64)] = []
        for (group, members) in groups {
            guard let store = store(at: Int32(group[0])) else { continue }
            let new = try CoreDataErrors.converting {
                try store.objectSource?.keys(for: members)
                    ?? Array(store.target.allocateKeys(root: group[1], count: members.count))
            }
            for (object, key) in zip(members, new) { keys.append((object, store, key)) }
        }
        for (object, store, key) in keys {
            let temporaryKey = object.primaryKey
            object.take(key: key)
            becomePermanent([object], 0..<1, in: store, temporaryKeys: [temporaryKey])
        }
        observers.followers.forEach { $0.contextDidSave() }
    }

    /// The objects of the range, which have got their keys, are known under them from now on; those without a temporary
    /// key were.
    final func becomePermanent(
        _ objects: [NSManagedObject], _ range: Range<Int>, in store: AttachedStore, temporaryKeys: [Int64]
    ) {
        objects.forEachHeld(in: range) { object in
            if object.storeIndex != store.index { object.move(to: registry.home(of: object.runtime, in: store)) }
        }
        registry.rename(objects, in: range, temporaryKeys: temporaryKeys)
        let isKnownElsewhere = isKnownElsewhere
        var index = range.lowerBound
        objects.forEachHeld(in: range) { object in
            defer { index += 1 }
            guard temporaryKeys[index] < 0 else { return }
            let isHeld = object.hasExtras && object.cachedID != nil
            // Other code holds the temporary ID, which still identifies this object.
            if isHeld { object.renewID() }
            if isHeld || isKnownElsewhere { registry.alias(temporaryKeys[index], to: object.objectID) }
        }
        if isKnownElsewhere { children.notePermanentKeys() }
    }

    /// Asks the parent, or one of its ancestors, for permanent IDs of objects that it knows by temporary ones.
    ///
    /// - Throws: 133000 for objects that no ancestor has any more.
    private func obtainInParent(_ objects: [NSManagedObject]) throws {
        guard !objects.isEmpty else { return }
        adoptPermanentKeys()
        let ids = objects.filter(\.hasTemporaryKey).map(\.objectID)
        guard !ids.isEmpty else { return }
        try withParent { parent in
            let found = try ids.map { id in
                guard let object = parent.objectOfTemporaryID(id) else { throw CoreDataErrors.missingObject(id) }
                return object
            }
            try parent.obtainPermanentIDs(for: found)
        }
        adoptPermanentKeys()
    }

    /// The object of a child's temporary ID; one that only an ancestor has is a fault here.
    private func objectOfTemporaryID(_ id: NSManagedObjectID) -> NSManagedObject? {
        if let known = knownObject(for: id) { return known }
        return parentLink.isChild ? object(with: id) : nil
    }
}
