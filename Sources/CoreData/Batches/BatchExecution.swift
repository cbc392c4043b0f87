import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Runs batch requests of a context on the stores of its coordinator, past the context itself and its ancestors.
struct BatchExecution {
    let context: NSManagedObjectContext
    let coordinator: NSPersistentStoreCoordinator

    init(_ context: NSManagedObjectContext) throws {
        self.context = context
        coordinator = try context.coordinatorForRequest()
    }

    /// What a request did in all stores.
    private struct Outcome {
        var count = 0
        var ids: [NSManagedObjectID] = []
    }

    private var origin: ChangeOrigin { ChangeOrigin(author: context.transactionAuthor, contextName: context.name) }

    // MARK: Requests

    func run(_ request: NSBatchInsertRequest) throws -> NSBatchInsertResult {
        let entity = try entity(named: request.entityName)
        if entity.compiled.isAbstract {
            throw CoreDataErrors.invalidRequest(
                "Objects of the abstract entity '\(entity.name)' cannot be inserted; use one of its subentities.")
        }
        let conflict = Self.conflict((context.mergePolicy as? NSMergePolicy)?.mergeType)
        let wantsIDs = request.resultType == .objectIDs || !request.mergesInto.isEmpty
        let stores = try stores(for: entity, request).filter { !$0.store.isReadOnly }
        guard let (store, engine) = stores.first else {
            throw CoreDataErrors.noWritableStore(entity: entity.name, in: coordinator)
        }
        var outcome = Outcome()
        try write(store, engine) { writer in
            let rows = BatchRows(request, entity, store)
            while try rows.readPortion() {
                let keys = try writer.insert(entity: entity.ordinal, count: rows.count, conflict) {
                    try rows.row($0, key: $1)
                }
                outcome.count += keys.count
                if wantsIDs { outcome.ids += ids(of: keys, in: store) }
            }
        }
        merge(outcome.ids, NSInsertedObjectIDsKey, into: request.mergesInto)
        let result: Any =
            switch request.resultType {
            case .statusOnly: true
            case .objectIDs: outcome.ids
            case .count: outcome.count
            }
        return NSBatchInsertResult(result, request.resultType)
    }

