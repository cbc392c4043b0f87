import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// What other contexts, other coordinators and other processes saved.
extension NSManagedObjectContext {
    /// What the open method of the class does.
    final func mergeSave(fromContextDidSave notification: Notification) {
        checkOwned("mergeChanges(fromContextDidSave:)")
        let saving = notification.object as? NSManagedObjectContext
        // What another coordinator saved is not in the rows that this one has in memory.
        let isWithinCoordinator = saving != nil && saving?.coordinator === coordinator
        merge(SavedIDs(notification, in: coordinator), staleness: isWithinCoordinator ? stalenessInterval : 0)
    }

    /// What the open method of the class does.
    class func mergeRemoteSave(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) {
        // Held until all have merged, so that memory has the rows as they are now.
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
        // What was done until now is a step of its own.
        if registry.recordsUndo { processPendingChanges() }
        let wasProcessing = isProcessing
        // Nobody is told of half of it, whatever hooks of objects do meanwhile.
        isProcessing = true
        var merged = MergedIDs()
        adoptPermanentKeys()
        var updated = registry.objects(saved.updatedKeys)
        updated += saved.updated.compactMap { registeredObject(for: $0) }
        if saved.invalidatesAll { updated += registry.objects }
        // Those that were looked at before their rows came.
        if losses > 0 {
            let found = saved.inserted.compactMap { registeredObject(for: $0) } + updated
            for object in found where object.flags.contains(.inaccessible) { revive(object) }
        }
        if !followers.isEmpty { noteForFollowers(saved) }
        let (gone, present) = split(saved.deleted, staleness)
        mergeUpdates(updated + present, staleness, &merged)
        if saved.mayLackUpdates {
            mergeUpdates(objects(ledTo: saved.deleted), keptParent == nil ? 0 : staleness, &merged)
        }
        mergeInsertions(saved.inserted, staleness, &merged)
        let deleted = mergeDeletions(gone + saved.discarded, &merged)
        isProcessing = wasProcessing
        processPendingChanges()
        for object in deleted {
            object.becomeInaccessible()
            object.flags.subtract([.updated, .deleted, .inserted])
        }
        detach(deleted)
        if !deleted.isEmpty { registry.mayHaveDangling = true }
        tellChildren(of: saved, staleness)
        if !merged.ids.isEmpty, ContextNotification.didMergeObjectIDs.isWanted {
            var userInfo: [AnyHashable: Any] = ["managedObjectContext": self]
            for (key, value) in merged.ids { userInfo[key] = value }
            NotificationCenter.default.post(
                name: ContextNotification.didMergeObjectIDs.name, object: self, userInfo: userInfo)
        }
    }

