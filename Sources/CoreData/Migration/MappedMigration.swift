import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation

/// A migration of a store in its place by a mapping model, object by object.
///
/// ```
///  old store's state noted ──▶ new store made beside it, with metadata and UUID ──▶ replaces the old one in one transaction
///       ▲                                                                        │ if no other client has saved since
///       └────────────────────────────────────────────────────────────────────────┘ otherwise
/// ```
/// A failure before the replacement leaves the old store unchanged.
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

    /// Migrates the store unless another process has done it meanwhile. Saves of other clients while it runs are not
    /// lost: it then starts again.
    ///
    /// - Throws: 134090 if other clients save again and again, or have the store open at the end; the store is then
    ///   unchanged.
    func run(at url: URL, options: [AnyHashable: Any]?) throws {
        try MigrationTurn.with(url) {
            if ServerStores.shared.driver(of: url) != nil { return try runOnServer(at: url, options) }
            for _ in 0..<Self.attempts {
                guard isOfSource(url) else { return }
                do { return try runOnce(at: url, options: options) } catch is ConcurrentSave {}
            }
            throw CoreDataErrors.make(
                NSPersistentStoreTimeoutError,
                "The store '\(url.path)' was not migrated: somebody else saved to it each of \(Self.attempts) times while its objects were read. Close it there first; it is as it was left.",
                [NSFilePathErrorKey: url.path])
        }
    }

    private static let attempts = 10

    /// The rows that were read are not the store's current ones.
    private struct ConcurrentSave: EngineFailure {}

    /// Does the same on a server: in a schema beside the store's, while no other client can write to the store. Then it
    /// replaces the store in the transaction that has locked out the others.
    private func runOnServer(at url: URL, _ options: [AnyHashable: Any]?) throws {
        guard isOfSource(url), let place = try ServerPlace(for: url, options) else { return }
        defer { withExtendedLifetime(place) {} }
        let known = source.entityVersionHashesByName
        // Otherwise another process has migrated it meanwhile.
        _ = try AttachedStore.converting(url) {
            try place.exchange(options, if: { $0?.allSatisfy { known[$0.key] == $0.value } ?? true }) {
                try make(at: place.url, from: url)
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
        if let format = AtomicFileStore.format(ofType: type) {
            let stamp = try CoreDataErrors.converting { try AtomicFile(path: url.path).read().stamp }
            try make(at: place.url, from: url)
            guard isOfSource(url) else { return }
            do {
                try AtomicStore.replace(format, path: url.path, with: place.url.path, ifStill: stamp)
            } catch let failure as AtomicFileFailure where failure.kind == .changed { throw ConcurrentSave() } catch {
                throw CoreDataErrors.converted(error, store: nil, context: nil)
            }
            return
        }
        try AttachedStore.checkMayWrite(url, nil)
        // Before the first row is read.
        let noted = try SQLStore.note(url, options)
        defer { noted.close() }
        do { try make(at: place.url, from: url) } catch {
            // Rows of two moments may contradict one another.
            if (try? noted.isStill()) == false { throw ConcurrentSave() }
            throw error
        }
        // Another process may have migrated it meanwhile, and saved to it.
        guard isOfSource(url) else { return }
        do {
            try SQLStore.replace(at: url, nil, with: place.url, nil, ifStill: noted)
        } catch is DatabaseChanged { throw ConcurrentSave() } catch { if isOfSource(url) { throw error } }
    }

    /// Makes the new store, with the metadata of the old one.
    private func make(at made: URL, from url: URL) throws {
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: nil)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        manager.isDestinationUnknown = true
        try manager.migrateStore(
            from: url, sourceType: type, with: mapping, toDestinationURL: made, destinationType: type)
        for key in StoreMetadata.Key.kept { metadata[key] = nil }
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: type, at: made)
    }

    private func isOfSource(_ url: URL) -> Bool {
        let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: type, at: url, options: nil)
        let hashes = metadata.flatMap { NSManagedObjectModel.versionHashes(inStoreMetadata: $0) }
        let known = source.entityVersionHashesByName
        return hashes?.allSatisfy { known[$0.key] == $0.value } ?? true
    }
}
