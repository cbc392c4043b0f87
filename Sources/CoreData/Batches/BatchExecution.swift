import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Runs batch requests of a context on the stores of its coordinator, past the context itself and its ancestors.
struct BatchExecution {
    let context: NSManagedObjectContext
    let coordinator: NSPersistentStoreCoordinator
    private let restriction: (any ContextRestriction)?

    init(_ context: NSManagedObjectContext) throws {
        self.context = context
        coordinator = try context.coordinatorForRequest()
        restriction = context.restriction
    }

    private var origin: ChangeOrigin { ChangeOrigin(author: context.transactionAuthor, contextName: context.name) }

    // MARK: Requests

    func run(_ request: NSBatchInsertRequest) throws -> NSBatchInsertResult {
        let entity = try entity(named: request.entityName)
        if entity.compiled.isAbstract {
            throw CoreDataErrors.invalidRequest(
                "Objects of the abstract entity '\(entity.name)' cannot be inserted; use one of its subentities.")
        }
        try restriction?.checkInsertion(of: entity.ordinal)
        // A restricted request must not change rows that it has not found.
        let conflict =
            restriction == nil ? Self.conflict((context.mergePolicy as? NSMergePolicy)?.mergeType) : .fail
        guard
            let place = try stores(for: entity, request.affectedStores, itself: true).first(where: {
                !$0.store.isReadOnly
            })
        else {
            throw CoreDataErrors.noWritableStore(entity: entity.name, in: coordinator)
        }
        let result = try write(
            [place], request.resultType.form, NSInsertedObjectIDsKey, into: request.mergesInto,
            isRepeatable: request.objectsToInsert != nil
        ) { store, writer, wantsKeys in
            let rows = try BatchRows(request, entity, store, writer, in: coordinator.runtime)
            var done = Done()
            var read = 0
            while try rows.readPortion() {
                let part = try writer.insert(
                    entity: entity.ordinal, rows.insertions, given: rows.given, rows.mandatory, first: read + 1,
                    conflict, wantsKeys: wantsKeys)
                read += rows.insertions.count
                done.count += part.count
                if wantsKeys { done.keys += part.keys }
            }
            return done
        }
        return NSBatchInsertResult(result, request.resultType)
    }

