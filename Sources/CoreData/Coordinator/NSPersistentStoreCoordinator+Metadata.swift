import CoreDataStore
import Foundation

// Metadata of stores, attached or not.
extension NSPersistentStoreCoordinator {
    /// Implements the open method of the class.
    final func presentMetadata(for store: NSPersistentStore) -> [String: Any] { store.metadata }

    /// Implements the open method of the class.
    final func putMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        var merged: [String: Any] = metadata ?? [:]
        for key in StoreMetadata.Key.kept + [NSStoreUUIDKey] where merged[key] == nil {
            merged[key] = store.metadata[key]
        }
        // A store of another type than its file could not be opened again.
        merged[NSStoreTypeKey] = store.metadata[NSStoreTypeKey] ?? merged[NSStoreTypeKey]
        store.metadata = merged
        // A class that keeps them itself may not have told.
        store.state.withLock { state in
            state.hasUnsavedMetadata = true
            state.metadataEdits += 1
        }
    }

    /// Returns the metadata of a store in a file, without attaching it and without a model.
    ///
    ///     let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
    ///     if !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) { … }
    ///
    /// - Throws: 260 if there is no file, 259 for a file that is no store, 134080 for a store that cannot be opened,
    ///   262 for a URL of no file.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try checkType(storeType)
        return try AttachedStore.metadata(of: url, type: storeType, options)
    }

    /// The metadata of a store in a file; see ``metadataForPersistentStore(ofType:at:options:)``.
    public class func metadataForPersistentStore(
        type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
    }

    /// Writes the metadata of a store in a file, at once.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try checkType(storeType)
        var metadata = metadata ?? [:]
        metadata[NSStoreTypeKey] = storeType
        try AttachedStore.setMetadata(metadata, of: url, type: storeType, options)
    }

    /// Writes the metadata of a store in a file, at once.
    public class func setMetadata(
        _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: type.rawValue, at: url, options: options)
    }

    class func checkType(_ storeType: String) throws {
        guard AttachedStore.classes[storeType] != nil else {
            throw CoreDataErrors.make(
                NSPersistentStoreInvalidTypeError,
                "There are no stores of type '\(storeType)', but of: \(AttachedStore.classes.keys.sorted().joined(separator: ", ")). Register a class of your own with registerStoreClass(_:forStoreType:)."
            )
        }
    }
}
