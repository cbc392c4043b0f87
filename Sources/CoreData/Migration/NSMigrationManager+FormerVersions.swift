import CoreDataStore
import Foundation

extension NSMigrationManager {
    /// Records the former versions of a store in the new one, so that a program with one of them does not migrate it
    /// back.
    func noteFormerVersions(
        of source: URL, type sourceType: String, _ sourceOptions: [AnyHashable: Any]?, in made: URL, type: String,
        _ options: [AnyHashable: Any]?
    ) throws {
        let isServer = ServerStores.shared.driver(ofType: type) != nil
        guard isServer || AttachedStore.isFileType(type), !made.isNullDevice else { return }
        let old = try AttachedStore.metadataRow(of: source, type: sourceType, sourceOptions).metadata
        var new = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: made, options: options)
        let versions = StoreMetadata.formerVersions(
            old.formerVersions, from: old.versionHashes,
            to: NSManagedObjectModel.versionHashes(inStoreMetadata: new))
        guard !versions.isEmpty else { return }
        new[StoreMetadata.Key.formerVersions] = versions
        try NSPersistentStoreCoordinator.setMetadata(new, forPersistentStoreOfType: type, at: made, options: options)
    }
}
