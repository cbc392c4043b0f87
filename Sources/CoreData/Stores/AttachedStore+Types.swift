import Foundation

// What a type of store is made of; `NSPersistentStoreCoordinator` has checked that there is such a type.
extension AttachedStore {
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
}
