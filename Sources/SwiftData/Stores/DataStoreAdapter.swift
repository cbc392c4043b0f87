import CoreData
import Foundation

/// A store of an app's own, whatever its type of snapshots is.
protocol DataStoreAdapting: AnyObject {
    var dataStore: any DataStore { get }
    /// The classes of the store's container.
    var modelTypes: [String: any PersistentModel.Type] { get }
    /// Returns the snapshots of a descriptor, and the related ones.
    func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, _ state: EditingState
    ) throws -> (fetched: [DataStoreRow], related: [DataStoreRow])
    func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, _ state: EditingState) throws -> Int
    /// The snapshots that the store has at hand.
    func cached(_ identifiers: [PersistentIdentifier], _ state: EditingState) throws -> [DataStoreRow]
    func save(
        inserted: [any PersistentModel], updated: [any PersistentModel], deleted: [any PersistentModel],
        _ state: EditingState
    ) throws -> DataStoreSaved
    func erase() throws
    func initializeState(for state: EditingState)
    func invalidateState(for state: EditingState)
}

/// The values of one model of a store, by the names of its properties.
struct DataStoreRow {
    let identifier: PersistentIdentifier
    let values: [String: Any]
}

/// A store's answer to a save.
struct DataStoreSaved {
    /// The values that were written.
    let rows: [DataStoreRow]
    let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
    /// Values that the store changed.
    let changedRows: [DataStoreRow]
    /// The position of the store's history.
    let historyToken: (any HistoryToken)?
}

/// Calls a store, with the classes of its container for the snapshots that it decodes.
final class DataStoreAdapter<Store: DataStore>: DataStoreAdapting {
    private let store: Store
    let modelTypes: [String: any PersistentModel.Type]

    init(_ store: Store, _ modelTypes: [String: any PersistentModel.Type]) {
        self.store = store
        self.modelTypes = modelTypes
    }

    var dataStore: any DataStore { store }

    func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, _ state: EditingState
    ) throws -> (fetched: [DataStoreRow], related: [DataStoreRow]) {
        try SnapshotTypes.with(modelTypes) {
            let result = try store.fetch(DataStoreFetchRequest(editingState: state, descriptor: descriptor))
            return (
                try result.fetchedSnapshots.map { try Self.row($0) },
                try result.relatedSnapshots.values.map { try Self.row($0) }
            )
        }
    }

    func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, _ state: EditingState) throws -> Int {
        try SnapshotTypes.with(modelTypes) {
            try store.fetchCount(DataStoreFetchRequest(editingState: state, descriptor: descriptor))
        }
    }

    func cached(_ identifiers: [PersistentIdentifier], _ state: EditingState) throws -> [DataStoreRow] {
        try SnapshotTypes.with(modelTypes) {
            try store.cachedSnapshots(for: identifiers, editingState: state).values.map { try Self.row($0) }
        }
    }

    func save(
        inserted: [any PersistentModel], updated: [any PersistentModel], deleted: [any PersistentModel],
        _ state: EditingState
    ) throws -> DataStoreSaved {
        let request = DataStoreSaveChangesRequest(
            inserted: inserted.map { snapshot(of: $0) }, updated: updated.map { snapshot(of: $0) },
            deleted: deleted.map { snapshot(of: $0) }, editingState: state)
        // Before the store writes anything, so that nothing fails afterwards.
        let rows = try (request.inserted + request.updated).map { try Self.row($0) }
        return try SnapshotTypes.with(modelTypes) {
            let result = try store.save(request)
            return DataStoreSaved(
                rows: rows, remappedIdentifiers: result.remappedIdentifiers,
                changedRows: result.snapshotsToReregister.compactMap { identifier, snapshot in
                    (try? SnapshotRecorder.values(of: snapshot)).map {
                        DataStoreRow(identifier: identifier, values: $0)
                    }
                }, historyToken: result.historyToken)
        }
    }

    func erase() throws { try store.erase() }
    func initializeState(for state: EditingState) { store.initializeState(for: state) }
    func invalidateState(for state: EditingState) { store.invalidateState(for: state) }

    // MARK: Snapshots

    private func snapshot<Model: PersistentModel>(of model: Model) -> Store.Snapshot {
        var related: [PersistentIdentifier: any BackingData] = [:]
        return Store.Snapshot(from: model.persistentBackingData, relatedBackingDatas: &related)
    }

    private static func row(_ snapshot: Store.Snapshot) throws -> DataStoreRow {
        DataStoreRow(identifier: snapshot.persistentIdentifier, values: try SnapshotRecorder.values(of: snapshot))
    }
}
