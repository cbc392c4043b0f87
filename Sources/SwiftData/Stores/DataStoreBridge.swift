import CoreData
import Foundation

/// The engine's store in front of a ``DataStore``: translates requests to those of the protocol, and snapshots to
/// nodes.
///
/// ```
///  fetch ──▶ descriptor ──▶ DataStore.fetch ──▶ snapshots, held by ID ──▶ IDs of the models
///  fault ──▶ held snapshot, else DataStore.cachedSnapshots, else DataStore.fetch ──▶ node
///  save  ──▶ snapshots of the context's models ──▶ DataStore.save ──▶ new models get their new identifiers
/// ```
/// A snapshot that came with a fetch is used for one node. A second read, before a save or for a refresh, asks the
/// store again.
final class DataStoreBridge: NSIncrementalStore, BatchReadingIncrementalStore, @unchecked Sendable {
    // Safe because the engine asks a store on one thread at a time.

    static let storeType = "SwiftData.DataStore"
    private static let optionKey = "SwiftData.DataStoreAdapter"
    private static let isRegistered: Bool = {
        NSPersistentStoreCoordinator.registerStoreClass(DataStoreBridge.self, forStoreType: storeType)
        return true
    }()

    private let given: Given
    /// The snapshots of the store that were not used yet.
    private var held: [NSManagedObjectID: HeldRow] = [:]
    /// The values that the store changed in the last save.
    private var changedBySave: [(id: NSManagedObjectID, row: DataStoreRow)] = []
    /// The position of the store's history after the last save, with the context that saved.
    private var tokenOfSave: (token: any HistoryToken, state: UUID)?
    private var knownStates: Set<UUID> = []
    private let ownState = EditingState()

    /// The adapter, as an option of the store.
    private final class Given: NSObject {
        let adapter: any DataStoreAdapting

        init(_ adapter: any DataStoreAdapting) { self.adapter = adapter }
    }

    struct HeldRow {
        /// As ``NSIncrementalStoreNode`` has them.
        var values: [String: Any]
        var version: UInt64
        /// Whether it has come since a node was last made.
        var isFresh: Bool
    }

