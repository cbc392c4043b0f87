import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// What other contexts, other coordinators and other processes saved.
extension NSManagedObjectContext {
    /// Implements the open method of the class.
    final func mergeSave(fromContextDidSave notification: Notification) {
        checkOwned("mergeChanges(fromContextDidSave:)")
        let saving = notification.object as? NSManagedObjectContext
        // Rows that another coordinator saved are not in this coordinator's cache.
        let isWithinCoordinator = saving != nil && saving?.coordinator === coordinator
        merge(SavedIDs(notification, in: coordinator), staleness: isWithinCoordinator ? stalenessInterval : 0)
    }

    /// Implements the open method of the class.
    class func mergeRemoteSave(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) {
        // Hold the rows until all contexts have merged, so that the cache has the current rows.
        var held: [HeldRows] = []
        for context in contexts {
            guard let coordinator = context.coordinator, !held.contains(where: { $0.coordinator === coordinator })
            else { continue }
            held.append(HeldRows(of: SavedIDs(changeNotificationData, in: coordinator), in: coordinator))
        }
        for context in contexts {
            context.performAndWait {
                context.merge(SavedIDs(changeNotificationData, in: context.coordinator), staleness: -1)
            }
        }
        withExtendedLifetime(held) {}
    }

    // MARK: Merging

    /// `staleness` as in ``RowSource/heldRow(_:root:staleness:)``.
    final func merge(_ saved: SavedIDs, staleness: TimeInterval) {
        guard coordinator != nil else { return }
        advanceGeneration()
        // Changes up to now are an undo step of their own.
        if registry.recordsUndo { processPendingChanges() }
        let wasProcessing = pendingChanges.isProcessing
        // Observers must not be notified in the middle of a merge, whatever the hooks of objects do.
        pendingChanges.isProcessing = true
        var merged = MergedIDs()
        adoptPermanentKeys()
        var updated = registry.objects(saved.updatedKeys)
        updated += saved.updated.compactMap { registeredObject(for: $0) }
        if saved.invalidatesAll { updated += registry.objects }
        // Objects that were read before their rows arrived.
        if rowReading.missingRowCount > 0 {
            let found = saved.inserted.compactMap { registeredObject(for: $0) } + updated
            for object in found where object.flags.contains(.inaccessible) { revive(object) }
        }
        if !observers.followers.isEmpty { noteForFollowers(saved) }
        let (gone, present) = split(saved.deleted, staleness)
        mergeUpdates(updated + present, staleness, &merged)
        if saved.mayLackUpdates {
            mergeUpdates(objects(ledTo: saved.deleted), parentLink.isChild ? staleness : 0, &merged)
        }
        mergeInsertions(saved.inserted, staleness, &merged)
        let deleted = mergeDeletions(gone + saved.discardedInsertions, &merged)
        pendingChanges.isProcessing = wasProcessing
        processPendingChanges()
        for object in deleted {
            if !rowReading.keepsDeletedValues || object.isFault { object.becomeInaccessible() }
            object.flags.subtract([.updated, .deleted, .inserted])
        }
        detach(deleted)
        if rowReading.keepsDeletedValues { deleted.forEach { $0.leaveRelations() } }
        if !deleted.isEmpty { registry.mayHaveDangling = true }
        tellChildren(of: saved, staleness)
        if !merged.ids.isEmpty, ContextNotification.didMergeObjectIDs.isWanted {
            var userInfo: [AnyHashable: Any] = ["managedObjectContext": self]
            for (key, value) in merged.ids { userInfo[key] = value }
            NotificationCenter.default.post(
                name: ContextNotification.didMergeObjectIDs.name, object: self, userInfo: userInfo)
        }
    }

