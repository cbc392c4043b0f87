import CoreDataStore
import Foundation

// Opens the types of stores; `NSPersistentStoreCoordinator` has checked that the type exists.
extension AttachedStore {
    /// The class of the stores of each type.
    static var classes: [String: NSPersistentStore.Type] {
        let builtIn: [String: NSPersistentStore.Type] = [
            NSSQLiteStoreType: SQLStore.self, NSInMemoryStoreType: SQLStore.self, NSXMLStoreType: AtomicFileStore.self,
            NSBinaryStoreType: AtomicFileStore.self,
        ]
        let servers = Dictionary(
            ServerStores.shared.types.map { ($0, SQLStore.self as NSPersistentStore.Type) },
            uniquingKeysWith: { first, _ in first })
        return builtIn.merging(servers) { first, _ in first }.merging(StoreClasses.shared.classes) { own, _ in own }
    }

    /// Whether stores of the type lie in files: a URL may be attached once, and must be of a file.
    static func isFileType(_ type: String) -> Bool {
        type == NSSQLiteStoreType || AtomicFileStore.format(ofType: type) != nil
    }

    /// Opens a store, or makes it if it does not exist.
    ///
    /// - Parameter migration: migrates a store of another model first.
    static func open(
        type: String, configuration: String?, url: URL?, options: [AnyHashable: Any]?, index: Int32,
        coordinator: NSPersistentStoreCoordinator, migration: any OpeningMigration
    ) throws -> AttachedStore {
        if let format = AtomicFileStore.format(ofType: type) {
            return try AtomicFileStore.open(
                format, configuration: configuration, url: url, options: options, index: index,
                coordinator: coordinator, migration: migration)
        }
        if let custom = StoreClasses.shared.classes[type] {
            try StoreSettings.check(options)
            return try CustomStore.open(
                custom, type: type, configuration: configuration, url: url, options: options, index: index,
                coordinator: coordinator, migration: migration)
        }
        return try SQLStore.open(
            type: type, configuration: configuration, url: url, options: options, index: index,
            coordinator: coordinator, migration: migration)
    }

    /// The metadata of a store that no coordinator has open.
    static func metadata(of url: URL, type: String, _ options: [AnyHashable: Any]?) throws -> [String: Any] {
        if let format = AtomicFileStore.format(ofType: type) { return try AtomicFileStore.metadata(format, of: url) }
        if let custom = StoreClasses.shared.classes[type] {
            let metadata = try custom.metadataForPersistentStore(with: url)
            return metadata
        }
        return try SQLStore.metadata(of: url, options)
    }

    static func setMetadata(
        _ metadata: [String: Any], of url: URL, type: String, _ options: [AnyHashable: Any]?
    ) throws {
        if let format = AtomicFileStore.format(ofType: type) {
            return try AtomicFileStore.setMetadata(metadata, format, of: url)
        }
        if let custom = StoreClasses.shared.classes[type] {
            return try custom.setMetadata(metadata, forPersistentStoreAt: url)
        }
        try SQLStore.setMetadata(metadata, of: url, options)
    }

    /// The stage of a migration that a store in a file is in the middle of.
    static func stage(of url: URL, type: String, _ options: [AnyHashable: Any]?) throws -> String? {
        try metadataRow(of: url, type: type, options).stage
    }

    /// The metadata of a store that no coordinator has open, with what users do not see.
    static func metadataRow(of url: URL, type: String, _ options: [AnyHashable: Any]?) throws -> MetadataRow {
        if let format = AtomicFileStore.format(ofType: type) { return try AtomicFileStore.metadataRow(format, of: url) }
        guard StoreClasses.shared.classes[type] != nil else { return try SQLStore.metadataRow(of: url, options) }
        var dictionary = try metadata(of: url, type: type, options)
        let identifier = dictionary.removeValue(forKey: NSStoreUUIDKey) as? String ?? ""
        return MetadataRow(identifier: identifier, metadata: try StoreMetadata(dictionary: dictionary))
    }

    /// Notes that; `nil` for none.
    static func setStage(_ stage: String?, of url: URL, type: String, _ options: [AnyHashable: Any]?) throws {
        if let format = AtomicFileStore.format(ofType: type) {
            return try AtomicFileStore.setStage(stage, format, of: url)
        }
        try SQLStore.setStage(stage, of: url, options)
    }

    /// Takes a store away that no coordinator of the program has open.
    static func destroy(at url: URL, type: String, _ options: [AnyHashable: Any]?) throws {
        if let format = AtomicFileStore.format(ofType: type) { return try AtomicFileStore.destroy(format, at: url) }
        try SQLStore.destroy(at: url, options)
    }

    /// Puts a copy of the other store in its place.
    static func replace(
        at url: URL, type: String, _ options: [AnyHashable: Any]?, withStoreAt source: URL,
        _ sourceOptions: [AnyHashable: Any]?
    ) throws {
        if let format = AtomicFileStore.format(ofType: type) {
            return try AtomicFileStore.replace(format, at: url, with: source)
        }
        try SQLStore.replace(at: url, options, with: source, sourceOptions)
    }

    /// - Throws: an error for a read-only store, or one whose file cannot be written.
    static func checkMayWrite(_ url: URL, _ options: [AnyHashable: Any]?) throws {
        let isReadOnly = (options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false
        let files = FileManager.default
        guard isReadOnly || files.fileExists(atPath: url.path) && !files.isWritableFile(atPath: url.path) else {
            return
        }
        throw CoreDataErrors.make(
            CocoaError.Code.fileWriteNoPermission.rawValue,
            isReadOnly
                ? "The store '\(url.path)' is to be read only: it is left as it is."
                : "No permission to write '\(url.path)'.", [NSFilePathErrorKey: url.path])
    }
}
