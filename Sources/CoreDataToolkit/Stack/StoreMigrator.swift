import CoreData
import Foundation

/// Migrates a store of an older model before it is opened: told of its progress, and ended by cancelling.
///
/// ```
///  copy beside the store, migrated ──▶ metadata carried over ──▶ put in the store's place, in one transaction
/// ```
/// What fails or is cancelled before leaves the store as it was.
struct StoreMigrator {
    let url: URL
    let model: NSManagedObjectModel

    /// Does nothing where there is no store, where it is of the model already, or where nobody has its model: to open it then
    /// tells what is wrong.
    func run(_ cancellation: BackgroundWork.Cancellation?, _ progress: ProgressHandler?) throws {
        guard FileManager.default.fileExists(atPath: url.path),
            let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url),
            !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata),
            let source = sourceModel(metadata)
        else { return }
        let mapping =
            try NSMappingModel(from: nil, forSourceModel: source, destinationModel: model)
            ?? NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: model)
        guard let place = NewStorePlace(for: url) else {
            throw ToolkitError("The store at \(url.path) has to be migrated, and nothing can be written beside it.")
        }
        defer { withExtendedLifetime(place) {} }
        let made = place.url
        let replacing = NSPersistentStoreCoordinator(managedObjectModel: model)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: model)
        manager.progressListener = { done in
            progress?(ToolkitProgress(fractionCompleted: Double(done), count: 0))
        }
        cancellation?.whenCancelled { manager.cancelMigrationWithError(CancellationError()) }
        try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: made, type: .sqlite)
        try cancellation?.check()
        try carryOver(metadata, to: made)
        // Somebody else may have migrated it meanwhile, and saved to it.
        guard isOf(source) else { return }
        try replacing.replacePersistentStore(at: url, withPersistentStoreFrom: made, type: .sqlite)
        progress?(ToolkitProgress(fractionCompleted: 1, count: 0))
    }

    /// The model that the store was made with: its own copy, else a version that the program has.
    private func sourceModel(_ metadata: [String: Any]) -> NSManagedObjectModel? {
        if let cached = try? NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url),
            cached.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        {
            return cached
        }
        return NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata)
    }

    /// A store that was made anew gets the old one's UUID, and what its users put into its metadata.
    private func carryOver(_ old: [String: Any], to made: URL) throws {
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: made)
        for (key, value) in old where metadata[key] == nil || key == NSStoreUUIDKey { metadata[key] = value }
        try NSPersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: made)
    }

    private func isOf(_ source: NSManagedObjectModel) -> Bool {
        guard let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        else { return false }
        return source.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }
}
