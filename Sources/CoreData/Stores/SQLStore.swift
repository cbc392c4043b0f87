import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataSQLite
import CoreDataStore
import Foundation
import Synchronization

/// A store in an SQLite database, in a file or in memory: the engine, and the rows that contexts share.
///
/// The one file of the module that knows the driver.
final class SQLStore: NSPersistentStore, @unchecked Sendable {
    // Safe because everything of its own is set once and guards itself.

    let engine: StoreEngine
    let cache: RowCache
    /// What the IDs of the store's objects hold.
    let reference: StoreReference
    /// Whether the store is still a coordinator's.
    var isAttached: Bool { !isClosed.load(ordering: .relaxed) }
    private let isClosed = Atomic<Bool>(false)
    /// Tells the store from its coordinator's others; never reused.
    let index: Int32
    private let storeType: String
    private let historyReason: String?

    override var type: String { storeType }
    override var readOnlyReason: String? { historyReason }

    private init(
        engine: StoreEngine, index: Int32, type: String,
        coordinator: NSPersistentStoreCoordinator, configuration: String?, url: URL?, options: [AnyHashable: Any]?
    ) {
        self.engine = engine
        cache = engine.rowCache
        reference = StoreReference(engine.identifier)
        self.index = index
        storeType = type
        historyReason =
            engine.isReadOnlyForHistory
            ? "It has a persistent history, and a writer that does not record it would break its readers." : nil
        super.init(
            coordinator: coordinator, configurationName: configuration, url: url, options: options,
            identifier: engine.identifier,
            metadata: .stored(engine.openedMetadata),
            isReadOnly: engine.isReadOnly)
        reference.take(self)
    }

    /// Opens the store, or makes it where there is none.
    static func open(
        type: String, configuration: String?, url: URL?, options: [AnyHashable: Any]?, index: Int32,
        coordinator: NSPersistentStoreCoordinator
    ) throws -> SQLStore {
        let isInMemory = type == NSInMemoryStoreType || url == nil || url?.path == "/dev/null"
        let settings = try StoreSettings(options)
        var storeOptions = settings.storeOptions(path: isInMemory ? nil : url?.path)
        storeOptions.type = type
        // Frozen, so that it may be read anywhere.
        let model = Transfer(coordinator.managedObjectModel)
        storeOptions.document = { model.value.makeDocument() }
        let engine = try StoreEngine.open(
            model: coordinator.runtime.model, configuration: configuration, options: storeOptions
        ) { try Self.makeDatabase($0) }
        if engine.isReadOnlyForHistory {
            CoreDataLog.general.warning(
                """
                Store \(url?.path ?? "") opened without NSPersistentHistoryTrackingKey but previously had been opened \
                with it - Forcing into Read Only mode
                """)
        }
        let store = SQLStore(
            engine: engine, index: index, type: type, coordinator: coordinator,
            configuration: configuration, url: url, options: options)
        try store.tidy(settings)
        return store
    }

    /// A database of the driver, whose statements are logged where that is asked for.
    static func makeDatabase(_ options: DatabaseOptions) throws -> any SQLDatabase {
        let database = try SQLiteDatabase(SQLiteOptions(options))
        database.setObserver(SQLLog.observer)
        return database
    }

    private func tidy(_ settings: StoreSettings) throws {
        guard !isReadOnly else { return }
        if settings.analyzes { try engine.database.writeWithoutTransaction { try $0.execute("ANALYZE") } }
        if settings.vacuums { try engine.database.writeWithoutTransaction { try $0.execute("VACUUM") } }
    }

    // MARK: Rows

    /// Rows of a fetch, in portions; those that are known at this version are the same rows as in other contexts.
    func fetchRows(_ plan: FetchPlan, _ take: (RowList) throws -> Void) throws {
        if CoreDataLog.sqlDebugLevel > 3 { SQLLog.log(try engine.explain(plan).plan) }
        try engine.rows(plan, take)
    }

    /// One row, from memory if it is there and not older than `staleness` seconds (negative: any age).
    func row(_ primaryKey: Int64, root: Int, staleness: TimeInterval) throws -> RowSnapshot? {
        let word = try rowWord(primaryKey, root: root, staleness: staleness)
        return word == 0 ? nil : RowSnapshot(taking: word)
    }

