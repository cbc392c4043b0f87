import Foundation

/// What a context fetches.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
    /// The context that asks.
    public let editingState: EditingState
    /// What it asks for.
    public let descriptor: FetchDescriptor<T>

    package init(editingState: EditingState, descriptor: FetchDescriptor<T>) {
        self.editingState = editingState
        self.descriptor = descriptor
    }
}

/// What a store gives for a fetch.
public struct DataStoreFetchResult<ModelType: PersistentModel, SnapshotType: DataStoreSnapshot>: Sendable {
    /// What was asked for.
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

/// What a context saves.
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

/// What a store gives for a save.
public final class DataStoreSaveChangesResult<T: DataStoreSnapshot>: Sendable {
    /// The identifiers that new models have from now on, by their temporary ones.
    public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
    /// The identifier of the store.
    public let storeIdentifier: String
    /// Models whose values the store changed as it saved them. Contexts take these values.
    public let snapshotsToReregister: [PersistentIdentifier: T]

    /// Makes a result.
    public init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:]
    ) {
        self.storeIdentifier = storeIdentifier
        self.remappedIdentifiers = remappedIdentifiers
        self.snapshotsToReregister = snapshotsToReregister
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
