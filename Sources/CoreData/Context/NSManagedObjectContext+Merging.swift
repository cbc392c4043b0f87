import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// What other contexts, other coordinators and other processes saved.
extension NSManagedObjectContext {
    /// Takes over what another context saved: changed objects are refreshed, deleted ones deleted, inserted ones
    /// made known. Unsaved changes of this context stay, and the next save does not find them in conflict with what was merged.
    ///
    ///     NotificationCenter.default.addObserver(
    ///         forName: .NSManagedObjectContextDidSave, object: background, queue: nil
    ///     ) { note in
    ///         view.perform { view.mergeChanges(fromContextDidSave: note) }
    ///     }
    ///
    /// Sets of objects and of object IDs are understood, also those of ``didSaveObjectIDsNotification``. When all is merged, one
    /// ``didChangeObjectsNotification`` tells of it: insertions as inserted, changes of objects whose values this context has as
    /// refreshed, deletions of objects that it knows as deleted; then ``didMergeChangesObjectIDsNotification`` with the IDs.
    public final func mergeChanges(fromContextDidSave notification: Notification) {
        checkOwned("mergeChanges(fromContextDidSave:)")
        let saving = notification.object as? NSManagedObjectContext
        // What another coordinator saved is not in the rows that this one has in memory.
        let isWithinCoordinator = saving != nil && saving?.coordinator === coordinator
        merge(SavedIDs(notification, in: coordinator), staleness: isWithinCoordinator ? stalenessInterval : 0)
    }

