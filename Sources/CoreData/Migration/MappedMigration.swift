import CoreDataModel
import CoreDataStore
import Foundation

/// A migration of a store in its place by a mapping model, object by object.
///
/// ```
///  new store made beside the old ──▶ metadata and UUID carried over ──▶ put in the old one's place, in one transaction
/// ```
/// What fails before leaves the old store as it was.
struct MappedMigration {
    let mapping: NSMappingModel
    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel

    /// The migration that a mapping model in the bundles makes possible.
    ///
    /// - Parameter bundles: where to look; `nil` for all that the program has.
    init?(ofStoreAt url: URL, to destination: NSManagedObjectModel, bundles: [Bundle]? = nil) {
        guard let source = LightweightMigration(to: destination, configuration: nil).sourceModel(ofStoreAt: url),
            let mapping = NSMappingModel(from: bundles, forSourceModel: source, destinationModel: destination)
                ?? NSMappingModel(
                    from: Bundle.allBundles + Bundle.allFrameworks, forSourceModel: source,
                    destinationModel: destination)
        else { return nil }
        (self.mapping, self.source, self.destination) = (mapping, source, destination)
    }

    func run(at url: URL, options: [AnyHashable: Any]?) throws {
        let made = url.deletingLastPathComponent().appendingPathComponent(
            ".\(url.lastPathComponent).migrating-\(UUID().uuidString)")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: destination)
        defer {
            try? coordinator.destroyPersistentStore(at: made, type: .sqlite)
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: made.path + suffix) }
        }
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url, options: nil)
        try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
            from: url, type: .sqlite, mapping: mapping, to: made, type: .sqlite)
        for key in StoreMetadata.Key.kept { metadata[key] = nil }
        try NSPersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: made)
        // Somebody else may have migrated it meanwhile, and saved to it.
        guard isOfSource(url) else { return }
        do {
            try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: made, type: .sqlite)
        } catch { if isOfSource(url) { throw error } }
    }

    private func isOfSource(_ url: URL) -> Bool {
        let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
            type: .sqlite, at: url, options: nil)
        let hashes = metadata.flatMap { NSManagedObjectModel.versionHashes(inStoreMetadata: $0) }
        let known = source.entityVersionHashesByName
        return hashes?.allSatisfy { known[$0.key] == $0.value } ?? true
    }
}
