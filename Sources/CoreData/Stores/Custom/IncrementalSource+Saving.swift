import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// Saves go to the store as requests.
extension IncrementalSource {
    func allocateKeys(root: Int, count: Int) throws -> ClosedRange<Int64> {
        throw CoreDataErrors.make(
            NSPersistentStoreOperationError, "A store of the program's own class gives IDs to objects only.")
    }

    func keys(for objects: [NSManagedObject]) throws -> [Int64] {
        enter()
        defer { leave() }
        if isReadOnly { throw CoreDataErrors.readOnly(store) }
        let ids = try store.obtainPermanentIDs(for: objects)
        let fits = ids.count == objects.count && zip(ids, objects).allSatisfy { $0.runtime.root == $1.runtime.root }
        let context = objects.first?.managedObjectContext
        // Also by an object of which nothing has been read.
        let isTaken = { (id: NSManagedObjectID) in
            let isKnown = self.rows[RowKey(entity: id.runtime.root, primaryKey: id.primaryKey)] != nil
            return (isKnown || context?.registeredObject(for: id) != nil) && context?.isDeleting(id) != true
        }
        guard fits, Set(ids).count == ids.count, !ids.contains(where: isTaken) else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError,
                "\(type(of: store)).obtainPermanentIDs(for:) must return an ID of its own for each object, in their order."
            )
        }
        return ids.map(\.primaryKey)
    }

    func saving<R>(_ save: SavedRequest, _ body: () throws -> R) rethrows -> R {
        enter()
        defer {
            saved = nil
            leave()
        }
        saved = save
        return try body()
    }

    func save(
        keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet, beforeCommit: (() throws -> Void)?
    ) throws -> SaveOutcome {
        enter()
        defer { leave() }
        if isReadOnly { throw StoreFailure(.readOnly, "The store is open for reading only.") }
        let changes = try build([:])
        let hasRows = !changes.insertions.isEmpty || !changes.updates.isEmpty || !changes.deletions.isEmpty
        guard !hasRows || saved != nil else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError,
                "Rows without objects cannot be saved to a store of the program's own class.")
        }
        let conflicts = try conflicts(changes)
        if !conflicts.isEmpty { throw SaveFailure.conflicts(conflicts) }
        try beforeCommit?()
        if changes.writesAnything { try write(changes, hasRows: hasRows) }
        return SaveOutcome(keys: [:], derivedRows: [])
    }

    private func write(_ changes: ChangeSet, hasRows: Bool) throws {
        let request: NSSaveChangesRequest
        if hasRows, let saved {
            request = NSSaveChangesRequest(
                inserted: Set(saved.inserted), updated: Set(saved.updated()), deleted: Set(saved.deleted),
                locked: Set(saved.locked))
        } else {
            request = NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil)
        }
        request.affectedStores = [store]
        _ = try store.execute(request, with: saved?.context)
        let now = clock.now
        for deletion in changes.deletions { rows[rootKey(deletion.key)] = nil }
        for row in changes.insertions.map(\.row) + changes.updates.map(\.new) {
            // The version that the store has given it; without an answer it is asked for when it is needed.
            let key = rootKey(row.key)
            let id = objectID(row.primaryKey, root: key.entity)
            let node = try? ask { store, context in try store.newValuesForObject(with: id, with: context) }
            rows[key] = node.map { Known(row: row, version: $0.version, time: now) }
        }
    }

    func rootKey(_ key: RowKey) -> RowKey {
        RowKey(entity: runtime.model.entities[key.entity].root, primaryKey: key.primaryKey)
    }

    /// Rows that are no longer of the version that the context knows: the store is asked for each.
    private func conflicts(_ changes: ChangeSet) throws -> [SaveFailure.Conflict] {
        let expected =
            changes.updates.map { (key: $0.old.key, version: $0.old.version) }
            + changes.deletions.map { (key: $0.key, version: $0.version) }
            + changes.checks.map { (key: $0.key, version: $0.version) }
        let deleted = Set(changes.deletions.map { rootKey($0.key) })
        var present: [RowKey: RowSnapshot] = [:]
        for (root, keys) in Dictionary(grouping: expected.map { rootKey($0.key) }, by: \.entity) {
            for (key, known) in try read(keys.map(\.primaryKey), root: root) {
                present[RowKey(entity: root, primaryKey: key)] = known.row
            }
        }
        return expected.compactMap { key, version in
            let root = rootKey(key)
            let now = present[root]
            // A row to be deleted that does not exist any more needs no check.
            if now == nil, deleted.contains(root) { return nil }
            guard now?.version != version else { return nil }
            var conflict = SaveFailure.Conflict(key: key, expectedVersion: version, persisted: now)
            conflict.cached = now
            return conflict
        }
    }
}