    /// Lets children merge that merge automatically: they read the state that this context has now.
    private func tellChildren(of saved: SavedIDs, _ staleness: TimeInterval) {
        for child in children.contexts {
            child.perform {
                guard child.automaticallyMergesChangesFromParent else { return }
                // Rows that another coordinator saved are not in memory if this context does not know them.
                child.merge(saved, staleness: staleness == 0 ? 0 : child.stalenessInterval)
            }
        }
    }

    /// Where keys tell rows apart.
    private struct Place: Hashable {
        var store: Int32
        var root: Int
    }

    struct MergedIDs {
        var ids: [String: Set<NSManagedObjectID>] = [:]
        /// Whether an observer wants the merged IDs.
        private let isWanted = ContextNotification.didMergeObjectIDs.isWanted

        mutating func add(_ object: NSManagedObject, _ key: String) {
            if isWanted { ids[key, default: []].insert(object.objectID) }
        }
    }

    /// Reports rows to the followers, also rows that this context does not know.
    private func noteForFollowers(_ saved: SavedIDs) {
        let hasUnknownRow = { (id: NSManagedObjectID) in !(self.registeredObject(for: id)?.hasRow ?? false) }
        let updated = saved.updatedIDs(in: coordinator).filter(isReachable)
        pendingChanges.event.mergedUpdates += updated
        pendingChanges.event.unknownUpdates += updated.filter(hasUnknownRow)
        pendingChanges.event.unknownDeletions += saved.deleted.filter { isReachable($0) && hasUnknownRow($0) }
    }

    /// Whether it may be of an object here: others are of stores of another coordinator.
    private func isReachable(_ id: NSManagedObjectID) -> Bool {
        id.isTemporaryID ? parentLink.isChild : home(of: id) != nil
    }

    private func mergeUpdates(
        _ objects: [NSManagedObject], _ staleness: TimeInterval, as key: String = NSUpdatedObjectIDsKey,
        _ merged: inout MergedIDs
    ) {
        let isKnown = { (object: NSManagedObject) in object.isStored && !object.flags.contains(.inaccessible) }
        let known = objects.allHeldSatisfy(isKnown) ? objects : objects.filter(isKnown)
        let taking = RowReplacement(self)
        var (taken, same): ([NSManagedObject], [NSManagedObject]) = ([], [])
        forEachCurrentRow(of: known, staleness) { object, rows, index in
            merged.add(object, key)
            // Changes that this context saved return when its parent saves them.
            if parentLink.isChild, !observers.followers.isEmpty, object.hasSameValues(as: rows[index]) {
                same.append(object)
            }
            if object.isFault {
                if object.hasRow { taking.noteMoves(of: object, to: rows[index]) }
                object.replacingValues { object.takeRow(rows.take(index)) }
                if object.flags.contains(.observed) { pendingChanges.event.observed.append(object) }
                if !object.relations.isEmpty { taking.takeMembers(of: object) }
                return
            }
            let row = rows[index]
            guard !object.hasSameRow(as: row) || object.hasKnownMembers else { return }
            taking.take(row, object)
            taken.append(object)
        }
        for object in same where hasSameMembers(object) {
            pendingChanges.event.unchanged.insert(ObjectReference(object))
        }
        taking.finish()
        for object in taken { object.forgetUnchangedMembers() }
        applyDeleteRulesAgain(to: taken)
    }

    /// Returns whether the to-manys that were read are equal to those of the parent.
    private func hasSameMembers(_ object: NSManagedObject) -> Bool {
        for (index, slot) in object.runtime.relationSlots.enumerated() {
            guard case .toMany(let members) = object.relations[index], members.isKnown else { continue }
            guard let stored = storedMembers(of: object, slot: slot) else { return false }
            let (mine, theirs) = (members.committedMembers, stored)
            let isSame =
                members.isOrdered
                ? mine.elementsEqual(theirs, by: ===)
                : Set(mine.map(ObjectReference.init)) == Set(theirs.map(ObjectReference.init))
            if !isSame { return false }
        }
        return true
    }