    /// As above: a word that holds the row, 0 where there is none.
    func rowWord(_ primaryKey: Int64, root: Int, staleness: TimeInterval) throws -> UInt {
        let cached = cachedWord(primaryKey, root: root, staleness: staleness)
        if cached != 0 { return cached }
        let moment = cache.moment
        let word = try engine.rowWord(primaryKey, root: root)
        guard word != 0 else {
            cache.remove([RowKey(entity: root, primaryKey: primaryKey)])
            return 0
        }
        return cache.adopt(word: word, readSince: moment, at: Self.now)
    }

    /// A word that holds the row, if it is in memory and young enough; else 0.
    func cachedWord(_ primaryKey: Int64, root: Int, staleness: TimeInterval) -> UInt {
        staleness < 0
            ? cache.heldWord(root: root, primaryKey: primaryKey)
            : cache.heldWord(root: root, primaryKey: primaryKey, after: Self.now - staleness)
    }

    private static var now: Double { Date().timeIntervalSinceReferenceDate }

    /// A word for each key, which the caller holds; 0 for a row that is gone.
    func rowWords(_ keys: [Int64], root: Int, staleness: TimeInterval) throws -> [UInt] {
        var words = keys.map { cachedWord($0, root: root, staleness: staleness) }
        let missing = keys.indices.filter { words[$0] == 0 }
        guard !missing.isEmpty else { return words }
        do {
            let moment = cache.moment
            let rows = try engine.rows(forKeys: missing.map { keys[$0] }, root: root)
            cache.adopt(rows, readSince: moment, at: Self.now)
            let read = KeyTable()
            for index in rows.indices { read.set(RowView(word: rows.word(index)).primaryKey, UInt(index + 1)) }
            for index in missing {
                let place = Int(read.word(keys[index])) - 1
                guard place >= 0 else { continue }
                words[index] = rows.word(place)
                RowSnapshot.retain(words[index])
            }
            return words
        } catch {
            for word in words { RowSnapshot.release(word) }
            throw error
        }
    }

    func destinationRows(entity: Int, slot: Int, owners: [Int64]) throws -> [(owner: Int64, rows: [RowSnapshot])] {
        let moment = cache.moment
        var found = try engine.destinationRows(entity: entity, slot: slot, owners: owners)
        for index in found.indices { cache.adopt(&found[index].rows, readSince: moment, at: Self.now) }
        return found
    }

    /// What the store did of itself shows in the context; metadata that were set `metadataEdits` times, if that is not nil, are
    /// written.
    func didSave(_ outcome: SaveOutcome, in context: NSManagedObjectContext, metadataEdits: Int?) {
        for key in outcome.derivedRows { context.derivedValuesChanged(key, in: self) }
        guard let metadataEdits else { return }
        state.withLock { state in
            if state.metadataEdits == metadataEdits { state.hasUnsavedMetadata = false }
        }
    }

    func entityNumber(of ordinal: Int) -> Int64 { engine.layout.entities[ordinal]?.number ?? 0 }

    /// A row as a merge conflict shows it.
    func dictionary(of row: RowSnapshot) -> [String: Any] {
        guard let runtime = persistentStoreCoordinator?.runtime.entities[row.entity] else { return [:] }
        var result: [String: Any] = [:]
        for slot in runtime.slots where slot.column >= 0 {
            if slot.attribute != nil {
                let value = ManagedObjectValues.decode(row, column: slot.column, type: slot.type)
                result[slot.name] = ManagedObjectValues.any(value, slot: slot) ?? NSNull()
            } else if !row.isNull(slot.column), let relationship = slot.relationship,
                let model = persistentStoreCoordinator?.runtime
            {
                result[slot.name] = NSManagedObjectID(
                    runtime: model.entities[relationship.destination], primaryKey: row.integer(slot.column),
                    store: self)
            } else {
                result[slot.name] = NSNull()
            }
        }
        return result
    }

    // MARK: Metadata

    var hasUnsavedMetadata: Bool { state.withLock { $0.hasUnsavedMetadata } }
    /// How often they have been set.
    var metadataEdits: Int { state.withLock { $0.metadataEdits } }

    func unsavedMetadata() throws -> StoreMetadata? {
        guard hasUnsavedMetadata else { return nil }
        var dictionary: [String: Any] = metadata
        dictionary[NSStoreUUIDKey] = nil
        // What the store itself needs stays, whoever set the metadata without it.
        let present = try engine.metadata().dictionary
        for key in StoreMetadata.Key.kept where dictionary[key] == nil { dictionary[key] = present[key] }
        return try StoreMetadata(dictionary: dictionary)
    }

    func close() {
        isClosed.store(true, ordering: .relaxed)
        cache.removeAll()
        engine.database.close()
        state.withLock { $0.coordinator = nil }
    }
}
