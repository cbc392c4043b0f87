import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// Forgetting, reading again, taking back.
extension NSManagedObjectContext {
    /// Implements the open method of the class.
    final func refreshObject(_ object: NSManagedObject, mergeChanges flag: Bool) {
        checkOwned("refresh(_:mergeChanges:)")
        if isRefusedWhileWriting("refresh(_:mergeChanges:)") { return }
        adoptPermanentKeys()
        guard object.registry === registry else { return }
        if object.flags.contains(.inaccessible) { return refreshLost(object) }
        if object.isInserted { return flag ? () : forgetValues(ofNew: object) }
        guard object.isStored else { return }
        guard let store = store(at: object.storeIndex) else { return }
        // From here on the current state is known.
        object.extras?.savedTo = nil
        let leading = changedRelatives(of: object)
        // A store of the program's own class is asked for its current state, whatever its source has cached.
        store.objectSource?.forget(object.primaryKey, root: object.home.root)
        if flag, object.isUpdated || object.isDeleted {
            let row: RowSnapshot?
            do {
                row = try store.source.row(object.primaryKey, root: object.home.root, staleness: stalenessInterval)
            } catch {
                // It keeps the row that it has.
                let error = CoreDataErrors.converted(error, store: store, context: self)
                CoreDataLog.general.error("\(object.objectID) could not be refreshed: \(error.localizedDescription)")
                return
            }
            guard let row else { return lose(object, slot: -1) }
            merge(row, into: object)
            // Another save may have referred to it since its delete rules were applied.
            if object.isDeleted { applyDeleteRulesAgain(to: [object]) }
            return InverseReconciler(context: self).settle([object] + leading)
        } else {
            let others = object.isUpdated ? InverseRestoration(of: object, in: self) : nil
            object.replacingValues {
                object.becomeFault()
                object.flags.remove(.updated)
                object.takeRow(
                    store.source.cachedRow(object.primaryKey, root: object.home.root, staleness: stalenessInterval))
            }
            others?.follow()
            readOneToOnes(of: [object])
            giveUpPartnersLedElsewhere(of: object)
            InverseReconciler(context: self).settle(leading)
            if !pendingChanges.deleted.isEmpty {
                applyDeleteRulesAgain(to: (others?.deleted ?? []) + deletedDestinations(of: object))
            }
        }
        pendingChanges.event.refreshed.append(object)
        followTurn()
    }

    /// Reads the rows of faults whose one-to-one a change of this context may have replaced: only their rows tell.
    private func readOneToOnes(of objects: [NSManagedObject]) {
        guard !pendingChanges.updated.isEmpty else { return }
        do { try readRows(of: objects.filter { $0.isFault && !$0.hasRow && $0.home.hasOneToOne }) } catch {
            noteReadFailure(error, "\(objects.count) refreshed objects")
        }
    }

    /// Returns the changed objects at the other ends of the relationships that were read.
    private func changedRelatives(of object: NSManagedObject) -> [NSManagedObject] {
        if object.relations.isEmpty || pendingChanges.updated.isEmpty && pendingChanges.inserted.isEmpty { return [] }
        return object.relatives.map(\.object).filter(\.hasChanges)
    }

    /// Refreshes an object whose row was missing: the row may exist now. An object that counts as deleted stays deleted
    /// if not.
    private func refreshLost(_ object: NSManagedObject) {
        guard object.isStored else { return }
        do {
            if try !reviveIfThere(object), !object.isDeleted { revive(object) }
        } catch { return }
        guard !object.flags.contains(.inaccessible) else { return }
        pendingChanges.event.refreshed.append(object)
        followTurn()
    }

    /// Resets a new object: it gets its default values, and no object refers to it.
    private func forgetValues(ofNew object: NSManagedObject) {
        object.withoutNotingChanges { object.leaveInverses() }
        object.values = nil
        object.relations.removeAll()
        object.forgetFetchedProperties()
        object.flags.remove(.wideInteger)
        object.withoutNotingChanges { object.awake(fromSnapshotEvents: .refresh) }
        pendingChanges.event.refreshed.append(object)
        followTurn()
    }

