import CoreDataPrimitives
import CoreDataStore
import Foundation

// A child's fetch: the parent fetches, with its unsaved changes, and the child makes objects of the result.
extension NSManagedObjectContext {
    /// An object that the parent found.
    private struct Found {
        let storeIndex: Int32
        let key: RowKey
    }

    /// The objects, and their rows if these were requested. The rows are held, so they stay in the store's memory as
    /// long as the child needs them, whatever the parent releases.
    private typealias FoundRows = (objects: [Found], rows: RowList)

    /// How many objects the parent finds.
    final func countInParent(_ translation: FetchTranslation) throws -> Int {
        try withParent { parent in
            let request = try Self.requestOfParent(translation)
            return try parent.count(for: request)
        }
    }

    /// Returns the child's objects for the parent's results, in the parent's order. `isWider` requests all objects
    /// before the request's window, and `extra` more after it.
    final func objectsInParent(
        _ translation: FetchTranslation, isWider: Bool, by extra: Int, readsRows: Bool,
        noting classes: inout FoundClasses
    ) throws -> [NSManagedObject] {
        adoptPermanentKeys()
        let request = translation.request
        let isBatched = request.fetchBatchSize > 0
        let found = try withParent { parent in
            let own = try Self.requestOfParent(translation)
            if isWider {
                if own.fetchLimit > 0 { own.fetchLimit = own.boundedLimit + own.boundedOffset + extra }
                own.fetchOffset = 0
            }
            return try parent.found(own, readsRows: readsRows && !isBatched)
        }
        // The parent may have learnt of some itself by that.
        adoptPermanentKeys()
        let batch =
            isBatched && found.objects.count > 1
            ? FaultBatch(keys: found.objects.map(\.key), size: request.fetchBatchSize) : nil
        return objects(of: found, batch, refreshes: request.shouldRefreshRefetchedObjects, &classes)
    }

    private func objects(
        of found: FoundRows, _ batch: FaultBatch?, refreshes: Bool, _ classes: inout FoundClasses
    ) -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(found.objects.count)
        // Objects of one store come one after another.
        var last: AttachedStore?
        for (position, place) in found.objects.enumerated() {
            if last?.index != place.storeIndex { last = store(at: place.storeIndex) }
            guard let store = last else { continue }
            let object = object(for: place.key, in: store)
            if found.rows.hasRow(position) {
                if object.isFault {
                    object.takeRow(found.rows.take(position))
                } else if refreshes {
                    refreshRefetched(found.rows[position], in: store)
                }
            } else if object.isFault, !object.hasCurrentRow {
                object.batch = batch.map { BatchPlace(batch: $0, position: position) }
            }
            classes.note(object)
            objects.append(object)
        }
        if batch == nil, let last { noteSiblings(objects, in: last) }
        return objects
    }

    /// Returns the request as the parent runs it: the parent's unsaved changes are committed data for the child.
    private static func requestOfParent(_ translation: FetchTranslation) throws -> AnyFetchRequest {
        guard let request = translation.request.copy() as? AnyFetchRequest else {
            throw CoreDataErrors.invalidRequest("The fetch request cannot be copied.")
        }
        request.includesPendingChanges = true
        request.resultType = .managedObjectResultType
        request.relationshipKeyPathsForPrefetching = nil
        request.returnsObjectsAsFaults = true
        return request
    }

    private func found(_ request: AnyFetchRequest, readsRows: Bool) throws -> FoundRows {
        processPendingChanges()
        let coordinator = try coordinatorForRequest()
        let translation = try translation(of: request, coordinator)
        let stores = try readStores(for: translation.entity, affected: request.affectedStores)
        let objects = try objects(of: translation, stores: stores, readsRows: readsRows).objects
        // Faults of a child are filled when they are read, like the parent's faults.
        let isLater = stores.contains { $0.readsRowsLater } && !request.shouldRefreshRefetchedObjects
        let readsRows = readsRows && !isLater
        var rows = ContextRows(self)
        if readsRows { try readRows(of: objects) }
        var found: FoundRows = ([], RowList())
        for object in objects {
            guard let store = object.home.store ?? storeForNew(object.runtime) else { continue }
            found.objects.append(
                Found(
                    storeIndex: store.index,
                    key: RowKey(entity: object.runtime.ordinal, primaryKey: object.primaryKey)))
            found.rows.append(readsRows ? try rows.held(object) : nil)
        }
        return found
    }
}