    /// Calls `body` with the objects whose rows exist, and reads the rows with few statements. Objects whose rows were
    /// deleted stay unchanged until their deletion is merged.
    private func forEachCurrentRow(
        of objects: [NSManagedObject], _ staleness: TimeInterval, _ body: (NSManagedObject, RowList, Int) -> Void
    ) {
        for members in runs(of: objects) {
            guard let store = store(at: members[0].storeIndex) else { continue }
            do {
                let rows = try store.source.heldRows(
                    members.map(\.primaryKey), root: members[0].home.root, staleness: staleness)
                var index = 0
                members.forEachHeld { object in
                    if rows.hasRow(index) { body(object, rows, index) }
                    index += 1
                }
            } catch {
                let error = CoreDataErrors.converted(error, store: store, context: self)
                CoreDataLog.general.error(
                    "\(members.count) objects could not be merged: \(error.localizedDescription)")
            }
        }
    }

    /// Returns the objects by store and root. Usually that is one list with all of them.
    private func runs(of objects: [NSManagedObject]) -> [[NSManagedObject]] {
        guard let first = objects.first else { return [] }
        let (store, root) = (first.storeIndex, first.home.root)
        if objects.allHeldSatisfy({ $0.storeIndex == store && $0.home.root == root }) { return [objects] }
        return Array(
            Dictionary(grouping: objects) { Place(store: $0.storeIndex, root: $0.home.root) }.values)
    }

    private func mergeInsertions(_ ids: [NSManagedObjectID], _ staleness: TimeInterval, _ merged: inout MergedIDs) {
        let objects = ids.filter(isReachable).map { object(with: $0) }
            .filter { $0.isStored && $0.registry === registry && !$0.flags.contains(.inaccessible) }
        // A parent's new objects may be known here since before it changed and saved them.
        if parentLink.isChild {
            mergeUpdates(objects.filter(\.hasRow), staleness, as: NSInsertedObjectIDsKey, &merged)
        }
        guard
            ContextNotification.objectsDidChange.isWanted || ContextNotification.didMergeObjectIDs.isWanted
                || !observers.followers.isEmpty || !pendingChanges.deleted.isEmpty
        else { return }
        // Observers will read the values. One statement reads them all and finds the rows that were deleted meanwhile.
        let isRead = { (object: NSManagedObject) in object.hasRow && staleness != 0 }
        var present = Set(objects.filter(isRead).map(ObjectReference.init))
        forEachCurrentRow(of: objects.filter { !isRead($0) }, staleness) { object, rows, index in
            present.insert(ObjectReference(object))
            if object.isFault {
                object.replacingValues { object.takeRow(rows.take(index)) }
                if object.flags.contains(.observed) { pendingChanges.event.observed.append(object) }
                return
            }
            let row = rows[index]
            if !object.hasSameRow(as: row) { merge(row, into: object) }
        }
        var deleted: [NSManagedObject] = []
        for object in objects where present.contains(ObjectReference(object)) {
            merged.add(object, NSInsertedObjectIDsKey)
            pendingChanges.event.mergedInsertions.append(object)
            if !pendingChanges.deleted.isEmpty { deleted += deletedDestinations(of: object) }
        }
        applyDeleteRulesAgain(to: deleted)
    }

    /// Returns the objects that the row refers to and that are deleted here.
    final func deletedDestinations(of object: NSManagedObject) -> [NSManagedObject] {
        guard let row = object.row else { return [] }
        return object.runtime.relationSlots.compactMap { slot in
            let facts = object.home.facts[slot]
            let column = Int(facts.column)
            guard !facts.isToMany, facts.inverse >= 0, column >= 0, !row.isNull(column) else { return nil }
            let destination = registry.object(
                store: object.home.storeIndex, root: Int(facts.destinationRoot), primaryKey: row.integer(column))
            return destination?.isDeleted == true ? destination : nil
        }
    }

