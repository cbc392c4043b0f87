import CoreDataStore
import Foundation

/// A store in one file, read and written as a whole: XML and Binary.
final class AtomicFileStore: NSPersistentStore, @unchecked Sendable {
    // Safe because all of its own variables are set once.

    private let format: any AtomicFormat.Type

    override var type: String { format.storeType }

    private init(
        _ source: MemoryEngine, _ format: any AtomicFormat.Type, coordinator: NSPersistentStoreCoordinator,
        configuration: String?, url: URL, options: [AnyHashable: Any]?
    ) throws {
        self.format = format
        super.init(
            coordinator: coordinator, configurationName: configuration, url: url, options: options,
            identifier: source.identifier, metadata: .stored(try source.metadata()), isReadOnly: source.isReadOnly)
    }

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) { preconditionFailure("A coordinator makes stores of this class: add one by its type.") }

    /// The format of the stores of that type, `nil` for types that are no file of this kind.
    static func format(ofType type: String) -> (any AtomicFormat.Type)? {
        switch type {
        case XMLStoreFormat.storeType: XMLStoreFormat.self
        case BinaryStoreFormat.storeType: BinaryStoreFormat.self
        default: nil
        }
    }

    /// Opens the store, or makes it if it does not exist.
    static func open(
        _ format: any AtomicFormat.Type, configuration: String?, url: URL?, options: [AnyHashable: Any]?, index: Int32,
        coordinator: NSPersistentStoreCoordinator, migration: any OpeningMigration
    ) throws -> AttachedStore {
        guard let url else {
            throw CoreDataErrors.make(
                NSPersistentStoreOpenError, "A store of type \(format.storeType) needs a URL.")
        }
        let settings = try StoreSettings(options)
        try settings.checkHasNoDatabase(format.storeType)
        var opening = AtomicStore.Options(path: url.path)
        opening.configuration = configuration
        opening.isReadOnly = settings.isReadOnly
        opening.ignoresModelVersioning = settings.ignoresVersioning
        if let timeout = settings.timeout { opening.timeout = timeout }
        opening.clock = coordinator.clock
        let source = try migration.opening(
            url, type: format.storeType, coordinator.managedObjectModel, configuration: configuration,
            options: options
        ) { try AtomicStore.open(format, model: coordinator.compiledModel, options: opening) }
        let store = try AtomicFileStore(
            source, format, coordinator: coordinator, configuration: configuration, url: url, options: options)
        return AttachedStore(store, source: source, index: index)
    }

    // MARK: Files that no coordinator has open

    static func metadata(_ format: any AtomicFormat.Type, of url: URL) throws -> [String: Any] {
        try onFile(at: url) { try AtomicStore.metadata(format, path: $0).dictionary }
    }

    static func setMetadata(_ metadata: [String: Any], _ format: any AtomicFormat.Type, of url: URL) throws {
        try onFile(at: url, .fileWriteUnsupportedScheme) {
            try AtomicStore.setMetadata(try StoreMetadata(dictionary: metadata), format, path: $0)
        }
    }

    static func metadataRow(_ format: any AtomicFormat.Type, of url: URL) throws -> MetadataRow {
        try onFile(at: url) { try AtomicStore.metadata(format, path: $0) }
    }

    static func setStage(_ stage: String?, _ format: any AtomicFormat.Type, of url: URL) throws {
        try onFile(at: url, .fileWriteUnsupportedScheme) { try AtomicStore.setStage(stage, format, path: $0) }
    }

    static func destroy(_ format: any AtomicFormat.Type, at url: URL) throws {
        try onFile(at: url, .fileWriteUnsupportedScheme) { try AtomicStore.destroy(format, path: $0) }
    }

    /// - Parameter source: a store, as its metadata were read.
    static func replace(_ format: any AtomicFormat.Type, at url: URL, with source: URL) throws {
        try onFile(at: url, .fileWriteUnsupportedScheme, makes: true) {
            try AtomicStore.replace(format, path: $0, with: source.path)
        }
    }

    private static func onFile<R>(
        at url: URL, _ code: CocoaError.Code = .fileReadUnsupportedScheme, makes: Bool = false,
        _ body: (String) throws -> R
    ) throws -> R {
        try CoreDataErrors.checkIsStoreFile(url, code)
        do { return try body(url.path) } catch let failure as StoreFailure {
            throw CoreDataErrors.store(failure, url: url, makes: makes)
        } catch let failure as AtomicFileFailure where failure.kind == .missing {
            throw CoreDataErrors.store(StoreFailure(.cannotOpen, failure.message), url: url, makes: makes)
        } catch { throw CoreDataErrors.converted(error, store: nil, context: nil) }
    }
}

extension StoreSettings {
    /// - Throws: for an option that only a database can follow, naming it.
    func checkHasNoDatabase(_ type: String) throws {
        let refused: [(String, Bool)] = [
            (NSPersistentHistoryTrackingKey, tracksHistory),
            (NSPersistentStoreRemoteChangeNotificationPostOptionKey, postsRemoteChanges),
            (NSSQLitePragmasOption, !pragmas.isEmpty), (NSSQLiteAnalyzeOption, analyzes),
            (NSSQLiteManualVacuumOption, vacuums),
        ]
        guard let option = refused.first(where: \.1)?.0 else { return }
        throw CoreDataErrors.make(
            NSPersistentStoreOperationError,
            "A store of type \(type) is no database, so it cannot follow the option \(option): leave it out, or use a store of type SQLite."
        )
    }
}
