import Foundation

// What a type of store is made of; `NSPersistentStoreCoordinator` has checked that there is such a type.
extension AttachedStore {
    /// The class of the stores of each type.
    static let classes: [String: NSPersistentStore.Type] = [
        NSSQLiteStoreType: SQLStore.self, NSInMemoryStoreType: SQLStore.self,
    ]

    /// Opens a store, or makes it where there is none.
    static func open(
        type: String, configuration: String?, url: URL?, options: [AnyHashable: Any]?, index: Int32,
        coordinator: NSPersistentStoreCoordinator
    ) throws -> AttachedStore {
        try SQLStore.open(
            type: type, configuration: configuration, url: url, options: options, index: index, coordinator: coordinator
        )
    }

    /// The metadata of a store that no coordinator has open.
    static func metadata(of url: URL, type: String, _ options: [AnyHashable: Any]?) throws -> [String: Any] {
        try SQLStore.metadata(of: url, options)
    }

    static func setMetadata(
        _ metadata: [String: Any], of url: URL, type: String, _ options: [AnyHashable: Any]?
    ) throws {
        try SQLStore.setMetadata(metadata, of: url, options)
    }

    /// Takes a store away that no coordinator of the program has open.
    static func destroy(at url: URL, _ options: [AnyHashable: Any]?) throws { try SQLStore.destroy(at: url, options) }

    /// Puts a copy of the other store in its place.
    static func replace(
        at url: URL, _ options: [AnyHashable: Any]?, withStoreAt source: URL, _ sourceOptions: [AnyHashable: Any]?
    ) throws {
        try SQLStore.replace(at: url, options, with: source, sourceOptions)
    }

    /// - Throws: an error for a store that is to be read only, or whose file cannot be written to.
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