    /// Implements the open method of the class.
    final func refreshObjects() {
        if isRefusedWhileWriting("refreshAllObjects()") { return }
        leaveGenerationIfGone()
        let objects = registry.objects
        // Changed objects come last: they are reconciled with the refreshed state of the others.
        for object in objects where !object.hasChanges { refresh(object, mergeChanges: true) }
        for object in objects where object.hasChanges { refresh(object, mergeChanges: true) }
        // All objects have their rows now. An object whose row refers to a destination that was given to another object
        // has lost it.
        let present = objects.filter { $0.registry === registry && !$0.isDeleted }
        readOneToOnes(of: present)
        for object in present { giveUpPartnersLedElsewhere(of: object) }
        InverseReconciler(context: self).settle(objects)
        // Other objects may refer to a deleted object since its delete rules were applied.
        applyDeleteRulesAgain(to: objects.filter { $0.isDeleted && $0.registry === registry })
    }

    /// Implements the open method of the class.
    final func rollBackChanges() {
        checkOwned("rollback()")
        if isRefusedWhileWriting("rollback()") { return }
        processPendingChanges()
        let inserted = pendingChanges.inserted.filter { $0.isInserted }
        let changed =
            pendingChanges.updated.filter { $0.isUpdated }
            + pendingChanges.deleted.filter { $0.isDeleted && $0.isStored }
        for object in inserted { forget(object) }
        for object in changed where !object.flags.contains(.inaccessible) {
            if object.flags.contains(.announces) { object.announceChange(nil) }
            object.values = nil
            object.relations.removeAll()
            object.forgetFetchedProperties()
            object.flags.subtract([.updated, .deleted])
        }
        clearLists()
        rowReading.failure = nil
        for object in changed { object.withoutNotingChanges { object.awake(fromSnapshotEvents: .rollback) } }
        for object in changed where object.flags.contains(.announces) { object.announceChanged(nil) }
        pendingChanges.event.deleted += inserted
        pendingChanges.event.refreshed += changed
        registry.recordsUndo = false
        processPendingChanges()
        registry.recordsUndo = undoRecording.manager != nil
        undoRecording.manager?.removeAllActions(withTarget: self)
        inserted.forEachHeld { $0.leaveRelations() }
    }

    /// What ``reset()`` does. While a save writes rows, the context is reset at the end of the save.
    final func resetNowOrAtEndOfSave() {
        if saveState.phase == .writing { return saveState.resetsAtEnd = true }
        rowReading.siblings.removeAll()
        forgetObjects()
    }

    /// Forgets every object, and notifies observers.
    private func forgetObjects() {
        checkOwned("reset()")
        advanceGeneration()
        let objects = registry.objects
        if !children.isEmpty { pendingChanges.discardedInsertions += objects.filter(\.isInserted).map(\.objectID) }
        let ids = ContextNotification.objectsDidChange.isWanted ? objects.map(\.objectID) : []
        let told = registry.told(objects)
        let observations = registry.observations
        let observed = objects.filter { $0.flags.contains(.observed) }
            .map { ObservedChange(object: $0, slots: $0.extras?.observed ?? IndexMask()) }
        for object in objects {
            if object.flags.contains(.announces) { object.announceChange(nil) }
            object.flags = object.flags.intersection(.new).union([.inaccessible, .forgotten])
            object.values = nil
            object.relations.removeAll()
            object.forgetFetchedProperties()
            object.giveUpRow()
            object.move(to: registry.homeOutside(object.home))
        }
        registry.removeAll(told)
        clearLists()
        rowReading.failure = nil
        pendingChanges.event = ChangeEvent()
        undoRecording.manager?.removeAllActions(withTarget: self)
        retention.objects = []
        observers.followers.forEach { $0.contextDidReset() }
        if !ids.isEmpty {
            NotificationCenter.default.post(
                name: ContextNotification.objectsDidChange.name, object: self,
                userInfo: [NSInvalidatedAllObjectsKey: ids, "managedObjectContext": self])
        }
        if let observations { tell(observed, observations) }
    }

