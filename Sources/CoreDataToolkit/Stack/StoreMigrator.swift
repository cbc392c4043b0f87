import CoreData
import Foundation

/// Migrates a store with an older model before it is opened, with progress and cancellation.
///
/// ```
///  migrated copy next to the store ──▶ metadata transferred ──▶ replaces the store, in one transaction
/// ```
/// An error or a cancellation before the replacement leaves the store unchanged.
struct StoreMigrator {
    let url: URL
    let model: NSManagedObjectModel
    var versions: MigrationVersions?
    /// See ``CoreDataStack/Options/migratesAllowingLoss``.
    var allowsLoss: Bool?

    /// A migration from one model version to another.
    private struct Step {
        let source: NSManagedObjectModel
        let destination: NSManagedObjectModel
        let mapping: NSMappingModel
    }

    /// Migrates the store. Does nothing if there is no store, if its model is current, or if its model is unknown:
    /// opening it then reports the error.
    func run(_ cancellation: BackgroundWork.Cancellation?, _ progress: ProgressHandler?) throws {
        guard olderStore() != nil else { return }
        func waiting() throws { try cancellation?.check() }
        try MigrationTurn.with(url, waiting: waiting) {
            // Another process may have migrated it while this one waited.
            guard let (metadata, source) = olderStore() else { return }
            try migrate(metadata, from: source, cancellation, progress)
        }
    }

    /// Returns the metadata and model of the store, if it exists and has another model.
    private func olderStore() -> (metadata: [String: Any], model: NSManagedObjectModel)? {
        guard FileManager.default.fileExists(atPath: url.path),
            let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url),
            !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata),
            let source = sourceModel(metadata)
        else { return nil }
        return (metadata, source)
    }

    private func migrate(
        _ metadata: [String: Any], from source: NSManagedObjectModel, _ cancellation: BackgroundWork.Cancellation?,
        _ progress: ProgressHandler?
    ) throws {
        let steps = try steps(from: source, metadata)
        guard let place = NewStorePlace(for: url) else {
            throw ToolkitError("The store at \(url.path) has to be migrated, and nothing can be written beside it.")
        }
        defer { withExtendedLifetime(place) {} }
        let replacing = NSPersistentStoreCoordinator(managedObjectModel: model)
        var made = url
        for (index, step) in steps.enumerated() {
            let next = index == steps.count - 1 ? place.url : try Self.stepURL(index, place.url)
            let manager = NSMigrationManager(sourceModel: step.source, destinationModel: step.destination)
            manager.progressListener = { done in
                let fraction = (Double(index) + Double(done)) / Double(steps.count)
                progress?(ToolkitProgress(fractionCompleted: fraction, count: index))
            }
            cancellation?.whenCancelled { manager.cancelMigrationWithError(CancellationError()) }
            try manager.migrateStore(from: made, type: .sqlite, mapping: step.mapping, to: next, type: .sqlite)
            try cancellation?.check()
            if index > 0 { try FileManager.default.removeItem(at: made.deletingLastPathComponent()) }
            made = next
        }
        try carryOver(metadata, to: made)
        // Another process may have migrated it meanwhile, and saved to it.
        guard isOf(source) else { return }
        try replacing.replacePersistentStore(at: url, withPersistentStoreFrom: made, type: .sqlite)
        progress?(ToolkitProgress(fractionCompleted: 1, count: steps.count))
    }

    /// Returns the location for the result of a step, in a temporary folder.
    private static func stepURL(_ index: Int, _ url: URL) throws -> URL {
        let folder = url.deletingLastPathComponent().appendingPathComponent("step-\(index)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appendingPathComponent(url.lastPathComponent)
    }

    /// Returns one step per version if the versions are known and the store has one of them; otherwise a single step.
    private func steps(from source: NSManagedObjectModel, _ metadata: [String: Any]) throws -> [Step] {
        let models = try versions?.models()
        if let versions, let models {
            let first = models.firstIndex { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) }
            let last = models.lastIndex { $0.entityVersionHashesByName == model.entityVersionHashesByName }
            if let first, let last, first < last {
                return try (first..<last).map { index in
                    let (old, new) = (models[index], models[index + 1])
                    return Step(
                        source: old, destination: new,
                        mapping: try versions.mapping(index, old, new) ?? Self.mapping(old, new))
                }
            }
        }
        let written = NSMappingModel(from: nil, forSourceModel: source, destinationModel: model)
        let mapping =
            try written ?? NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: model)
        try checkKeepsSomething(mapping, source)
        if written == nil {
            try StoreTools.checkLosses(ofStoreAt: url, to: model, known: models, allowsLoss: allowsLoss)
        }
        return [Step(source: source, destination: model, mapping: mapping)]
    }

    /// Refuses a store of another app, of which a migration would keep nothing.
    private func checkKeepsSomething(_ mapping: NSMappingModel, _ source: NSManagedObjectModel) throws {
        let keeps = mapping.entityMappings.contains {
            $0.sourceEntityName != nil && $0.destinationEntityName != nil
        }
        guard !keeps, !source.entities.isEmpty else { return }
        func names(_ model: NSManagedObjectModel) -> String {
            let names = model.entities.compactMap(\.name).sorted()
            return names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", …" : "")
        }
        throw ToolkitError(
            """
            The store is of another app: none of its entities (\(names(source))) becomes one of this model's \
            (\(names(model))), so that nothing of it would be left. Nothing was changed.
            """)
    }

    private static func mapping(
        _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel
    ) throws -> NSMappingModel {
        try NSMappingModel(from: nil, forSourceModel: source, destinationModel: destination)
            ?? NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
    }

    /// Returns the store's model: its cached model, else one of the program's versions.
    private func sourceModel(_ metadata: [String: Any]) -> NSManagedObjectModel? {
        if let cached = try? NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url),
            cached.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        {
            return cached
        }
        return NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata)
    }

    /// Transfers the UUID and the user's metadata of the old store to the new one.
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