    /// Adds a store of an app's own to a coordinator.
    static func add(
        _ adapter: any DataStoreAdapting, to coordinator: NSPersistentStoreCoordinator, configuration: String?
    ) throws {
        _ = isRegistered
        try coordinator.addPersistentStore(
            ofType: storeType, configurationName: configuration, at: nil, options: [optionKey: Given(adapter)])
    }

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        guard let given = options?[Self.optionKey] as? Given else {
            preconditionFailure("A ModelContainer makes stores of this class.")
        }
        self.given = given
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    }

    var adapter: any DataStoreAdapting { given.adapter }
    var dataStore: any DataStore { given.adapter.dataStore }

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: dataStore.identifier]
    }

    // MARK: Requests

    override func execute(
        _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
    ) throws -> Any {
        switch request {
        case let request as NSSaveChangesRequest:
            try save(request, context)
            return [Any]()
        case let request as AnyFetchRequest:
            guard let context, let type = adapter.modelTypes[request.entityName ?? ""] else { return [Any]() }
            return try fetch(type, request, context)
        default:
            throw DataStoreError.unsupportedFeature
        }
    }

    private func fetch<T: PersistentModel>(
        _ type: T.Type, _ request: AnyFetchRequest, _ context: NSManagedObjectContext
    ) throws -> Any {
        let scope = DataStoreScope.current
        let state = scope?.editingState ?? ownState
        begin(state)
        let fetch = DataStoreFetch(request, scope?.descriptor(of: type, for: request))
        if request.resultType == .countResultType, !fetch.needsMemory,
            let count = try fetch.count(adapter, state)
        {
            return [NSNumber(value: count)]
        }
        let objects = try fetch.objects(adapter, state, context) { try self.take($0) }
        return request.resultType == .countResultType ? [NSNumber(value: objects.count)] : objects
    }

    /// Holds the store's snapshot, and returns the model's ID.
    @discardableResult
    private func take(_ row: DataStoreRow, isWritten: Bool = false) throws -> NSManagedObjectID {
        let id = try objectID(of: row)
        try hold(row, id, isWritten: isWritten)
        return id
    }

    private func objectID(of row: DataStoreRow) throws -> NSManagedObjectID {
        guard let coordinator = persistentStoreCoordinator,
            let id = row.identifier.objectID(in: coordinator), id.persistentStore === self
        else {
            throw SwiftDataError(
                .unknownSchema,
                "\(Swift.type(of: dataStore)) returned a snapshot of \(row.identifier), which is none of its models: "
                    + "make identifiers by PersistentIdentifier.identifier(for: identifier, entityName:, primaryKey:).")
        }
        return id
    }

    private func hold(_ row: DataStoreRow, _ id: NSManagedObjectID, isWritten: Bool) throws {
        let values = try NodeValues(self, id).values(of: row)
        if let known = held[id] {
            let isSame = NodeValues.areEqual(known.values, values)
            held[id] = HeldRow(values: values, version: isSame ? known.version : known.version + 1, isFresh: true)
            // The engine has cached rows, which it would not read again.
            if !isSame, !isWritten { forgetValues(of: [id]) }
        } else {
            held[id] = HeldRow(values: values, version: 1, isFresh: true)
        }
    }

    // MARK: Nodes

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        guard let node = try nodes([objectID]).first else {
            throw CocoaError(
                CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError),
                userInfo: [
                    NSLocalizedDescriptionKey: "\(Swift.type(of: dataStore)) has no model \(objectID) any more."
                ])
        }
        return node
    }

    func newValuesForObjects(
        with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSIncrementalStoreNode] { try nodes(objectIDs) }

    private func nodes(_ ids: [NSManagedObjectID]) throws -> [NSIncrementalStoreNode] {
        let stale = ids.filter { held[$0]?.isFresh != true }
        if !stale.isEmpty { try read(stale) }
        return ids.compactMap { id in
            guard let row = held[id] else { return nil }
            held[id]?.isFresh = false
            return NSIncrementalStoreNode(objectID: id, withValues: row.values, version: row.version)
        }
    }

    /// Reads models from the store: first those that it has in memory, then all of their entities.
    private func read(_ ids: [NSManagedObjectID]) throws {
        var missing = Set(ids)
        for row in try adapter.cached(ids.map { PersistentIdentifier($0) }, ownState) {
            missing.remove(try take(row))
        }
        for (name, ids) in Dictionary(grouping: missing, by: { $0.entity.name ?? "" }) {
            guard let type = adapter.modelTypes[name] else { continue }
            try read(type, Set(ids))
        }
    }

    private func read<T: PersistentModel>(_ type: T.Type, _ wanted: Set<NSManagedObjectID>) throws {
        var missing = wanted
        for row in try adapter.fetch(FetchDescriptor<T>(), ownState).fetched {
            let id = try objectID(of: row)
            guard missing.remove(id) != nil else { continue }
            try hold(row, id, isWritten: false)
        }
        for id in missing { held[id] = nil }
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        if held[objectID] == nil { try read([objectID]) }
        guard let value = held[objectID]?.values[relationship.name] else {
            return relationship.isToMany ? [NSManagedObjectID]() as Any : NSNull()
        }
        return value
    }

    // MARK: Saving

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        // The store assigns the identifiers when it saves.
        array.map { newObjectID(for: $0.entity, referenceObject: "new-" + UUID().uuidString) }
    }

    private func save(_ request: NSSaveChangesRequest, _ context: NSManagedObjectContext?) throws {
        guard let inserted = request.insertedObjects, let updated = request.updatedObjects,
            let deleted = request.deletedObjects
        else { return }
        guard let context = (context as? ModelObjectContext)?.modelContext else {
            throw SwiftDataError(
                .missingModelContext,
                "Models of \(Swift.type(of: dataStore)) can be saved by a ModelContext only.")
        }
        begin(context.editingState)
        changedBySave = []
        tokenOfSave = nil
        let managed = context.managedObjectContext
        let saved = try adapter.save(
            inserted: models(inserted, managed.pendingInsertions, context),
            updated: models(updated, managed.pendingUpdates, context),
            deleted: models(deleted, managed.pendingDeletions, context), context.editingState)
        tokenOfSave = saved.historyToken.map { ($0, context.editingState.id) }
        for object in deleted { held[object.objectID] = nil }
        for row in saved.rows { try take(row, isWritten: true) }
        guard let coordinator = persistentStoreCoordinator else { return }
        for (former, identifier) in saved.remappedIdentifiers {
            guard let id = former.objectID(in: coordinator) else { continue }
            rename(id, toReferenceText: String(identifier.primaryKey.dropFirst()))
        }
        // The engine knows the written rows, and asks for their versions; then it is notified of the changes.
        for row in saved.changedRows {
            guard let id = row.identifier.objectID(in: coordinator) else { continue }
            changedBySave.append((id, row))
        }
    }

    /// In the order in which the context has them.
    private func models(
        _ objects: Set<NSManagedObject>, _ ordered: [NSManagedObject], _ context: ModelContext
    ) -> [any PersistentModel] {
        let known = ordered.filter { objects.contains($0) }
        let others = objects.subtracting(known)
        return (known + others).map { context.model(for: $0) }
    }

    /// Has the context's models take the values that the store gave them as it saved them.
    private func takeChanges(_ context: NSManagedObjectContext) {
        var changed: [NSManagedObjectID] = []
        alone {
            for (id, row) in changedBySave where (try? hold(row, id, isWritten: false)) != nil { changed.append(id) }
            changedBySave = []
        }
        for object in changed.compactMap({ context.registeredObject(for: $0) }) {
            context.refresh(object, mergeChanges: true)
        }
    }

    /// Called after a save.
    static func takeChanges(of context: ModelContext) {
        guard context.container.usesDataStores else { return }
        let managed = context.managedObjectContext
        for store in managed.persistentStoreCoordinator?.persistentStores ?? [] {
            (store as? DataStoreBridge)?.takeChanges(managed)
        }
    }

    /// Returns the position of a store's history after the context's last save; `nil` if no store of an app's own has
    /// one.
    static func historyToken(afterSaveOf context: ModelContext) -> (any HistoryToken)? {
        guard context.container.usesDataStores else { return nil }
        let id = context.editingState.id
        var found: (any HistoryToken)?
        for store in context.managedObjectContext.persistentStoreCoordinator?.persistentStores ?? [] {
            guard let store = store as? DataStoreBridge else { continue }
            store.alone {
                guard let saved = store.tokenOfSave, saved.state == id else { return }
                store.tokenOfSave = nil
                found = found ?? saved.token
            }
        }
        return found
    }

    /// Has the store delete everything.
    func erase() throws {
        var failure: (any Error)?
        alone {
            do { try adapter.erase() } catch { failure = error }
            forgetValues(of: Array(held.keys))
            held = [:]
        }
        if let failure { throw failure }
    }

    // MARK: Contexts

    private func begin(_ state: EditingState) {
        guard knownStates.insert(state.id).inserted else { return }
        adapter.initializeState(for: state)
    }

    /// Called when a context goes.
    static func end(_ state: EditingState, in coordinator: NSPersistentStoreCoordinator) {
        for store in coordinator.persistentStores {
            guard let store = store as? DataStoreBridge else { continue }
            store.alone {
                guard store.knownStates.remove(state.id) != nil else { return }
                store.adapter.invalidateState(for: state)
            }
        }
    }

    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
        // A model that is not in use is read again; another context that has the model reads the row, which the engine
        // keeps.
        for id in objectIDs where held[id]?.isFresh == false { held[id] = nil }
    }
}

extension ModelContainer {
    /// The stores of the app's own that the container has opened.
    ///
    /// Not in Apple's framework.
    public var dataStores: [any DataStore] {
        coordinator.persistentStores.compactMap { ($0 as? DataStoreBridge)?.dataStore }
    }
}
