import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation
import Synchronization

/// A store as contexts see it: the source of its rows, and the identity that users know.
final class AttachedStore: @unchecked Sendable {
    // Safe because everything of its own is set once and guards itself.

    /// What users know: URL, metadata, configuration.
    let store: NSPersistentStore
    /// The rows as the context sees them.
    let source: any ReadableSource
    /// The newest rows: those that a save may conflict with.
    let newest: any ReadableSource
    /// The store itself: the target of saves, and the origin of new keys.
    let target: any RowSource
    let cache: RowCache
    /// The state that the IDs of the store's objects share.
    let reference: StoreReference
    /// Distinguishes the store from others of its coordinator; never reused.
    let index: Int32
    /// Posts notifications of writes to the store, if the options ask for that.
    let remoteChanges: RemoteChanges?
    let saveObservers = SaveObservers()
    /// Whether each statement costs a round trip to a server.
    let isRemote: Bool
    /// See ``SourceTraits/readsRowsLater``: the store is of a class of the program's own that is asked for one object
    /// after another.
    let readsRowsLater: Bool
    /// Whether reading many rows together costs as much as reading one.
    let readsManyRowsAtOnce: Bool
    /// Whether to read the row of another object with one that is asked for costs as much again.
    var readsOneRowAtATime: Bool { readsRowsLater && !readsManyRowsAtOnce }
    /// Receives the objects, if the store is of the program's own class.
    let objectSource: (any ObjectSource)?
    /// What such a store calls its objects.
    var references: ReferenceTable? { reference.references }
    /// Whether the store has all of its rows in memory, so that reading an object for each costs as much as any fetch.
    let isInMemory: Bool
    /// Whether the store is still a coordinator's.
    var isAttached: Bool { !closing.isClosed.load(ordering: .relaxed) }
    /// Shared with what child contexts see of the store.
    private let closing: Closing

    private final class Closing: Sendable {
        let isClosed = Atomic<Bool>(false)
    }

    init(
        _ store: NSPersistentStore, source: any RowSource, index: Int32, postsRemoteChanges: Bool = false,
        objectSource: (any ObjectSource)? = nil, references: ReferenceTable? = nil
    ) {
        self.objectSource = objectSource
        remoteChanges = postsRemoteChanges ? RemoteChanges() : nil
        self.store = store
        self.source = source
        newest = source
        target = source
        self.index = index
        let traits = source.traits
        isInMemory = traits.holdsAllRows || store.type == NSInMemoryStoreType
        isRemote = traits.isRemote
        readsRowsLater = traits.readsRowsLater
        readsManyRowsAtOnce = isRemote || traits.readsManyRowsAtOnce
        closing = Closing()
        cache = source.rowCache
        reference = StoreReference(source.identifier, references)
        reference.take(self)
        remoteChanges?.begin(self)
    }

    /// Returns the order in which one save writes its stores; the last one ends its writing first. The order is the
    /// same for all clients, so savers of the same files never deadlock.
    ///
    /// Stores that cannot be rolled back come last: files that are written as a whole, and after them stores of the
    /// program's own classes.
    static func isWrittenBefore(_ one: AttachedStore, _ other: AttachedStore) -> Bool {
        (one.rankOfWriting, one.identifier) < (other.rankOfWriting, other.identifier)
    }

    private var rankOfWriting: Int { objectSource != nil ? 2 : target.traits.writesWhole ? 1 : 0 }

    /// A coordinator's store as a context sees it that has a parent or is pinned to a generation: the same store and
    /// the same IDs, other rows.
    init(of base: AttachedStore, through source: any ReadableSource, newest: (any ReadableSource)? = nil) {
        remoteChanges = nil
        // A child gives its objects to the parent.
        objectSource = newest == nil ? nil : base.objectSource
        store = base.store
        self.source = source
        self.newest = newest ?? source
        target = base.target
        index = base.index
        isInMemory = base.isInMemory
        isRemote = base.isRemote
        readsRowsLater = base.readsRowsLater
        readsManyRowsAtOnce = base.readsManyRowsAtOnce
        closing = base.closing
        cache = base.cache
        reference = base.reference
    }

    var identifier: String { store.identifier }
    var url: URL? { store.url }
    var isReadOnly: Bool { store.isReadOnly }
    /// Whether the context sees the rows of the store itself.
    var readsTarget: Bool { source === target }

    // MARK: Rows

    /// Fetches rows in portions; rows that are cached at this version are shared with other contexts.
    func fetchRows(_ plan: FetchPlan, _ take: (RowList) throws -> Void) throws {
        if CoreDataLog.sqlDebugLevel > 3, let explaining = source as? any ExplainingSource {
            SQLLog.log(try explaining.explain(plan).plan)
        }
        try source.fetchRows(plan, take)
    }

    /// Returns the row as users see it, for example in a merge conflict: the values of its attributes and the IDs of
    /// its to-ones by name.
    func dictionary(of row: RowSnapshot) -> [String: Any] {
        guard let model = store.persistentStoreCoordinator?.runtime else { return [:] }
        var result: [String: Any] = [:]
        for slot in model.entities[row.entity].slots where slot.column >= 0 {
            if slot.attribute != nil {
                let value = ManagedObjectValues.decode(row, column: slot.column, kind: slot.kind)
                result[slot.name] = ManagedObjectValues.any(value, slot: slot) ?? NSNull()
            } else if !row.isNull(slot.column), let relationship = slot.relationship {
                result[slot.name] = NSManagedObjectID(
                    runtime: model.entities[relationship.destination], primaryKey: row.integer(slot.column),
                    store: self)
            } else if !row.isUnreadable(slot.column) {
                result[slot.name] = NSNull()
            }
        }
        return CompositeValues.nested(result, in: model.entities[row.entity])
    }

    /// Shows the store's own changes in the context. If `metadataEdits` is not nil, that number of metadata edits was
    /// written.
    func didSave(_ outcome: SaveOutcome, in context: NSManagedObjectContext, metadataEdits: Int?) {
        for key in outcome.derivedRows { context.derivedValuesChanged(key, in: self) }
        saveObservers.tell()
        guard let metadataEdits else { return }
        store.state.withLock { state in
            if state.metadataEdits == metadataEdits { state.hasUnsavedMetadata = false }
        }
    }

    /// The store lies there from now on; one without a file is only called so.
    func move(to url: URL) throws {
        if let movable = target as? any MovableSource, movable.isInFile {
            try CoreDataErrors.checkIsStoreFile(url)
            try CoreDataErrors.converting { try movable.move(to: url.path) }
        }
        store.url = url
        remoteChanges?.begin(self)
    }

    // MARK: Metadata

    var hasUnsavedMetadata: Bool { store.state.withLock { $0.hasUnsavedMetadata } }
    /// How often they have been set.
    var metadataEdits: Int { store.state.withLock { $0.metadataEdits } }

    func unsavedMetadata() throws -> StoreMetadata? {
        guard hasUnsavedMetadata else { return nil }
        var dictionary: [String: Any] = store.metadata
        dictionary[NSStoreUUIDKey] = nil
        // The entries that the store itself needs stay, even if the program set metadata without them.
        let present = try target.metadata().metadata.dictionary
        for key in StoreMetadata.Key.kept where dictionary[key] == nil { dictionary[key] = present[key] }
        for key in StoreMetadata.Key.deferral { dictionary[key] = present[key] }
        return try StoreMetadata(dictionary: dictionary)
    }

    func close() {
        closing.isClosed.store(true, ordering: .relaxed)
        remoteChanges?.end()
        target.close()
        store.state.withLock { $0.coordinator = nil }
    }
}
