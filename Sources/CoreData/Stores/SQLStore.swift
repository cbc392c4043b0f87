import CoreDataSQL
import CoreDataSQLite
import CoreDataStore
import Foundation

/// A store in an SQLite database, in a file or in memory.
///
/// Only this file of the module knows the driver.
final class SQLStore: NSPersistentStore, @unchecked Sendable {
    // Safe because all of its own variables are set once.

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

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) { preconditionFailure("A coordinator makes stores of this class: add one by its type.") }

    /// Opens the store, or makes it if it does not exist.
    static func open(
        type: String, configuration: String?, url: URL?, options: [AnyHashable: Any]?, index: Int32,
        coordinator: NSPersistentStoreCoordinator, migration: any OpeningMigration
    ) throws -> AttachedStore {
        let isInMemory = type == NSInMemoryStoreType || url?.isNullDevice ?? true
        let server = ServerStores.shared.driver(ofType: type)
        let settings = try StoreSettings(options)
        var storeOptions = settings.storeOptions(path: isInMemory || server != nil ? nil : url?.path)
        storeOptions.type = type
        if StoreSettings.isWanted(options, SaveNote.storeOption) { storeOptions.participants.append(NoteParticipant()) }
        storeOptions.database.clock = coordinator.clock
        // On a server columns are named after the model, and other programs may still know the former hashes alone.
        storeOptions.takesFormerComposites =
            server != nil || settings.isReadOnly || !StoreSettings.isWanted(options)
        let makeDatabase = try makeDatabase(server, &storeOptions, url, settings)
        // Without its password it leads nowhere.
        let place = storeOptions.database.path != nil || server != nil ? url : nil
        let url = server != nil ? url.map(ServerStores.shared.shown) : url
        // Frozen, so that it may be read anywhere.
        let model = Transfer(coordinator.managedObjectModel)
        storeOptions.document = { model.value.makeDocument() }
        let engine = try migration.opening(
            place, type: type, model.value, configuration: configuration, options: options
        ) {
            try StoreEngine.open(
                model: coordinator.runtime.model, configuration: configuration, options: storeOptions,
                makeDatabase: makeDatabase)
        }
        if engine.isReadOnlyForHistory {
            CoreDataLog.general.warning(
                """
                Store \(url?.path ?? "") opened without NSPersistentHistoryTrackingKey but previously had been opened \
                with it - Forcing into Read Only mode
                """)
        }
        try tidy(engine, settings, place)
        let store = SQLStore(
            engine, type: type, coordinator: coordinator, configuration: configuration, url: url, options: options)
        return AttachedStore(
            store, source: engine, index: index, postsRemoteChanges: settings.postsRemoteChanges)
    }

    /// Returns the database: made by the driver of a server, if the store is on one.
    private static func makeDatabase(
        _ server: ServerStores.Driver?, _ options: inout StoreOptions, _ url: URL?, _ settings: StoreSettings
    ) throws -> DatabaseFactory {
        guard let server, let url else { return { try Self.makeDatabase($0) } }
        options.database.server = url
        options.database.tellsOfCommits = settings.postsRemoteChanges
        return { options in
            let database = try server.makeDatabase(options)
            database.setObserver(SQLLog.observer)
            return database
        }
    }

    private static func tidy(_ engine: StoreEngine, _ settings: StoreSettings, _ place: URL?) throws {
        guard !engine.isReadOnly else { return }
        if settings.analyzes { try engine.database.analyze() }
        if settings.vacuums {
            if let place {
                // A process that has the turn may be about to make a store here to whose files no row refers yet. The
                // files are removed another time.
                try MigrationTurn.ifFree(place) { try engine.removeOrphanedExternalData() }
            }
            try engine.database.vacuum()
        }
    }

    /// Returns a database of the driver, whose statements are logged if that is enabled.
    static func makeDatabase(_ options: DatabaseOptions) throws -> any SQLDatabase {
        if let server = options.server, let driver = ServerStores.shared.driver(of: server) {
            return try driver.makeDatabase(options)
        }
        let database = try SQLiteDatabase(SQLiteOptions(options))
        database.setObserver(SQLLog.observer)
        return database
    }

    // MARK: Files that no coordinator has open

    static func metadata(of url: URL, _ options: [AnyHashable: Any]?) throws -> [String: Any] {
        try onFile(at: url, options) { try StoreEngine.metadata(options: $0, makeDatabase: makeDatabase).dictionary }
    }

    static func setMetadata(_ metadata: [String: Any], of url: URL, _ options: [AnyHashable: Any]?) throws {
        try onFile(at: url, options, .fileWriteUnsupportedScheme) {
            _ = try StoreEngine.setMetadata(
                try StoreMetadata(dictionary: metadata), options: $0, makeDatabase: makeDatabase)
        }
    }

    static func metadataRow(of url: URL, _ options: [AnyHashable: Any]?) throws -> MetadataRow {
        try onFile(at: url, options) { try StoreEngine.metadata(options: $0, makeDatabase: makeDatabase) }
    }

    static func setStage(_ stage: String?, of url: URL, _ options: [AnyHashable: Any]?) throws {
        try onFile(at: url, options, .fileWriteUnsupportedScheme) {
            try StoreEngine.setStage(stage, options: $0, makeDatabase: makeDatabase)
        }
    }

    static func destroy(at url: URL, _ options: [AnyHashable: Any]?) throws {
        try onFile(at: url, options, .fileWriteUnsupportedScheme) { options in
            try inTurn(url, options) { try openElsewhere(url) { try files.destroy(options) } }
        }
    }

    /// - Parameters:
    ///   - source: a store, as its metadata were read.
    ///   - noted: the state that the replaced store must still have.
    /// - Throws: `DatabaseChanged` if it does not.
    static func replace(
        at url: URL, _ options: [AnyHashable: Any]?, with source: URL, _ sourceOptions: [AnyHashable: Any]?,
        ifStill noted: (any NotedDatabase)? = nil
    ) throws {
        let from = try StoreSettings(sourceOptions).storeOptions(path: source.path).database
        try onFile(at: url, options, .fileWriteUnsupportedScheme, makes: true) { options in
            try inTurn(url, options) {
                try openElsewhere(url) { try files.replace(options, with: from, ifStill: noted) }
            }
        }
    }

    /// Notes a store's state, for a caller that reads it for a long time and then replaces it.
    static func note(_ url: URL, _ options: [AnyHashable: Any]?) throws -> any NotedDatabase {
        try onFile(at: url, options, .fileWriteUnsupportedScheme) { options in
            try StoreFailure.translated(options.path) { try SQLiteFile.note(options) }
        }
    }

    /// Moves a store that no client has open to a free place; call it in the caller's turn (``MigrationTurn``).
    ///
    /// - Throws: `PlaceTaken` if a store exists there by now.
    static func put(_ url: URL, at destination: URL) throws {
        try onFile(at: destination, nil, .fileWriteUnsupportedScheme, makes: true) { options in
            try files.move(StoreOptions(path: url.path).database, to: options)
        }
    }

    /// Runs the body when it is the caller's turn to do something to the store as a whole.
    ///
    /// - Throws: 134090 where another process or thread has the turn for longer than a busy store is waited for.
    private static func inTurn(_ url: URL, _ options: DatabaseOptions, _ body: () throws -> Void) throws {
        let end = ContinuousClock.now + max(.seconds(1), options.busyTimeout ?? .zero)
        func waiting() throws {
            guard ContinuousClock.now > end else { return }
            throw CoreDataErrors.make(
                NSPersistentStoreTimeoutError,
                "The store '\(url.path)' is being migrated, replaced or removed elsewhere, here or in another program; try again when that is done.",
                [NSFilePathErrorKey: url.path])
        }
        try MigrationTurn.with(url, waiting: waiting, body)
    }

    /// The first bytes of a file that may be a store of this process: read without a descriptor that would release its
    /// locks.
    static func start(ofFileAt path: String, count: Int) -> Data? {
        SQLiteFile.start(of: path, count: count).map { Data($0) }
    }

    static var files: StoreFiles { StoreFiles(SQLiteFile.self) { try makeDatabase($0) } }

    /// A lock of another client means more here than that it writes.
    private static func openElsewhere(_ url: URL, _ body: () throws -> Void) throws {
        do { try body() } catch let failure as SQLFailure where failure.kind == .busy {
            throw CoreDataErrors.make(
                NSPersistentStoreTimeoutError,
                "The store '\(url.path)' is open elsewhere, here or in another program; close it there first.",
                [NSFilePathErrorKey: url.path, NSSQLiteErrorDomain: failure.code])
        }
    }

    private static func onFile<R>(
        at url: URL, _ options: [AnyHashable: Any]?, _ code: CocoaError.Code = .fileReadUnsupportedScheme,
        makes: Bool = false, _ body: (DatabaseOptions) throws -> R
    ) throws -> R {
        if ServerStores.shared.driver(of: url) != nil { return try onServer(at: url, options, body) }
        try CoreDataErrors.checkIsStoreFile(url, code)
        do {
            return try body(try StoreSettings(options).storeOptions(path: url.path).database)
        } catch let failure as StoreFailure {
            throw CoreDataErrors.store(failure, url: url, makes: makes)
        } catch let changed as DatabaseChanged {
            throw changed
        } catch let taken as PlaceTaken {
            throw taken
        } catch { throw CoreDataErrors.converted(error, store: nil, context: nil) }
    }

    private static func onServer<R>(
        at url: URL, _ options: [AnyHashable: Any]?, _ body: (DatabaseOptions) throws -> R
    ) throws -> R {
        do {
            var database = try StoreSettings(options).storeOptions(path: nil).database
            database.server = url
            return try body(database)
        } catch let failure as StoreFailure {
            throw CoreDataErrors.store(failure, url: ServerStores.shared.shown(url))
        } catch { throw CoreDataErrors.converted(error, store: nil, context: nil) }
    }
}