    func run(_ request: NSBatchUpdateRequest) throws -> NSBatchUpdateResult {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: request.entityName)
        fetch.predicate = request.predicate
        fetch.includesSubentities = request.includesSubentities
        let translation = try FetchTranslation(fetch, in: coordinator.runtime, clock: coordinator.clock)
        let stores = try stores(for: translation.entity, request.affectedStores)
        guard let properties = request.propertiesToUpdate, !properties.isEmpty else {
            throw CoreDataErrors.invalidRequest(
                "The batch update of entity '\(request.entityName)' has no propertiesToUpdate: it would change nothing."
            )
        }
        let result = try write(stores, request.resultType.form, NSUpdatedObjectIDsKey, into: request.mergesInto) {
            store, writer, wantsKeys in
            let assignments = try BatchAssignments(translation.entity, store).make(properties)
            let plan = try restriction.writable(translation.plan(for: store), setting: assignments.map(\.slot))
            return Done(try writer.update(plan, assignments, wantsKeys: wantsKeys))
        }
        return NSBatchUpdateResult(result, request.resultType)
    }

    func run(_ request: NSBatchDeleteRequest) throws -> NSBatchDeleteResult {
        // Objects without a row would be omitted without a message.
        if let unsaved = request.objectIDs?.first(where: \.isTemporaryID) {
            throw CoreDataErrors.invalidRequest(
                "A batch delete cannot delete \(unsaved), whose ID is temporary, since it is in no store: save the context that "
                    + "inserted it first, or delete it there.")
        }
        let isEmpty = request.objectIDs?.isEmpty == true
        let translation =
            isEmpty
            ? nil : try FetchTranslation(request.fetchRequest, in: coordinator.runtime, clock: coordinator.clock)
        let affected = request.affectedStores ?? request.fetchRequest.affectedStores
        let stores = try translation.map { try self.stores(for: $0.entity, affected) } ?? []
        let ids = try request.objectIDs ?? (stores.count > 1 ? window(of: request.fetchRequest, affected) : nil)
        let result = try write(stores, request.resultType.form, NSDeletedObjectIDsKey, into: request.mergesInto) {
            store, writer, wantsKeys in
            guard let translation else { return Done() }
            guard let ids else {
                let plan = try restriction.writable(translation.plan(for: store), setting: nil)
                return Done(try writer.delete(plan, wantsKeys: wantsKeys))
            }
            let keys = try self.keys(of: ids, in: store, translation)
            let plan = try restriction.deletable(keys, of: translation.entity.ordinal)
            return Done(
                try plan.map { try writer.delete($0, wantsKeys: wantsKeys) }
                    ?? writer.delete(keys, wantsKeys: wantsKeys))
        }
        return NSBatchDeleteResult(result, request.resultType)
    }

    /// Returns the objects of all stores together that are between the request's offset and limit; `nil` if it has
    /// neither.
    private func window(
        of fetch: AnyFetchRequest, _ affected: [NSPersistentStore]?
    ) throws -> [NSManagedObjectID]? {
        guard fetch.fetchLimit > 0 || fetch.fetchOffset > 0 else { return nil }
        let request = NSFetchRequest<NSManagedObjectID>(entityName: fetch.entityName ?? "")
        (request.predicate, request.sortDescriptors) = (fetch.predicate, fetch.sortDescriptors)
        (request.fetchLimit, request.fetchOffset) = (fetch.fetchLimit, fetch.fetchOffset)
        (request.includesSubentities, request.affectedStores) = (fetch.includesSubentities, affected)
        request.resultType = .managedObjectIDResultType
        let reading = NSManagedObjectContext(.privateQueue)
        reading.persistentStoreCoordinator = coordinator
        reading.storeView.restriction = restriction
        return try reading.performAndWait { try reading.fetch(request) }
    }

    private func keys(
        of ids: [NSManagedObjectID], in store: AttachedStore, _ translation: FetchTranslation
    ) throws -> [RowKey] {
        if let other = ids.first(where: { $0.runtime.rootName != translation.entity.rootName }) {
            throw CoreDataErrors.invalidRequest(
                "mismatched objectIDs in batch delete initializer: \(other) is no '\(translation.entity.rootName)'.")
        }
        return ids.compactMap { id -> RowKey? in
            guard !id.isTemporaryID, id.storeIdentifier == store.identifier,
                let runtime = coordinator.runtime.entity(named: id.runtime.name)
            else { return nil }
            return RowKey(entity: runtime.ordinal, primaryKey: id.primaryKey)
        }
    }

    // MARK: Writing

    /// The result of a request in one store.
    private struct Done {
        var count = 0
        /// The keys, if they are requested.
        var keys: [RowKey] = []

        init() {}
        init(_ done: (count: Int, keys: [RowKey])) { (count, keys) = done }
    }

    private typealias Place = (store: AttachedStore, source: any BatchSource)

    /// Writes to every store, or to none; then notifies the contexts, and makes the result.
    private func write(
        _ places: [Place], _ form: BatchResultForm, _ key: String, into contexts: [NSManagedObjectContext],
        isRepeatable: Bool = true, _ body: (AttachedStore, BatchWriter, _ wantsKeys: Bool) throws -> Done
    ) throws -> Any {
        let wantsKeys = form == .ids || !contexts.isEmpty || restriction != nil
        var written: [(store: AttachedStore, done: Done)] = []
        defer { for (store, _) in written { store.saveObservers.tell() } }
        // Always in the same order, so that writers of the same files never wait for one another in a circle.
        let sorted = places.sorted { $0.store.identifier < $1.store.identifier }
        try write(sorted[...], &written, isRepeatable: isRepeatable) { try body($0, $1, wantsKeys) }
        let ids = written.reversed().flatMap { store, done in
            done.keys.map {
                NSManagedObjectID(
                    runtime: coordinator.runtime.entities[$0.entity], primaryKey: $0.primaryKey, store: store)
            }
        }
        if !contexts.isEmpty, !ids.isEmpty {
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: ids], into: contexts)
        }
        return switch form {
        case .status: true
        case .ids: ids
        case .count: written.reduce(0) { $0 + $1.done.count }
        }
    }

    /// Writes to the first store and, while its transaction is open, to the others: then the last one commits first.
    private func write(
        _ places: ArraySlice<Place>, _ written: inout [(store: AttachedStore, done: Done)], isRepeatable: Bool,
        _ body: (AttachedStore, BatchWriter) throws -> Done
    ) throws {
        guard let place = places.first else { return }
        let done: Done
        do {
            // Changes that other code makes inside this transaction are not rolled back with it.
            let check = try restriction?.batchCheck(of: place.store.target)
            done = try place.source.batch(
                origin: origin, isRepeatable: isRepeatable && places.count == 1, checkedBy: check
            ) { writer in
                let done = try body(place.store, writer)
                try write(places.dropFirst(), &written, isRepeatable: isRepeatable, body)
                return done
            }
        } catch {
            let error = self.error(error, of: place.store)
            // A store whose transaction began after this one has been committed.
            guard !written.isEmpty else { throw error }
            throw CoreDataErrors.incompleteSave([(place.store.store, error)])
        }
        written.append((place.store, done))
    }

    private func error(_ error: any Error, of store: AttachedStore) -> any Error {
        switch error {
        case SaveFailure.constraints:
            CoreDataErrors.make(
                NSManagedObjectConstraintMergeError,
                "The batch request was refused, and nothing was written: values that must be unique are taken. A merge policy of the "
                    + "context, such as mergeByPropertyObjectTrump, has a batch insert update what is there.",
                [NSAffectedStoresErrorKey: [store.store]])
        case let places as MissingPlaces:
            CoreDataErrors.make(
                NSManagedObjectConstraintMergeError,
                "The batch insert was refused, and nothing was written: a \(places.entity) cannot become the \(places.survivor) that has "
                    + "its unique values already, which has no place for \(places.properties.joined(separator: ", ")). Delete that one "
                    + "first, or leave these out.",
                [NSAffectedStoresErrorKey: [store.store]])
        case let missing as MissingValue: ValidationErrors.missing(missing, in: coordinator.runtime, store.store)
        case let denied as DeletionDenied:
            CoreDataErrors.make(
                NSValidationRelationshipDeniedDeleteError,
                "Nothing was deleted: the relationship '\(denied.relationship)' of "
                    + "\(coordinator.runtime.entities[denied.key.entity].name) \(denied.key.primaryKey) is not "
                    + "empty, and its delete rule denies to delete the object then.",
                [NSValidationKeyErrorKey: denied.relationship])
        case let inverse as MandatoryInverse: mandatory(inverse)
        default: CoreDataErrors.converted(error, store: store, context: nil)
        }
    }

    private func mandatory(_ inverse: MandatoryInverse) -> CocoaError {
        let entity = coordinator.runtime.entities[inverse.key.entity]
        let name = entity.slots[inverse.slot].name
        return CoreDataErrors.make(
            NSValidationMissingMandatoryPropertyError,
            "Constraint trigger violation: the batch request was refused, and nothing was written, since it would empty the mandatory "
                + "to-one relationship '\(name)' of \(entity.name) \(inverse.key.primaryKey). Delete that object too, by a cascading "
                + "delete rule or first, or lead it elsewhere.",
            [NSValidationKeyErrorKey: name])
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

    /// Returns the stores of the request; with `itself` only those that have the entity itself, not only some of its
    /// subentities.
    ///
    /// - Throws: an error if one of the stores is no SQL store.
    private func stores(
        for entity: EntityRuntime, _ affected: [NSPersistentStore]?, itself: Bool = false
    ) throws -> [Place] {
        let stores = coordinator.stores(for: entity, affected: affected).filter {
            !itself || $0.source.includes(entity: entity.ordinal)
        }
        if stores.isEmpty { throw CoreDataErrors.coreData("No store of the coordinator has entity '\(entity.name)'.") }
        return try stores.map { store in
            guard let source = store.target as? any BatchSource else {
                throw CoreDataErrors.make(
                    NSPersistentStoreUnsupportedRequestTypeError,
                    "Batch requests need a store that is a database: SQLite in a file or in memory, or a server. "
                        + "\(store.store.shownName) is of type \(store.store.type): change its objects in a context, or name "
                        + "other affectedStores.",
                    [NSAffectedStoresErrorKey: [store.store]])
            }
            return (store, source)
        }
    }

    private static func conflict(_ policy: NSMergePolicyType?) -> BatchConflict {
        switch policy {
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType: .update
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: .keep
        default: .fail
        }
    }
}

/// The form of a batch request's result, for all kinds of requests.
enum BatchResultForm {
    case status
    case ids
    case count
}

extension NSBatchInsertRequestResultType {
    var form: BatchResultForm {
        switch self {
        case .statusOnly: .status
        case .objectIDs: .ids
        case .count: .count
        }
    }
}

extension NSBatchUpdateRequestResultType {
    var form: BatchResultForm {
        switch self {
        case .statusOnlyResultType: .status
        case .updatedObjectIDsResultType: .ids
        case .updatedObjectsCountResultType: .count
        }
    }
}

extension NSBatchDeleteRequestResultType {
    var form: BatchResultForm {
        switch self {
        case .resultTypeStatusOnly: .status
        case .resultTypeObjectIDs: .ids
        case .resultTypeCount: .count
        }
    }
}