    private func clearLists() {
        for object in pendingChanges.inserted { object.flags.subtract([.listedInserted, .inserted]) }
        for object in pendingChanges.updated { object.flags.subtract([.listedUpdated, .updated]) }
        for object in pendingChanges.deleted { object.flags.subtract([.listedDeleted, .deleted]) }
        pendingChanges.inserted = []
        pendingChanges.updated = []
        pendingChanges.deleted = []
        pendingChanges.versionChecked = []
        registry.mayHaveDangling = false
        pendingChanges.awaitingDeleteRules = []
    }

    /// Implements the open method of the class.
    final func assignStore(_ object: Any, to store: NSPersistentStore) {
        guard let object = object as? NSManagedObject, object.registry === registry,
            object.isInserted || object.hasTemporaryKey
        else { preconditionFailure("assign(_:to:) takes a new object of this context.") }
        guard object.hasTemporaryKey || object.home.store?.store === store else {
            preconditionFailure(
                "assign(_:to:) cannot take \(object.objectID) elsewhere, whose permanent ID names the store that it is of."
            )
        }
        guard let attached = attachedStore(of: store),
            attached.source.includes(entity: object.runtime.ordinal)
        else {
            preconditionFailure("The store's configuration has no entity '\(object.runtime.name)'.")
        }
        if object.hasTemporaryKey { object.move(to: registry.home(of: object.runtime, in: attached)) }
    }

    /// Implements the open method of the class.
    final func checkAtNextSave(for object: NSManagedObject) {
        checkOwned("detectConflicts(for:)")
        guard object.registry === registry, object.isStored,
            !pendingChanges.versionChecked.contains(where: { $0 === object })
        else {
            return
        }
        do {
            try readRows(of: [object])
        } catch {
            noteReadFailure(error, "\(object.objectID)")
        }
        pendingChanges.versionChecked.append(object)
    }

    /// A trigger of the store wrote a derived attribute of that row: the object shows it when it is next read.
    final func derivedValuesChanged(_ key: RowKey, in store: AttachedStore) {
        guard let runtime = coordinator?.runtime.entities[key.entity] else { return }
        if !observers.followers.isEmpty {
            pendingChanges.event.mergedUpdates.append(
                NSManagedObjectID(runtime: runtime, primaryKey: key.primaryKey, store: store))
        }
        guard let object = registry.object(store: store.index, root: runtime.root, primaryKey: key.primaryKey)
        else { return }
        // A fault may have a row in hand too.
        if object.flags.contains(.observed) { pendingChanges.event.observed.append(object) }
        if object.isFault { return object.giveUpRow() }
        // Not the row of a pinned generation, which is older than the save.
        if let row = try? store.newest.row(key.primaryKey, root: runtime.root, staleness: -1) {
            showDerived(row, in: object)
        }
    }

    /// Reads derived attributes again that the store had changed since the object's row was read. Such a change does
    /// not increase the row's version, so the save did not notice it.
    final func readDerivedValues(of objects: [NSManagedObject], in store: AttachedStore) {
        for (root, members) in Dictionary(grouping: objects, by: \.home.root) {
            guard let rows = try? store.newest.heldRows(members.map(\.primaryKey), root: root, staleness: -1) else {
                continue
            }
            for (index, object) in members.enumerated() where rows.hasRow(index) && !object.hasSameRow(as: rows[index])
            {
                if !observers.followers.isEmpty { pendingChanges.event.mergedUpdates.append(object.objectID) }
                if object.flags.contains(.observed) { pendingChanges.event.observed.append(object) }
                showDerived(rows[index], in: object)
            }
        }
    }

    private func showDerived(_ row: RowSnapshot, in object: NSManagedObject) {
        object.forgetSameValues()
        object.row = row
        rebase(object)
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