    /// Children that merge by themselves follow: what they read is what this context has now.
    private func tellChildren(of saved: SavedIDs, _ staleness: TimeInterval) {
        for child in children.contexts {
            child.perform {
                guard child.automaticallyMergesChangesFromParent else { return }
                // What another coordinator saved is not in memory where this context knows nothing of it.
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
        /// Whether anybody will be told of them.
        private let isWanted = ContextNotification.didMergeObjectIDs.isWanted

        mutating func add(_ object: NSManagedObject, _ key: String) {
            if isWanted { ids[key, default: []].insert(object.objectID) }
        }
    }

    /// Those who follow the context learn of rows that it does not know, too.
    private func noteForFollowers(_ saved: SavedIDs) {
        let isStranger = { (id: NSManagedObjectID) in !(self.registeredObject(for: id)?.hasRow ?? false) }
        let updated = saved.updatedIDs(in: coordinator).filter(isReachable)
        event.mergedUpdates += updated
        event.strangers += updated.filter(isStranger)
        event.deletedStrangers += saved.deleted.filter { isReachable($0) && isStranger($0) }
    }

    /// Whether it may be of an object here: others are of stores of another coordinator.
    private func isReachable(_ id: NSManagedObjectID) -> Bool {
        id.isTemporaryID ? keptParent != nil : home(of: id) != nil
    }

    private func mergeUpdates(
        _ objects: [NSManagedObject], _ staleness: TimeInterval, as key: String = NSUpdatedObjectIDsKey,
        _ merged: inout MergedIDs
    ) {
        let isKnown = { (object: NSManagedObject) in object.isStored && !object.flags.contains(.inaccessible) }
        let known = objects.allHeldSatisfy(isKnown) ? objects : objects.filter(isKnown)
        let taking = RowTaking(self)
        var (taken, same): ([NSManagedObject], [NSManagedObject]) = ([], [])
        forEachCurrentRow(of: known, staleness) { object, rows, index in
            merged.add(object, key)
            // What this context saved itself comes back when its parent saves it.
            if keptParent != nil, !followers.isEmpty, object.hasSameValues(as: rows[index]) { same.append(object) }
            if object.isFault {
                if object.hasRow { taking.noteMoves(of: object, to: rows[index]) }
                object.replacingValues { object.takeRow(rows.take(index)) }
                if object.flags.contains(.observed) { event.observed.append(object) }
                if !object.relations.isEmpty { taking.takeMembers(of: object) }
                return
            }
            let row = rows[index]
            guard !object.hasSameRow(as: row) || object.hasKnownMembers else { return }
            taking.take(row, object)
            taken.append(object)
        }
        for object in same where hasSameMembers(object) { event.unchanged.insert(ObjectReference(object)) }
        taking.finish()
        for object in taken { object.forgetUnchangedMembers() }
        applyDeleteRulesAgain(to: taken)
    }

    /// Whether the to-manys that were read are what the parent has.
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

    /// Calls `body` with the objects that have rows and where these are, read with few statements; an object whose row is gone is left
    /// as it is until somebody tells of its deletion.
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

    /// The objects of each store and root; most often all of them, in the list that they are in.
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
        if keptParent != nil { mergeUpdates(objects.filter(\.hasRow), staleness, as: NSInsertedObjectIDsKey, &merged) }
        guard
            ContextNotification.objectsDidChange.isWanted || ContextNotification.didMergeObjectIDs.isWanted
                || !followers.isEmpty || !deletedList.isEmpty
        else { return }
        // Whoever is told will ask for their values: one statement reads them all, and shows those that have gone meanwhile.
        let isRead = { (object: NSManagedObject) in object.hasRow && staleness != 0 }
        var present = Set(objects.filter(isRead).map(ObjectReference.init))
        forEachCurrentRow(of: objects.filter { !isRead($0) }, staleness) { object, rows, index in
            present.insert(ObjectReference(object))
            if object.isFault {
                object.replacingValues { object.takeRow(rows.take(index)) }
                if object.flags.contains(.observed) { event.observed.append(object) }
                return
            }
            let row = rows[index]
            if !object.hasSameRow(as: row) { merge(row, into: object) }
        }
        var deleted: [NSManagedObject] = []
        for object in objects where present.contains(ObjectReference(object)) {
            merged.add(object, NSInsertedObjectIDsKey)
            event.mergedInsertions.append(object)
            if !deletedList.isEmpty { deleted += deletedDestinations(of: object) }
        }
        applyDeleteRulesAgain(to: deleted)
    }

    /// Those that the object's row leads to and that are deleted here.
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

    /// What is gone, and the objects of rows that somebody has brought back since they were deleted, as a merge policy may.
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

    /// The objects whose rows here lead to one of those.
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

    /// Whether what the other context saves is what this one would read now.
    private func readsWhatIsSaved(by saving: NSManagedObjectContext) -> Bool {
        if let keptParent { return saving === keptParent || saving.keptParent === keptParent }
        return saving.keptParent == nil && saving.coordinator != nil && saving.coordinator === coordinator
    }

    final func setMergesAutomatically(_ merges: Bool) {
        if let merging { NotificationCenter.default.removeObserver(merging) }
        merging = nil
        guard merges else { return }
        merging = NotificationCenter.default.addObserver(
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

/// Rows that were read anew and stay in memory while somebody holds this.
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
