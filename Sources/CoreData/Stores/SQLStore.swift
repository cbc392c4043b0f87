import CoreDataSQL
import CoreDataSQLite
import CoreDataStore
import Foundation

/// A store in an SQLite database, in a file or in memory.
///
/// The one file of the module that knows the driver.
final class SQLStore: NSPersistentStore, @unchecked Sendable {
    // Safe because everything of its own is set once.

    private let storeType: String
    private let historyReason: String?

    override var type: String { storeType }
    override var readOnlyReason: String? { historyReason }

    private init(
        _ engine: StoreEngine, type: String, coordinator: NSPersistentStoreCoordinator, configuration: String?,
        url: URL?,
        options: [AnyHashable: Any]?
    ) {
        storeType = type
        historyReason =
            engine.isReadOnlyForHistory
            ? "It has a persistent history, and a writer that does not record it would break its readers." : nil
        super.init(
            coordinator: coordinator, configurationName: configuration, url: url, options: options,
            identifier: engine.identifier,
            metadata: .stored(engine.openedMetadata),
            isReadOnly: engine.isReadOnly)
    }

    /// Opens the store, or makes it where there is none.
    static func open(
        type: String, configuration: String?, url: URL?, options: [AnyHashable: Any]?, index: Int32,
        coordinator: NSPersistentStoreCoordinator
    ) throws -> AttachedStore {
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
        try tidy(engine, settings)
        let store = SQLStore(
            engine, type: type, coordinator: coordinator, configuration: configuration, url: url, options: options)
        return AttachedStore(store, source: engine, index: index)
    }

    private static func tidy(_ engine: StoreEngine, _ settings: StoreSettings) throws {
        guard !engine.isReadOnly else { return }
        if settings.analyzes { try engine.database.writeWithoutTransaction { try $0.execute("ANALYZE") } }
        if settings.vacuums { try engine.database.writeWithoutTransaction { try $0.execute("VACUUM") } }
    }

    /// A database of the driver, whose statements are logged where that is asked for.
    static func makeDatabase(_ options: DatabaseOptions) throws -> any SQLDatabase {
        let database = try SQLiteDatabase(SQLiteOptions(options))
        database.setObserver(SQLLog.observer)
        return database
    }

    // MARK: Files that no coordinator has open

    static func metadata(of url: URL, _ options: [AnyHashable: Any]?) throws -> [String: Any] {
        try onFile(at: url, options) { try StoreEngine.metadata(options: $0, makeDatabase: makeDatabase).dictionary }
    }

    static func setMetadata(_ metadata: [String: Any], of url: URL, _ options: [AnyHashable: Any]?) throws {
        try onFile(at: url, options) {
            _ = try StoreEngine.setMetadata(
                try StoreMetadata(dictionary: metadata), options: $0, makeDatabase: makeDatabase)
        }
    }

    private static func onFile<R>(
        at url: URL, _ options: [AnyHashable: Any]?, _ body: (DatabaseOptions) throws -> R
    ) throws -> R {
        do {
            return try body(try StoreSettings(options).storeOptions(path: url.path).database)
        } catch let failure as StoreFailure {
            throw CoreDataErrors.store(failure, url: url)
        } catch { throw CoreDataErrors.converted(error, store: nil, context: nil) }
    }
}
