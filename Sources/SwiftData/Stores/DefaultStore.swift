import CoreData
import Foundation

/// The store of a ``ModelConfiguration``, to be used by itself or by a store of an app's own: by snapshots, without a
/// context.
///
///     let store = try DefaultStore(ModelConfiguration(schema: Schema([Trip.self]), url: file))
///     let result = try store.fetch(request)
///     // SELECT … FROM ZTRIP t0
///
/// A ``ModelContainer`` with a `ModelConfiguration` needs none of this: its contexts read rows.
public final class DefaultStore: DataStore, DataStoreBatching, HistoryProviding {
    public typealias Configuration = ModelConfiguration
    public typealias Snapshot = DefaultSnapshot

    /// The configuration's name.
    public let name: String
    public let schema: Schema
    public let configuration: ModelConfiguration
    public let identifier: String

    private let container: ModelContainer
    private let store: NSPersistentStore

    /// Opens the store.
    ///
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` for a configuration without a schema, or a file that cannot
    ///   be opened.
    public init(
        _ configuration: ModelConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)? = nil
    ) throws {
        guard let schema = configuration.schema else {
            throw SwiftDataError(
                .loadIssueModelContainer, "Configuration '\(configuration.name)' has no schema. Set its schema.")
        }
        container = try ModelContainer(for: schema, migrationPlan: migrationPlan, configurations: [configuration])
        guard let store = container.coordinator.persistentStores.first else {
            throw SwiftDataError(.loadIssueModelContainer, "Configuration '\(configuration.name)' has no store.")
        }
        SnapshotTypes.add(container.modelTypes)
        self.store = store
        self.schema = schema
        self.configuration = configuration
        name = configuration.name
        identifier = store.identifier
    }

    // MARK: Reading

    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        let context = ModelContext(container)
        let models = try context.fetch(request.descriptor)
        var related: [PersistentIdentifier: DefaultSnapshot] = [:]
        for keyPath in request.descriptor.relationshipKeyPathsForPrefetching {
            for model in models { add(models: model[keyPath: keyPath], to: &related) }
        }
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: models.map { snapshot(of: $0) },
            relatedSnapshots: related)
    }

    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try ModelContext(container).fetchCount(request.descriptor)
    }

    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] { try ModelContext(container).fetchIdentifiers(request.descriptor) }

    /// The rows of these models, as far as there are any.
    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        let context = managedObjectContext(editingState)
        return context.performAndWait {
            var snapshots: [PersistentIdentifier: DefaultSnapshot] = [:]
            for identifier in persistentIdentifiers {
                guard let id = identifier.objectID(in: container.coordinator), let type = type(of: id),
                    let object = try? context.existingObject(with: id)
                else { continue }
                snapshots[identifier] = SnapshotReading.snapshot(
                    of: object, ModelLayout.of(type), PersistentIdentifier(id))
            }
            return snapshots
        }
    }

    private func snapshot<T: PersistentModel>(of model: T) -> DefaultSnapshot {
        SnapshotReading.snapshot(of: model.persistentBackingData)
    }

    private func add(models value: Any, to related: inout [PersistentIdentifier: DefaultSnapshot]) {
        var value = value
        while let optional = value as? any OptionalType {
            guard let inner = optional.wrapped else { return }
            value = inner
        }
        let models = (value as? [any PersistentModel]) ?? (value as? any PersistentModel).map { [$0] } ?? []
        for model in models { related[model.persistentModelID] = snapshot(of: model) }
    }

    // MARK: Writing

    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        let context = managedObjectContext(request.editingState)
        let saving = SnapshotSaving(context: context, coordinator: container.coordinator, types: container.modelTypes)
        let remapped = try saving.save(request)
        let token = context.performAndWait { context.historyTokenAfterSave }
        return DataStoreSaveChangesResult(
            for: identifier, remappedIdentifiers: remapped,
            historyToken: token.map { DefaultHistoryToken($0.positions) })
    }

    public func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        let context = ModelContext(container)
        context.author = request.editingState.author
        try context.delete(model: T.self, where: request.predicate, includeSubclasses: request.includeSubclasses)
        try context.save()
    }

    public func erase() throws { try container.erase() }

    /// Does nothing: every request has a context of its own.
    public func initializeState(for editingState: EditingState) {}

    /// Does nothing: every request has a context of its own.
    public func invalidateState(for editingState: EditingState) {}

    private func managedObjectContext(_ state: EditingState) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = container.coordinator
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        context.transactionAuthor = state.author
        return context
    }

    private func type(of id: NSManagedObjectID) -> (any PersistentModel.Type)? {
        container.modelTypes[id.entity.name ?? ""]
    }

    // MARK: History

    /// Transactions of this module.
    public static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    public func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] { try history.transactions(descriptor) }

    public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        try history.delete(descriptor)
    }

    private var history: StoreHistory {
        StoreHistory(coordinator: container.coordinator, modelTypes: container.modelTypes, stores: [store])
    }
}
