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
    let type: String
    let mapping: NSMappingModel
    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel

    /// The migration that a mapping model in the bundles makes possible.
    ///
    /// - Parameter bundles: where to look; `nil` for all that the program has.
    init?(
        ofStoreAt url: URL, type: String = NSSQLiteStoreType, to destination: NSManagedObjectModel,
        bundles: [Bundle]? = nil
    ) {
        let lightweight = LightweightMigration(to: destination, configuration: nil, type: type)
        guard let source = lightweight.sourceModel(ofStoreAt: url),
            let mapping = NSMappingModel(from: bundles, forSourceModel: source, destinationModel: destination)
                ?? NSMappingModel(
                    from: Bundle.allBundles + Bundle.allFrameworks, forSourceModel: source,
                    destinationModel: destination)
        else { return nil }
        self.init(mapping, from: source, to: destination, type: type)
    }

    init(
        _ mapping: NSMappingModel, from source: NSManagedObjectModel, to destination: NSManagedObjectModel, type: String
    ) {
        (self.mapping, self.source, self.destination, self.type) = (mapping, source, destination, type)
    }

    /// Migrates the store unless somebody else has done it meanwhile.
    func run(at url: URL, options: [AnyHashable: Any]?) throws {
        try MigrationTurn.with(url) {
            while isOfSource(url) {
                do { return try runOnce(at: url, options: options) } catch let failure as AtomicFileFailure
                    where failure.kind == .changed
                {}
            }
        }
    }

    private func runOnce(at url: URL, options: [AnyHashable: Any]?) throws {
        guard let place = NewStorePlace(for: url) else {
            throw CoreDataErrors.make(
                CocoaError.Code.fileWriteNoPermission.rawValue,
                "The store '\(url.path)' has to be migrated, and nothing can be written beside it: \(String(cString: strerror(errno))).",
                [NSFilePathErrorKey: url.path])
        }
        defer { withExtendedLifetime(place) {} }
        let made = place.url
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: destination)
        let format = AtomicFileStore.format(ofType: type)
        let stamp = try format.map { _ in try AtomicFile(path: url.path).read().stamp }
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: nil)
        try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
            from: url, sourceType: type, with: mapping, toDestinationURL: made, destinationType: type)
        for key in StoreMetadata.Key.kept { metadata[key] = nil }
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: type, at: made)
        // Somebody else may have migrated it meanwhile, and saved to it.
        guard isOfSource(url) else { return }
        if let format {
            return try AtomicStore.replace(format, path: url.path, with: made.path, ifStill: stamp)
        }
        do {
            try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: made, ofType: type)
        } catch { if isOfSource(url) { throw error } }
    }

    private func isOfSource(_ url: URL) -> Bool {
        let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: type, at: url, options: nil)
        let hashes = metadata.flatMap { NSManagedObjectModel.versionHashes(inStoreMetadata: $0) }
        let known = source.entityVersionHashesByName
        return hashes?.allSatisfy { known[$0.key] == $0.value } ?? true
    }
}