    /// Separates deleted objects from objects whose rows were inserted again after their deletion, as a merge policy
    /// may do.
    private func split(
        _ deleted: [NSManagedObjectID], _ staleness: TimeInterval
    ) -> (gone: [NSManagedObjectID], present: [NSManagedObject]) {
        let doubtful = deleted.compactMap { registeredObject(for: $0) }.filter { object in
            guard object.isStored, !object.flags.contains(.inaccessible), let store = object.home.store,
                store.isAttached
            else { return false }
            // A deleted row is in no memory, unless another coordinator deleted it.
            return staleness == 0
                || store.source.cachedRow(object.primaryKey, root: object.home.root, staleness: -1)?.snapshot() != nil
        }
        var present: [NSManagedObject] = []
        forEachCurrentRow(of: doubtful, 0) { object, _, _ in present.append(object) }
        if present.isEmpty { return (deleted, []) }
        let ids = Set(present.map(\.objectID))
        return (deleted.filter { !ids.contains($0) }, present)
    }

    /// Returns the objects whose rows here refer to one of these IDs.
    private func objects(ledTo ids: [NSManagedObjectID]) -> [NSManagedObject] {
        var keys: [Place: Set<Int64>] = [:]
        for id in ids {
            guard let home = home(of: id) else { continue }
            keys[Place(store: home.storeIndex, root: home.root), default: []].insert(id.primaryKey)
        }
        guard !keys.isEmpty else { return [] }
        return registry.objects.filter { object in
            guard let row = object.rowView else { return false }
            return object.runtime.relationSlots.contains { slot in
                let facts = object.home.facts[slot]
                let column = Int(facts.column)
                guard !facts.isToMany, facts.inverse >= 0, column >= 0, !row.isNull(column) else { return false }
                let place = Place(store: object.storeIndex, root: Int(facts.destinationRoot))
                return keys[place]?.contains(row.integer(column)) ?? false
            }
        }
    }

    // MARK: By itself

    /// Returns whether this context would read the rows that the other context saves.
    private func readsWhatIsSaved(by saving: NSManagedObjectContext) -> Bool {
        if let parent = parentLink.parent { return saving === parent || saving.parentLink.parent === parent }
        return !saving.parentLink.isChild && saving.coordinator != nil && saving.coordinator === coordinator
    }

    final func setMergesAutomatically(_ merges: Bool) {
        if let observer = observers.mergeObserver { NotificationCenter.default.removeObserver(observer) }
        observers.mergeObserver = nil
        guard merges else { return }
        observers.mergeObserver = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
        ) { [weak self] notification in
            guard let self, let saving = notification.object as? NSManagedObjectContext, saving !== self,
                self.readsWhatIsSaved(by: saving)
            else { return }
            let saved = SavedIDs(notification, in: self.coordinator)
            self.perform { self.merge(saved, staleness: self.stalenessInterval) }
        }
    }
}

/// Rows that were read again and stay in memory as long as this object lives.
private final class HeldRows {
    let coordinator: NSPersistentStoreCoordinator
    private var rows: [RowList] = []

    init(of saved: SavedIDs, in coordinator: NSPersistentStoreCoordinator) {
        self.coordinator = coordinator
        let ids = (saved.inserted + saved.updated + saved.deleted).filter { !$0.isTemporaryID }
        for members in Dictionary(grouping: ids, by: \.storeIdentifier).values {
            guard let store = coordinator.store(withIdentifier: members[0].storeIdentifier) else { continue }
            for (name, keys) in Dictionary(grouping: members, by: \.runtime.name) {
                guard let root = coordinator.runtime.entity(named: name)?.root else { continue }
                do {
                    rows.append(try store.source.heldRows(keys.map(\.primaryKey), root: root, staleness: 0))
                } catch {
                    let error = CoreDataErrors.converted(error, store: store, context: nil)
                    CoreDataLog.general.error(
                        "\(keys.count) rows could not be read to be merged: \(error.localizedDescription)")
                }
            }
        }
    }
}
