import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// Forgetting, reading again, taking back.
extension NSManagedObjectContext {
    /// What the open method of the class does.
    final func refreshObject(_ object: NSManagedObject, mergeChanges flag: Bool) {
        checkOwned("refresh(_:mergeChanges:)")
        if isRefusedWhileWriting("refresh(_:mergeChanges:)") { return }
        adoptPermanentKeys()
        guard object.registry === registry else { return }
        if object.flags.contains(.inaccessible) { return refreshLost(object) }
        if object.isInserted { return flag ? () : forgetValues(ofNew: object) }
        guard object.isStored else { return }
        guard let store = store(at: object.storeIndex) else { return }
        // What is there now is known from here on.
        object.extras?.savedTo = nil
        let leading = changedRelatives(of: object)
        // A store of the program's own class is asked what there is now, whatever its source remembers.
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
            // Another's save may have led others to it since its delete rules were applied.
            if object.isDeleted { applyDeleteRulesAgain(to: [object]) }
            return ChangedSides(context: self).settle([object] + leading)
        } else {
            let others = object.isUpdated ? OtherSides(of: object, in: self) : nil
            object.replacingValues {
                object.becomeFault()
                object.flags.remove(.updated)
                object.takeRow(
                    store.source.cachedRow(object.primaryKey, root: object.home.root, staleness: stalenessInterval))
            }
            others?.follow()
            readOneToOnes(of: [object])
            giveUpPartnersLedElsewhere(of: object)
            ChangedSides(context: self).settle(leading)
            if !deletedList.isEmpty {
                applyDeleteRulesAgain(to: (others?.deleted ?? []) + deletedDestinations(of: object))
            }
        }
        event.refreshed.append(object)
        followTurn()
    }

    /// Reads the rows of faults that a change of this context may have led away from: only their rows tell.
    private func readOneToOnes(of objects: [NSManagedObject]) {
        guard !updatedList.isEmpty else { return }
        do { try readRows(of: objects.filter { $0.isFault && !$0.hasRow && $0.home.hasOneToOne }) } catch {
            noteReadFailure(error, "\(objects.count) refreshed objects")
        }
    }

    /// Those with changes at the other ends of what was read of the object.
    private func changedRelatives(of object: NSManagedObject) -> [NSManagedObject] {
        if object.relations.isEmpty || updatedList.isEmpty && insertedList.isEmpty { return [] }
        return object.relatives.map(\.object).filter(\.hasChanges)
    }

    /// An object whose row was not there: it may be now. One that counts as deleted stays so unless it is.
    private func refreshLost(_ object: NSManagedObject) {
        guard object.isStored else { return }
        do {
            if try !reviveIfThere(object), !object.isDeleted { revive(object) }
        } catch { return }
        guard !object.flags.contains(.inaccessible) else { return }
        event.refreshed.append(object)
        followTurn()
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
        followTurn()
    }

    /// What the open method of the class does.
    final func refreshObjects() {
        if isRefusedWhileWriting("refreshAllObjects()") { return }
        leaveGenerationIfGone()
        let objects = registry.objects
        // Those with changes last: they are brought in step with what the others are then.
        for object in objects where !object.hasChanges { refresh(object, mergeChanges: true) }
        for object in objects where object.hasChanges { refresh(object, mergeChanges: true) }
        // Now that all have their rows, those that lead to what was changed to lead elsewhere have lost it.
        let present = objects.filter { $0.registry === registry && !$0.isDeleted }
        readOneToOnes(of: present)
        for object in present { giveUpPartnersLedElsewhere(of: object) }
        ChangedSides(context: self).settle(objects)
        // Others may lead to what is deleted here since its delete rules were applied.
        applyDeleteRulesAgain(to: objects.filter { $0.isDeleted && $0.registry === registry })
    }

    /// What the open method of the class does.
    final func takeChangesBack() {
        checkOwned("rollback()")
        if isRefusedWhileWriting("rollback()") { return }
        processPendingChanges()
        let inserted = insertedList.filter { $0.isInserted }
        let changed = updatedList.filter { $0.isUpdated } + deletedList.filter { $0.isDeleted && $0.isStored }
        for object in inserted { forget(object) }
        for object in changed where !object.flags.contains(.inaccessible) {
            if object.flags.contains(.announces) { object.announceChange(nil) }
            object.values = nil
            object.relations.removeAll()
            object.forgetFetchedProperties()
            object.flags.subtract([.updated, .deleted])
        }
        clearLists()
        readFailure = nil
        for object in changed { object.withoutNotingChanges { object.awake(fromSnapshotEvents: .rollback) } }
        for object in changed where object.flags.contains(.announces) { object.announceChanged(nil) }
        event.deleted += inserted
        event.refreshed += changed
        registry.recordsUndo = false
        processPendingChanges()
        registry.recordsUndo = keptUndoManager != nil
        keptUndoManager?.removeAllActions(withTarget: self)
        inserted.forEachHeld { $0.leaveRelations() }
    }

    /// What the open method of the class does.
    final func forgetObjects() {
        checkOwned("reset()")
        advanceGeneration()
        let objects = registry.objects
        if !children.isEmpty { discarded += objects.filter(\.isInserted).map(\.objectID) }
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
        readFailure = nil
        event = ChangeEvent()
        keptUndoManager?.removeAllActions(withTarget: self)
        retained = []
        followers.forEach { $0.contextDidReset() }
        if !ids.isEmpty {
            NotificationCenter.default.post(
                name: ContextNotification.objectsDidChange.name, object: self,
                userInfo: [NSInvalidatedAllObjectsKey: ids, "managedObjectContext": self])
        }
        if let observations { tell(observed, observations) }
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

    /// What the open method of the class does.
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

    /// What the open method of the class does.
    final func checkAtNextSave(for object: NSManagedObject) {
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

    /// A trigger of the store wrote a derived attribute of that row: the object shows it when it is next read.
    final func derivedValuesChanged(_ key: RowKey, in store: AttachedStore) {
        guard let runtime = coordinator?.runtime.entities[key.entity] else { return }
        if !followers.isEmpty {
            event.mergedUpdates.append(NSManagedObjectID(runtime: runtime, primaryKey: key.primaryKey, store: store))
        }
        guard let object = registry.object(store: store.index, root: runtime.root, primaryKey: key.primaryKey)
        else { return }
        // A fault may have a row in hand too.
        if object.flags.contains(.observed) { event.observed.append(object) }
        if object.isFault { return object.giveUpRow() }
        // Not as a pinned context reads it, which is as it was before the save.
        if let row = try? store.newest.row(key.primaryKey, root: runtime.root, staleness: -1) {
            showDerived(row, in: object)
        }
    }

    /// What was saved on top of a row whose derived attributes the store had changed since it was read, which gives a row no version, shows
    /// what they are now.
    final func readDerivedValues(of objects: [NSManagedObject], in store: AttachedStore) {
        for (root, members) in Dictionary(grouping: objects, by: \.home.root) {
            guard let rows = try? store.newest.heldRows(members.map(\.primaryKey), root: root, staleness: -1) else {
                continue
            }
            for (index, object) in members.enumerated() where rows.hasRow(index) && !object.hasSameRow(as: rows[index])
            {
                if !followers.isEmpty { event.mergedUpdates.append(object.objectID) }
                if object.flags.contains(.observed) { event.observed.append(object) }
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