    /// Takes over what another process or coordinator saved, or a batch request, into several contexts: reads the rows anew, then merges
    /// as ``mergeChanges(fromContextDidSave:)`` does.
    ///
    ///     NSManagedObjectContext.mergeChanges(
    ///         fromRemoteContextSave: [NSUpdatedObjectsKey: ids, NSDeletedObjectsKey: urls], into: [view, background])
    ///
    /// May be called on any queue: each context merges on its own, one after the other, and the call returns when all have.
    ///
    /// - Parameters:
    ///   - changeNotificationData: `NSManagedObjectID`s or their URIs as `URL`s under `NSInsertedObjectsKey`, `NSUpdatedObjectsKey`,
    ///     `NSDeletedObjectsKey`, `NSRefreshedObjectsKey` and `NSInvalidatedObjectsKey`; `NSInvalidatedAllObjectsKey` has every
    ///     object read anew. IDs of stores that a context does not have are passed over.
    ///   - contexts: who takes it over.
    public class func mergeChanges(
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

    /// `staleness` as in ``RowSource/rowWord(_:root:staleness:)``.
    final func merge(_ saved: SavedIDs, staleness: TimeInterval) {
        guard coordinator != nil else { return }
        let wasProcessing = isProcessing
        // Nobody is told of half of it, whatever hooks of objects do meanwhile.
        isProcessing = true
        var merged = MergedIDs()
        var updated = saved.updated
        if saved.invalidatesAll { updated += registry.objects.filter(\.isStored).map(\.objectID) }
        if !followers.isEmpty { event.mergedUpdates += updated }
        mergeUpdates(updated, staleness, &merged)
        mergeInsertions(saved.inserted, staleness, &merged)
        let deleted = mergeDeletions(saved.deleted, &merged)
        isProcessing = wasProcessing
        processPendingChanges()
        for object in deleted {
            object.becomeInaccessible()
            object.flags.subtract([.updated, .deleted, .inserted])
        }
        detach(deleted)
        if !deleted.isEmpty { registry.mayHaveDangling = true }
        if !merged.ids.isEmpty, ContextNotification.didMergeObjectIDs.isWanted {
            var userInfo: [AnyHashable: Any] = ["managedObjectContext": self]
            for (key, value) in merged.ids { userInfo[key] = value }
            NotificationCenter.default.post(
                name: ContextNotification.didMergeObjectIDs.name, object: self, userInfo: userInfo)
        }
    }

    private struct MergedIDs {
        var ids: [String: Set<NSManagedObjectID>] = [:]

        mutating func add(_ object: NSManagedObject, _ key: String) { ids[key, default: []].insert(object.objectID) }
    }

    private func mergeUpdates(_ ids: [NSManagedObjectID], _ staleness: TimeInterval, _ merged: inout MergedIDs) {
        let known = ids.compactMap { registeredObject(for: $0) }
            .filter { $0.isStored && !$0.flags.contains(.inaccessible) }
        for (object, row) in currentRows(of: known, staleness) {
            merged.add(object, NSUpdatedObjectIDsKey)
            if object.isFault {
                object.row = row
            } else if !object.hasSameRow(as: row) || object.hasKnownMembers {
                merge(row, into: object)
                object.forgetUnchangedMembers()
                // What came to an object that is deleted here goes the way of its other members.
                if object.isDeleted {
                    object.relations.removeAll()
                    unpropagated.append(object)
                }
            }
        }
    }

    /// The objects that have rows, with the rows, read with few statements; an object whose row is gone is left as it is until
    /// somebody tells of its deletion.
    private func currentRows(
        of objects: [NSManagedObject], _ staleness: TimeInterval
    ) -> [(NSManagedObject, RowSnapshot)] {
        var found: [(NSManagedObject, RowSnapshot)] = []
        for members in Dictionary(grouping: objects, by: { [Int($0.storeIndex), $0.home.root] }).values {
            guard let store = store(at: members[0].storeIndex) else { continue }
            do {
                let words = try store.source.rowWords(
                    members.map(\.primaryKey), root: members[0].home.root, staleness: staleness)
                for (object, word) in zip(members, words) where word != 0 {
                    found.append((object, RowSnapshot(taking: word)))
                }
            } catch {
                let error = CoreDataErrors.converted(error, store: store, context: self)
                CoreDataLog.general.error(
                    "\(members.count) objects could not be merged: \(error.localizedDescription)")
            }
        }
        return found
    }

    private func mergeInsertions(_ ids: [NSManagedObjectID], _ staleness: TimeInterval, _ merged: inout MergedIDs) {
        let objects = ids.filter { keptParent != nil || !$0.isTemporaryID }.map { object(with: $0) }
            .filter { $0.isStored && $0.registry === registry && !$0.flags.contains(.inaccessible) }
        // Whoever is told will ask for their values: one statement reads them all.
        let rows =
            ContextNotification.objectsDidChange.isWanted
            ? currentRows(of: objects.filter { !$0.hasRow || staleness == 0 }, staleness) : []
        for (object, row) in rows {
            if object.isFault {
                object.row = row
            } else if !object.hasSameRow(as: row) {
                merge(row, into: object)
            }
        }
        for object in objects {
            merged.add(object, NSInsertedObjectIDsKey)
            event.mergedInsertions.append(object)
        }
    }

    /// Those that the context knows are shown as deleted, with their values, until they leave.
    private func mergeDeletions(_ ids: [NSManagedObjectID], _ merged: inout MergedIDs) -> [NSManagedObject] {
        var deleted: [NSManagedObject] = []
        for id in ids {
            guard let object = registeredObject(for: id), object.isStored else { continue }
            deleted.append(object)
            merged.add(object, NSDeletedObjectIDsKey)
            if !object.flags.contains(.inaccessible) {
                letGoOfChangedReferences(to: object)
                letGoOfMembers(object)
            }
            object.flags.remove(.updated)
            object.flags.insert(.deleted)
            if !object.flags.contains(.eventDeleted) {
                object.flags.insert(.eventDeleted)
                event.deleted.append(object)
            }
        }
        return deleted
    }

    /// To-many relationships that were read have an object no longer that the store has lost.
    private func letGoOfMembers(_ object: NSManagedObject) {
        for slot in object.runtime.relationSlots {
            let info = object.runtime.slots[slot]
            guard let inverse = info.relationship?.inverseSlot, object.relations.isRead(info.relation) || !info.isToMany
            else { continue }
            let owners = info.isToMany ? object.members(slot).members : object.toOne(slot).map { [$0] } ?? []
            for owner in owners where !owner.isFault && owner.runtime.slots[inverse].isToMany {
                let relation = owner.runtime.slots[inverse].relation
                let members = owner.relations.uncountedMembers(relation)?.takeUnretainedValue()
                guard let members, members.isKnown, members.contains(object), !members.hasChanges else { continue }
                owner.relations.forget(relation)
                event.refreshed.append(owner)
            }
        }
    }

    /// What was set here to lead to an object that is gone leads to nothing, where the object's delete rules see to that.
    private func letGoOfChangedReferences(to object: NSManagedObject) {
        for step in object.home.deleteSteps where step.inverse >= 0 {
            let relation = Int(object.home.facts[step.slot].relation)
            guard object.relations.isRead(relation) else { continue }
            var targets: [NSManagedObject] = []
            switch object.relations[relation] {
            case .toOne(let target?): targets = [target]
            case .toMany(let members): targets = members.added.map(\.object)
            case .toOne(nil), .unread: break
            }
            for target in targets where target.hasChanges && !target.isDeleted && target.isChanged(step.inverse) {
                target.inverseDidLose(object, step.inverse)
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
    private var rows: [RowSnapshot] = []

    init(of saved: SavedIDs, in coordinator: NSPersistentStoreCoordinator) {
        self.coordinator = coordinator
        let ids = (saved.inserted + saved.updated + saved.deleted).filter { !$0.isTemporaryID }
        for members in Dictionary(grouping: ids, by: \.storeIdentifier).values {
            guard let store = coordinator.store(withIdentifier: members[0].storeIdentifier) else { continue }
            for (name, keys) in Dictionary(grouping: members, by: \.runtime.name) {
                guard let root = coordinator.runtime.entity(named: name)?.root else { continue }
                do {
                    let words = try store.source.rowWords(keys.map(\.primaryKey), root: root, staleness: 0)
                    for word in words where word != 0 { rows.append(RowSnapshot(taking: word)) }
                } catch {
                    let error = CoreDataErrors.converted(error, store: store, context: nil)
                    CoreDataLog.general.error(
                        "\(keys.count) rows could not be read to be merged: \(error.localizedDescription)")
                }
            }
        }
    }
}
