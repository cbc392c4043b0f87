import Foundation

/// An app's own store: a file, a web service, a database of another kind.
///
///     final class JSONStore: DataStore {
///         typealias Configuration = JSONStoreConfiguration
///         typealias Snapshot = DefaultSnapshot
///         …
///     }
///     let container = try ModelContainer(for: Trip.self, configurations: JSONStoreConfiguration(url: file))
///
/// A container's contexts ask the store for snapshots of models, and give it snapshots to save. Contexts keep the
/// snapshots that they received. Identity, faulting, observation and undo are the same as with any store. One thread at
/// a time calls the store.
///
/// A store that throws ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` from
/// ``fetch(_:)`` is called again without the predicate, or without the order, and the module does the rest in memory.
public protocol DataStore: AnyObject {
    associatedtype Configuration: DataStoreConfiguration where Configuration.Store == Self
    associatedtype Snapshot: DataStoreSnapshot

    /// Identifies the store, also after the next launch. Identifiers of its models contain it.
    var identifier: String { get }
    /// The entities that the store keeps.
    var schema: Schema { get }
    /// The configuration that the store was made of.
    var configuration: Configuration { get }

    /// Opens the store.
    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

    /// Deletes all data.
    func erase() throws
    /// Returns the snapshots of a descriptor, and those of related models that came with them.
    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Snapshot>
    /// The number of models that a descriptor asks for.
    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int
    /// The identifiers of the models that a descriptor asks for.
    func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]
    /// Writes the changes of a context's save. If it throws, nothing is written.
    func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot>
    /// A context begins to use the store.
    func initializeState(for editingState: EditingState)
    /// A context no longer uses the store.
    func invalidateState(for editingState: EditingState)
    /// The snapshots that the store has at hand, of those models. The others are fetched.
    func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot]
}

extension DataStore {
    /// Throws ``DataStoreError/unsupportedFeature``.
    public func erase() throws { throw DataStoreError.unsupportedFeature }

    /// The number of snapshots that ``fetch(_:)`` gives.
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try fetch(request).fetchedSnapshots.count
    }

    /// The identifiers of the snapshots that ``fetch(_:)`` gives.
    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        try fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
    }

    /// Does nothing.
    public func initializeState(for editingState: EditingState) {}

    /// Does nothing.
    public func invalidateState(for editingState: EditingState) {}

    /// None.
    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

/// A store that deletes many models without reading them.
public protocol DataStoreBatching: DataStore {
    /// Deletes the models that a request asks for.
    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}
