import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// Forgetting, reading again, taking back.
extension NSManagedObjectContext {
    /// Reads an object's values again, with or without its unsaved changes.
    ///
    /// - Parameters:
    ///   - object: an object of the context.
    ///   - flag: `false` makes the object a fault and loses its changes; `true` puts them on top of the values that are
    ///     read.
    public final func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        checkOwned("refresh(_:mergeChanges:)")
        guard object.registry === registry, !object.flags.contains(.inaccessible) else { return }
        if object.isInserted { return flag ? () : forgetValues(ofNew: object) }
        guard object.isStored else { return }
        guard let store = store(at: object.storeIndex) else { return }
        if flag, object.isUpdated || object.isDeleted {
            let word: UInt
            do {
                word = try store.source.rowWord(object.primaryKey, root: object.home.root, staleness: stalenessInterval)
            } catch {
                // It keeps the row that it has.
                let error = CoreDataErrors.converted(error, store: store, context: self)
                CoreDataLog.general.error("\(object.objectID) could not be refreshed: \(error.localizedDescription)")
                return
            }
            guard word != 0 else { return lose(object, slot: -1) }
            object.takeRow(word)
            object.forgetFetchedProperties()
            rebase(object)
            object.withoutNotingChanges { object.awake(fromSnapshotEvents: .refresh) }
        } else {
            object.becomeFault()
            object.flags.remove(.updated)
            object.takeRow(
                store.source.cachedWord(object.primaryKey, root: object.home.root, staleness: stalenessInterval))
        }
        event.refreshed.append(object)
    }

    /// A new object loses what was set and is as it was made: it has its default values, and no object refers to it.
    private func forgetValues(ofNew object: NSManagedObject) {
        object.withoutNotingChanges { object.leaveInverses() }
        object.values = nil
        object.relations.removeAll()
        object.forgetFetchedProperties()
        object.flags.remove(.wideInteger)
        object.withoutNotingChanges { object.awake(fromSnapshotEvents: .refresh) }
        event.refreshed.append(object)
    }

    /// Refreshes every registered object; those with changes keep them.
    public final func refreshAllObjects() {
        for object in registry.objects { refresh(object, mergeChanges: true) }
    }

    /// Puts the object's changes on top of a row that is new to it; what nobody changed is the row's.
    final func rebase(_ object: NSManagedObject) {
        if let values = object.values {
            for slot in object.runtime.slots.indices
            where !values.changed.contains(slot) && !object.runtime.slots[slot].property.isTransient {
                values[slot] = nil
            }
        }
        for (index, relation) in object.relations.enumerated() {
            switch relation {
            case .unread: break
            case .toOne:
                let slot = object.runtime.relationSlots[index]
                if object.values?.changed.contains(slot) != true { object.relations.forget(index) }
            case .toMany(let members):
                if !members.hasChanges {
                    object.relations.forget(index)
                } else if members.isKnown {
                    rebase(members, of: object, slot: object.runtime.relationSlots[index])
                }
            }
        }
    }

    /// Puts what was added, removed and moved on top of the members that the store has now.
    private func rebase(_ members: ToManyMembers, of object: NSManagedObject, slot: Int) {
        guard !object.runtime.slots[slot].property.isTransient,
            let stored = storedMembers(of: object, slot: slot, refreshes: true)
        else { return }
        members.rebase(onto: stored)
    }

    /// The object takes a newer row; its unsaved changes stay.
    final func merge(_ row: RowSnapshot, into object: NSManagedObject) {
        object.row = row
        object.forgetFetchedProperties()
        rebase(object)
        object.withoutNotingChanges { object.awake(fromSnapshotEvents: .refresh) }
        event.refreshed.append(object)
    }

    /// Takes back every unsaved change: inserted objects leave, deleted ones return, changed ones are as they were
    /// when they were last read or saved.
    public final func rollback() {
        checkOwned("rollback()")
        processPendingChanges()
        let inserted = insertedList.filter { $0.isInserted }
        let changed = updatedList.filter { $0.isUpdated } + deletedList.filter { $0.isDeleted && $0.isStored }
        for object in inserted { forget(object) }
        for object in changed where !object.flags.contains(.inaccessible) {
            object.values = nil
            object.relations.removeAll()
            object.forgetFetchedProperties()
            object.flags.subtract([.updated, .deleted])
        }
        clearLists()
        readFailure = nil
        for object in changed { object.withoutNotingChanges { object.awake(fromSnapshotEvents: .rollback) } }
        event.deleted += inserted
        event.refreshed += changed
        processPendingChanges()
        inserted.forEachHeld { $0.leaveRelations() }
    }

    /// Forgets every object; those that are still held are of no use any more.
    public final func reset() {
        checkOwned("reset()")
        let objects = registry.objects
        let ids = ContextNotification.objectsDidChange.isWanted ? objects.map(\.objectID) : []
        for object in objects {
            object.flags = object.flags.intersection(.new).union(.inaccessible)
            object.values = nil
            object.relations.removeAll()
            object.forgetFetchedProperties()
            object.giveUpRow()
            object.home = registry.homeOutside(object.home)
        }
        registry.removeAll()
        clearLists()
        readFailure = nil
        event = ChangeEvent()
        retained = []
        guard !ids.isEmpty else { return }
        NotificationCenter.default.post(
            name: ContextNotification.objectsDidChange.name, object: self,
            userInfo: [NSInvalidatedAllObjectsKey: ids, "managedObjectContext": self])
    }

    private func clearLists() {
        for object in insertedList { object.flags.subtract([.listedInserted, .inserted]) }
        for object in updatedList { object.flags.subtract([.listedUpdated, .updated]) }
        for object in deletedList { object.flags.subtract([.listedDeleted, .deleted]) }
        insertedList = []
        updatedList = []
        deletedList = []
        checkedList = []
        registry.mayHaveDangling = false
        unpropagated = []
    }

    /// Says in which store a new object shall be saved.
    ///
    /// - Precondition: the object is new and the store's configuration has its entity.
    public final func assign(_ object: Any, to store: NSPersistentStore) {
        guard let object = object as? NSManagedObject, object.registry === registry, object.hasTemporaryKey
        else { preconditionFailure("assign(_:to:) takes a new object of this context.") }
        guard let attached = coordinator?.attachedStore(of: store),
            attached.source.includes(entity: object.runtime.ordinal)
        else {
            preconditionFailure("The store's configuration has no entity '\(object.runtime.name)'.")
        }
        object.home = registry.home(of: object.runtime, in: attached)
    }

    /// Has the next save fail if somebody else changes or deletes the object's row before, though nothing of it is changed here.
    ///
    /// For what the save depends on without writing it. The save adds one statement for each such object:
    ///
    ///     context.detectConflicts(for: account)
    ///     order.total = account.discounted(total)
    ///     try context.save()                  // SELECT 1 FROM ZACCOUNT … WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?
    ///
    /// The object counts as it was when it was last read; one that was not is read now. A save that succeeds, `rollback()`
    /// and `reset()` end it.
    public final func detectConflicts(for object: NSManagedObject) {
        checkOwned("detectConflicts(for:)")
        guard object.registry === registry, object.isStored, !checkedList.contains(where: { $0 === object }) else {
            return
        }
        do {
            try readRows(of: [object])
        } catch {
            noteReadFailure(error, "\(object.objectID)")
        }
        checkedList.append(object)
    }

    // MARK: Merging

    /// Takes over what another context saved: changed objects are refreshed, deleted ones deleted, inserted ones
    /// made known. Unsaved changes of this context stay.
    ///
    ///     NotificationCenter.default.addObserver(
    ///         forName: .NSManagedObjectContextDidSave, object: background, queue: nil
    ///     ) { note in
    ///         view.perform { view.mergeChanges(fromContextDidSave: note) }
    ///     }
    public final func mergeChanges(fromContextDidSave notification: Notification) {
        checkOwned("mergeChanges(fromContextDidSave:)")
        let saving = notification.object as? NSManagedObjectContext
        // What another coordinator saved is not in the rows that this one has in memory.
        let isWithinCoordinator = saving != nil && saving?.coordinator === coordinator
        merge(SavedIDs(notification), staleness: isWithinCoordinator ? stalenessInterval : 0)
    }

    /// The IDs in a notification or dictionary that tells of a save.
    struct SavedIDs: Sendable {
        var inserted: [NSManagedObjectID]
        var updated: [NSManagedObjectID]
        var deleted: [NSManagedObjectID]

        init(_ notification: Notification) {
            let userInfo = notification.userInfo ?? [:]
            inserted = Self.ids(userInfo, NSInsertedObjectsKey, NSInsertedObjectIDsKey)
            updated =
                Self.ids(userInfo, NSUpdatedObjectsKey, NSUpdatedObjectIDsKey)
                + Self.ids(userInfo, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey)
            deleted = Self.ids(userInfo, NSDeletedObjectsKey, NSDeletedObjectIDsKey)
        }

        private static func ids(_ userInfo: [AnyHashable: Any], _ objects: String, _ ids: String) -> [NSManagedObjectID]
        {
            if let ids = userInfo[ids] as? Set<NSManagedObjectID> { return Array(ids) }
            if let objects = userInfo[objects] as? Set<NSManagedObject> { return objects.map(\.objectID) }
            if let ids = userInfo[objects] as? [NSManagedObjectID] { return ids }
            if let ids = userInfo[objects] as? Set<NSManagedObjectID> { return Array(ids) }
            return []
        }
    }

    /// `staleness` as in ``RowSource/rowWord(_:root:staleness:)``.
    final func merge(_ saved: SavedIDs, staleness: TimeInterval) {
        guard coordinator != nil else { return }
        var ids: [String: Set<NSManagedObjectID>] = [:]
        for id in saved.updated {
            guard let object = registeredObject(for: id), !object.flags.contains(.inaccessible) else { continue }
            guard let store = store(at: object.storeIndex) else { continue }
            do {
                let root = object.runtime.root
                guard let row = try store.source.row(object.primaryKey, root: root, staleness: staleness) else {
                    continue
                }
                ids[NSUpdatedObjectIDsKey, default: []].insert(object.objectID)
                if object.isFault {
                    object.row = row
                } else if !object.hasSameRow(as: row) || object.hasKnownMembers {
                    merge(row, into: object)
                    object.forgetUnchangedMembers()
                }
            } catch {
                let error = CoreDataErrors.converted(error, store: store, context: self)
                CoreDataLog.general.error("\(id) could not be merged: \(error.localizedDescription)")
            }
        }
        for id in saved.inserted {
            let object = object(with: id)
            ids[NSInsertedObjectIDsKey, default: []].insert(id)
            event.mergedInsertions.append(object)
        }
        var deleted: [NSManagedObject] = []
        for id in saved.deleted {
            guard let object = registeredObject(for: id) else { continue }
            deleted.append(object)
            ids[NSDeletedObjectIDsKey, default: []].insert(id)
            if !object.flags.contains(.eventDeleted) {
                object.flags.insert(.eventDeleted)
                event.deleted.append(object)
            }
            object.becomeInaccessible()
            object.flags.subtract([.updated, .deleted])
        }
        processPendingChanges()
        detach(deleted)
        if !deleted.isEmpty { registry.mayHaveDangling = true }
        guard !ids.isEmpty else { return }
        var userInfo: [AnyHashable: Any] = ["managedObjectContext": self]
        for (key, value) in ids { userInfo[key] = value }
        NotificationCenter.default.post(
            name: ContextNotification.didMergeObjectIDs.name, object: self, userInfo: userInfo)
    }

    /// A trigger of the store wrote a derived attribute of that row: the object shows it when it is next read.
    final func derivedValuesChanged(_ key: RowKey, in store: AttachedStore) {
        guard let runtime = coordinator?.runtime.entities[key.entity],
            let object = registry.object(store: store.index, root: runtime.root, primaryKey: key.primaryKey)
        else { return }
        // A fault may have a row in hand too.
        if object.isFault { return object.giveUpRow() }
        if let row = try? store.source.row(key.primaryKey, root: runtime.root, staleness: -1) {
            object.row = row
            rebase(object)
        }
    }

    final func setMergesAutomatically(_ merges: Bool) {
        if let merging { NotificationCenter.default.removeObserver(merging) }
        merging = nil
        guard merges else { return }
        merging = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
        ) { [weak self] notification in
            guard let self, let saving = notification.object as? NSManagedObjectContext, saving !== self,
                let coordinator = saving.coordinator, coordinator === self.coordinator
            else { return }
            let saved = SavedIDs(notification)
            self.perform { self.merge(saved, staleness: self.stalenessInterval) }
        }
    }
}

extension NSManagedObject {
    /// An object that has left its context refers to no others: two that did would keep each other for ever.
    final func leaveRelations() {
        guard registry == nil else { return }
        relations.removeAll()
        forgetFetchedProperties()
    }

    final var hasKnownMembers: Bool {
        relations.contains { relation in
            if case .toMany(let members) = relation { return members.isKnown }
            return false
        }
    }

    /// To-many relationships without changes of this context are read again when they are next asked for.
    final func forgetUnchangedMembers() {
        for (index, relation) in relations.enumerated() {
            if case .toMany(let members) = relation, !members.hasChanges { relations.forget(index) }
        }
    }
}