    func run(_ request: NSBatchUpdateRequest) throws -> NSBatchUpdateResult {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: request.entityName)
        fetch.predicate = request.predicate
        fetch.includesSubentities = request.includesSubentities
        let translation = try FetchTranslation(fetch, in: coordinator.runtime)
        let wantsIDs = request.resultType == .updatedObjectIDsResultType || !request.mergesInto.isEmpty
        var outcome = Outcome()
        for (store, engine) in try stores(for: translation.entity, request) {
            let assignments = try BatchAssignments(translation.entity, store).make(request.propertiesToUpdate ?? [:])
            try write(store, engine) { writer in
                let done = try writer.update(translation.plan(for: store), assignments, wantsKeys: wantsIDs)
                outcome.count += done.count
                outcome.ids += ids(of: done.keys, in: store)
            }
        }
        merge(outcome.ids, NSUpdatedObjectIDsKey, into: request.mergesInto)
        let result: Any =
            switch request.resultType {
            case .statusOnlyResultType: true
            case .updatedObjectIDsResultType: outcome.ids
            case .updatedObjectsCountResultType: outcome.count
            }
        return NSBatchUpdateResult(result, request.resultType)
    }

    func run(_ request: NSBatchDeleteRequest) throws -> NSBatchDeleteResult {
        let wantsIDs = request.resultType == .resultTypeObjectIDs || !request.mergesInto.isEmpty
        var outcome = Outcome()
        if request.objectIDs?.isEmpty != true {
            let translation = try FetchTranslation(request.fetchRequest, in: coordinator.runtime)
            for (store, engine) in try stores(for: translation.entity, request) {
                try write(store, engine) { writer in
                    let done = try delete(request, translation, store, writer, wantsIDs)
                    outcome.count += done.count
                    outcome.ids += ids(of: done.keys, in: store)
                }
            }
        }
        merge(outcome.ids, NSDeletedObjectIDsKey, into: request.mergesInto)
        let result: Any =
            switch request.resultType {
            case .resultTypeStatusOnly: true
            case .resultTypeObjectIDs: outcome.ids
            case .resultTypeCount: outcome.count
            }
        return NSBatchDeleteResult(result, request.resultType)
    }

    private func delete(
        _ request: NSBatchDeleteRequest, _ translation: FetchTranslation, _ store: AttachedStore,
        _ writer: BatchWriter, _ wantsIDs: Bool
    ) throws -> (count: Int, keys: [RowKey]) {
        guard let ids = request.objectIDs else {
            return try writer.delete(translation.plan(for: store), wantsKeys: wantsIDs)
        }
        if let other = ids.first(where: { $0.runtime.rootName != translation.entity.rootName }) {
            throw CoreDataErrors.invalidRequest(
                "mismatched objectIDs in batch delete initializer: \(other) is no '\(translation.entity.rootName)'.")
        }
        let keys = ids.compactMap { id -> RowKey? in
            guard !id.isTemporaryID, id.storeIdentifier == store.identifier,
                let runtime = coordinator.runtime.entity(named: id.runtime.name)
            else { return nil }
            return RowKey(entity: runtime.ordinal, primaryKey: id.primaryKey)
        }
        return try writer.delete(keys, wantsKeys: wantsIDs)
    }

    // MARK: Stores

    private func entity(named name: String) throws -> EntityRuntime {
        guard let entity = coordinator.runtime.entity(named: name) else {
            throw CoreDataErrors.invalidRequest(
                "The batch request's entity '\(name)' is not in the model, which has: "
                    + coordinator.runtime.entities.map(\.name).joined(separator: ", "))
        }
        return entity
    }

    /// - Throws: where one of the stores is no SQL store.
    private func stores(
        for entity: EntityRuntime, _ request: NSPersistentStoreRequest
    ) throws -> [(store: AttachedStore, engine: StoreEngine)] {
        let stores = coordinator.stores(for: entity, affected: request.affectedStores)
        if stores.isEmpty {
            throw CoreDataErrors.coreData("No store of the coordinator has entity '\(entity.name)'.")
        }
        return try stores.map { store in
            guard let engine = store.source as? StoreEngine else {
                throw CoreDataErrors.make(
                    NSPersistentStoreUnsupportedRequestTypeError,
                    "Batch requests need an SQL store, and \(store.url?.lastPathComponent ?? "a store") is of type "
                        + "\(store.store.type): change its objects in a context, or name other affectedStores.",
                    [NSAffectedStoresErrorKey: [store.store]])
            }
            return (store, engine)
        }
    }

    private func write(
        _ store: AttachedStore, _ engine: StoreEngine, _ body: (BatchWriter) throws -> Void
    ) throws {
        do { try engine.batch(origin: origin, body) } catch SaveFailure.constraints {
            throw CoreDataErrors.make(
                NSManagedObjectConstraintMergeError,
                "The batch request was refused, and nothing was written: values that must be unique are taken. A merge policy of the "
                    + "context, such as mergeByPropertyObjectTrump, has a batch insert update what is there.",
                [NSAffectedStoresErrorKey: [store.store]])
        } catch let denied as DeletionDenied {
            let entity = coordinator.runtime.entities[denied.key.entity]
            throw CoreDataErrors.make(
                NSValidationRelationshipDeniedDeleteError,
                "Nothing was deleted: the relationship '\(denied.relationship)' of \(entity.name) \(denied.key.primaryKey) is not "
                    + "empty, and its delete rule denies to delete the object then.",
                [NSValidationKeyErrorKey: denied.relationship])
        } catch { throw CoreDataErrors.converted(error, store: store, context: nil) }
        store.saveObservers.tell()
    }

    private func ids(of keys: [RowKey], in store: AttachedStore) -> [NSManagedObjectID] {
        keys.map {
            NSManagedObjectID(
                runtime: coordinator.runtime.entities[$0.entity], primaryKey: $0.primaryKey, store: store)
        }
    }

    private func merge(_ ids: [NSManagedObjectID], _ key: String, into contexts: [NSManagedObjectContext]) {
        guard !contexts.isEmpty, !ids.isEmpty else { return }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: ids], into: contexts)
    }

    private static func conflict(_ policy: NSMergePolicyType?) -> BatchConflict {
        switch policy {
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType: .update
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: .keep
        default: .fail
        }
    }
}
