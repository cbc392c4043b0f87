import CoreDataModel
import CoreDataStore
import Foundation

/// The migrations that stores need before they are opened, as their options ask for them: staged, progressive, by a
/// mapping model, inferred.
struct MigrationWhenOpening: OpeningMigration {
    func opening<R>(
        _ url: URL?, type: String, _ model: NSManagedObjectModel, configuration: String?,
        options: [AnyHashable: Any]?, _ open: () throws -> R
    ) throws -> R {
        let stages = options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager
        let isReadOnly = (options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false
        if let url, url.isFileURL, StoreSettings.isWanted(options), !isReadOnly {
            MigrationTurn.removeLeavingsOfTurn(of: url)
        }
        if let url, let stages, StoreSettings.isWanted(options) {
            try NSStagedMigrationManager.checkSaysVersion(url, type)
            if ServerStores.shared.driver(of: url) == nil, stages.isInStage(url, type) {
                try stages.migrate(url, type: type, to: model, configuration: configuration, options: options ?? [:])
            }
        }
        do { return try open() } catch let failure as StoreFailure
            where failure.kind == .incompatibleModel && StoreSettings.isWanted(options)
        {
            guard let url else { throw failure }
            if !isReadOnly, try upgradeComposites(ofStoreAt: url, type: type, options) {
                return try opening(
                    url, type: type, model, configuration: configuration, options: options, open)
            }
            if let stages {
                try stages.migrate(url, type: type, to: model, configuration: configuration, options: options ?? [:])
                return try open()
            }
            if !isReadOnly, StoreSettings.isWanted(options, NSMigratePersistentStoresProgressivelyOption) {
                var progressive = ProgressiveMigration(
                    to: model, configuration: configuration, type: type,
                    infers: StoreSettings.isInferenceWanted(options))
                progressive.lossRule = LossRule(options, KnownVersions(model))
                // If no chain of versions ends at the model, the following step throws the error.
                if progressive.leads(from: url) {
                    try progressive.run(at: url, options: options)
                    return try open()
                }
            }
            if !isReadOnly, configuration == nil, let mapped = MappedMigration(ofStoreAt: url, type: type, to: model) {
                try mapped.run(at: url, options: options)
                return try open()
            }
            guard StoreSettings.isInferenceWanted(options) else {
                throw CoreDataErrors.missingMapping(
                    url: ServerStores.shared.shown(url), model: model, mismatch: failure.message)
            }
            var migration = LightweightMigration(to: model, configuration: configuration, type: type)
            migration.lossRule = LossRule(options, KnownVersions(model))
            try migration.run(at: url, options: options)
            return try open()
        }
    }

    func migrate(
        _ storeClass: NSAtomicStore.Type, type: String, configuration: String?, url: URL,
        options: [AnyHashable: Any], to model: NSManagedObjectModel, from row: MetadataRow
    ) throws -> Bool {
        try CustomMigration(
            of: storeClass, type: type, configuration: configuration, url: url, options: options, to: model
        ).run(from: row)
    }

    /// Gives a store of an earlier version of this framework Apple's version hashes and columns of composite
    /// attributes. Its model version stays the same, so that stages and mapping models apply.
    ///
    /// - Returns: whether this was necessary.
    private func upgradeComposites(
        ofStoreAt url: URL, type: String, _ options: [AnyHashable: Any]?
    ) throws -> Bool {
        guard AtomicFileStore.format(ofType: type) == nil,
            let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: type, at: url, options: nil),
            let hashes = NSManagedObjectModel.versionHashes(inStoreMetadata: metadata),
            let document = try? SQLStore.cachedModel(of: url),
            let compiled = try? ModelCompiler.compile(document)
        else { return false }
        let entities = compiled.entities.filter { hashes[$0.name] != nil }.map(\.ordinal)
        guard compiled.areFormer(hashes, of: entities) else { return false }
        var migration = LightweightMigration(
            to: try NSManagedObjectModel(document: document), configuration: nil, type: type)
        migration.entityNames = Set(hashes.keys)
        // Not deferred: the following migration begins with complete tables.
        var options = options
        options?[NSPersistentStoreDeferredLightweightMigrationOptionKey] = nil
        return try migration.run(at: url, options: options)
    }
}
