import Foundation

/// A context's fetch.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
    /// The context that asks.
    public let editingState: EditingState
    /// The descriptor.
    public let descriptor: FetchDescriptor<T>

    package init(editingState: EditingState, descriptor: FetchDescriptor<T>) {
        self.editingState = editingState
        self.descriptor = descriptor
    }
}

/// A store's answer to a fetch.
public struct DataStoreFetchResult<ModelType: PersistentModel, SnapshotType: DataStoreSnapshot>: Sendable {
    /// The descriptor.
    public let descriptor: FetchDescriptor<ModelType>
    /// The snapshots that were asked for, in order.
    public let fetchedSnapshots: [SnapshotType]
    /// Snapshots of related models, by identifier: they need not be fetched when they are used.
    public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

    /// Makes a result.
    public init(
        descriptor: FetchDescriptor<ModelType>, fetchedSnapshots: [SnapshotType],
        relatedSnapshots: [PersistentIdentifier: SnapshotType] = [:]
    ) {
        self.descriptor = descriptor
        self.fetchedSnapshots = fetchedSnapshots
        self.relatedSnapshots = relatedSnapshots
    }
}

/// The changes that a context saves.
public struct DataStoreSaveChangesRequest<SnapshotType: DataStoreSnapshot>: Sendable {
    /// New models, with temporary identifiers.
    public let inserted: [SnapshotType]
    /// Changed models, with all of their values.
    public let updated: [SnapshotType]
    /// Deleted models, with their last values.
    public let deleted: [SnapshotType]
    /// The context that saves.
    public let editingState: EditingState

    package init(
        inserted: [SnapshotType], updated: [SnapshotType], deleted: [SnapshotType], editingState: EditingState
    ) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.editingState = editingState
    }
}

/// A store's answer to a save.
public final class DataStoreSaveChangesResult<T: DataStoreSnapshot>: Sendable {
    /// The permanent identifiers of new models, by their temporary ones.
    public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
    /// The identifier of the store.
    public let storeIdentifier: String
    /// Models whose values the store changed as it saved them. Contexts take these values.
    public let snapshotsToReregister: [PersistentIdentifier: T]
    /// The position of the store's history after the save; `nil` where the store keeps none.
    public let historyToken: (any HistoryToken)?

    /// Makes the result of a store that keeps no history.
    public convenience init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:]
    ) {
        self.init(
            for: storeIdentifier, remappedIdentifiers: remappedIdentifiers,
            snapshotsToReregister: snapshotsToReregister, historyToken: nil)
    }

    /// Makes the result of a store that keeps a history: ``ModelContext/didSave`` has the token.
    public init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:], historyToken: (any HistoryToken)?
    ) {
        self.storeIdentifier = storeIdentifier
        self.remappedIdentifiers = remappedIdentifiers
        self.snapshotsToReregister = snapshotsToReregister
        self.historyToken = historyToken
    }
}

/// What is deleted without being read.
public struct DataStoreBatchDeleteRequest<T: PersistentModel>: Sendable {
    /// The context that asks.
    public let editingState: EditingState
    /// The condition that a model must satisfy; `nil` for all models.
    public let predicate: Predicate<T>?
    /// Whether models of subclasses count.
    public let includeSubclasses: Bool

    package init(editingState: EditingState, predicate: Predicate<T>?, includeSubclasses: Bool) {
        self.editingState = editingState
        self.predicate = predicate
        self.includeSubclasses = includeSubclasses
    }
}

/// What a store of an app's own cannot do, or leaves to this module.
public enum DataStoreError: Error, Hashable, Sendable {
    /// The store does not do what was asked for.
    case unsupportedFeature
    /// Give the store a request without predicate, and filter what it returns.
    case preferInMemoryFilter
    /// Give the store a request without an order, and sort what it returns.
    case preferInMemorySort
    /// The store cannot evaluate the predicate.
    case invalidPredicate
}
