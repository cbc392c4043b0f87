import CoreDataStore
import Foundation

// Follows the events of the context and notifies the delegate.
extension AnyFetchedResultsController: ChangeFollower {
    final func contextDidChange(_ event: ChangeEvent) {
        guard rows != nil, let translation else { return }
        guard delegate != nil else {
            isBehind = true
            return
        }
        var rest: [NSManagedObject] = []
        let unchanged =
            event.unchanged.isEmpty ? [] : event.unchanged.subtracting(event.updated.map(ObjectReference.init))
        for list in event.lists { note(list, translation, &rest, besides: unchanged) }
        // An object that another context changed may match now, although it was not read here.
        for id in event.mergedUpdates where isOfInterest(id, translation) {
            note([managedObjectContext.object(with: id)], translation, &rest, besides: unchanged)
        }
        note(event.previousDestinations, translation, &rest)
        // Rows before the window move it, although they were not read here.
        if translation.request.fetchOffset > 0 {
            isBehind =
                isBehind || event.unknownDeletions.contains { translation.includes(entity: runtime(of: $0)?.ordinal) }
        }
        if !isBehind, let dependencies, !dependencies.isEmpty {
            isBehind =
                event.unknownUpdates.contains { runtime(of: $0).map(dependencies.includeMembers) ?? false }
                || event.unknownDeletions.contains { runtime(of: $0).map(dependencies.include) ?? false }
        }
        // Rows that were changed again since the event may be at unexpected positions.
        for list in managedObjectContext.pendingChanges.event.lists { note(list, translation, &rest) }
        noteOwners(of: rest)
        guard !isTelling else { return }
        follow()
    }

    final func contextDidSave() {
        // Changes that a delegate saves while it is notified are reported next.
        guard !temporary.isEmpty, delegate != nil, rows != nil, !isTelling else { return }
        let saved = temporary.values.filter { !$0.object.hasTemporaryKey }
        guard !saved.isEmpty else { return }
        for (object, _) in saved { temporary[ObjectIdentifier(object)] = nil }
        tellNewIDs(saved)
    }

    /// The delegate knows these by the IDs that they have now, if those are temporary.
    final func noteTemporary(_ objects: [NSManagedObject]) {
        for object in objects where object.hasTemporaryKey {
            temporary[ObjectIdentifier(object)] = (object, object.objectID)
        }
    }

    final func contextDidReset() {
        // The objects are of no use any more: nothing is followed until the next fetch.
        translation = nil
        touched = []
        isChanged = [:]
    }

    // MARK: What is looked at

    private func isOfInterest(_ id: NSManagedObjectID, _ translation: FetchTranslation) -> Bool {
        guard let runtime = runtime(of: id) else { return false }
        return translation.entity.compiled.subtree.contains(runtime.ordinal) || dependencies?.include(runtime) ?? false
    }

    /// The entity in the context's model; `nil` of an ID that leads nowhere here.
    private func runtime(of id: NSManagedObjectID) -> EntityRuntime? {
        guard !id.isTemporaryID || managedObjectContext.parent != nil else { return nil }
        return managedObjectContext.persistentStoreCoordinator?.runtime.entity(named: id.runtime.name)
    }

    /// Notes the objects of the request's entity, which have changed unless they are in `unchanged`. Adds objects on
    /// which rows depend to `rest`.
    private func note(
        _ objects: [NSManagedObject], _ translation: FetchTranslation, _ rest: inout [NSManagedObject],
        besides unchanged: Set<ObjectReference> = []
    ) {
        objects.forEachHeld { object in
            if translation.includes(object) {
                touch(object, isChanged: unchanged.isEmpty || !unchanged.contains(ObjectReference(object)))
            }
            if let dependencies, !dependencies.isEmpty, dependencies.include(object.runtime) { rest.append(object) }
        }
    }

    private func noteOwners(of objects: [NSManagedObject]) {
        guard let dependencies else { return }
        var known: Set<ObjectIdentifier> = []
        for object in objects where known.insert(ObjectIdentifier(object)).inserted {
            guard let owners = dependencies.owners(of: object) else {
                isBehind = true
                continue
            }
            for owner in owners where translation?.includes(owner) ?? false { touch(owner, isChanged: false) }
        }
    }

    private func touch(_ object: NSManagedObject, isChanged changed: Bool) {
        if let known = isChanged[ObjectIdentifier(object)] {
            isChanged[ObjectIdentifier(object)] = known || changed
        } else {
            isChanged[ObjectIdentifier(object)] = changed
            touched.append(object)
        }
    }

    // MARK: What comes of it

    /// Updates the rows and notifies the delegate. Changes that the delegate makes meanwhile are reported afterwards.
    private func follow() {
        isTelling = true
        defer {
            isTelling = false
            contextDidSave()
        }
        var rounds = 0
        while !touched.isEmpty || isBehind, rounds < 1000 {
            rounds += 1
            let (objects, changed) = (touched, isChanged)
            touched = []
            isChanged = [:]
            let changes = changes(objects, changed)
            guard !changes.isEmpty else { continue }
            forgetList()
            // A row that left and comes again, since an insertion was undone and done again, may have another ID.
            for (object, _) in changes.deleted { temporary[ObjectIdentifier(object)] = nil }
            noteTemporary(changes.inserted.map(\.object))
            tell(changes)
        }
    }

    private func changes(_ objects: [NSManagedObject], _ changed: [ObjectIdentifier: Bool]) -> FetchedChanges {
        guard let rows, let translation else { return FetchedChanges() }
        let hasWindow = translation.request.fetchLimit > 0 || translation.request.fetchOffset > 0
        guard !isBehind, !hasWindow else {
            isBehind = false
            return refetched(translation) { changed[ObjectIdentifier($0)] ?? false }
        }
        return rows.change(
            objects.map {
                FetchedRows.Examined(
                    object: $0, isMember: isMember($0, translation), isChanged: changed[ObjectIdentifier($0)] ?? false)
            })
    }

    /// Compares the rows with those of a new fetch.
    private func refetched(_ translation: FetchTranslation, _ isChanged: (NSManagedObject) -> Bool) -> FetchedChanges {
        guard let rows, let dependencies else { return FetchedChanges() }
        do {
            let new = try fetchRows(translation, rows.order, dependencies)
            let changes = FetchedPicture.changes(from: FetchedPicture(rows), to: new, isChanged: isChanged)
            self.rows = new
            return changes
        } catch {
            CoreDataLog.general.error(
                "The results of a fetched results controller could not be fetched again: \(error.localizedDescription)")
            return FetchedChanges()
        }
    }

    final func isMember(_ object: NSManagedObject, _ translation: FetchTranslation) -> Bool {
        func isThere() -> Bool {
            object.flags.contains(.registered) && object.home.registryAddress == managedObjectContext.registryAddress
                && object.flags.isDisjoint(with: [.deleted, .leaving, .inaccessible])
        }
        guard isThere() else { return false }
        // The row of an object that was reported as changed may have been deleted since.
        if object.isFault, object.isStored, !object.hasCurrentRow {
            try? managedObjectContext.readRows(of: [object])
            if !object.hasRow { return false }
        }
        do { guard try translation.matches(object) else { return false } } catch {
            CoreDataLog.general.error(
                "\(object.objectID) cannot be told to match, and counts as not matching: \(error.localizedDescription)")
            return false
        }
        // The check may have found that its row was deleted.
        guard isThere() else { return false }
        guard accepts(object) else {
            CoreDataLog.general.error("\(object.objectID) is no \(Swift.type(of: self)) result, and is left out.")
            return false
        }
        return true
    }
}

extension ChangeEvent {
    /// Everything that an event touched, by what happened to it.
    var lists: [[NSManagedObject]] { [inserted, updated, deleted, refreshed, invalidated, mergedInsertions, restored] }
}
