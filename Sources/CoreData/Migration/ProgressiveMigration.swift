import CoreDataModel
import CoreDataStore
import Foundation

/// A migration over versions of a model that lie between.
package struct ProgressiveMigration {
    /// A step of it, for people.
    package struct Step: Sendable {
        package var from: String
        package var to: String
        /// The name of the mapping model; `nil` for an inferred mapping.
        package var mapping: String?
        /// What becomes of the entities that are not the same, by an inferred mapping.
        package var entities: [String]
        /// The data that an inferred step drops, by the names of the store's version.
        package var losses: [MappingLoss]
    }

    let model: NSManagedObjectModel
    let configuration: String?
    let type: String
    /// Whether mappings may be inferred.
    let infers: Bool
    /// Decides whether something may be dropped; `nil` if the user requested exactly this migration.
    var lossRule: LossRule?
    private let files: [URL]
    private let mappings: [(name: String, model: NSMappingModel)]

    /// - Parameter mappings: mapping models by name; `nil` for those of the program's bundles.
    package init(
        to model: NSManagedObjectModel, configuration: String?, type: String, files: [URL] = [], infers: Bool = true,
        mappings: [(name: String, model: NSMappingModel)]? = nil
    ) {
        self.model = model
        self.configuration = configuration
        self.type = type
        self.infers = infers
        self.files = files + [model.fileURL].compactMap { $0 }
        self.mappings = configuration == nil ? mappings ?? Self.mappingsInBundles() : []
    }

    private static func mappingsInBundles() -> [(name: String, model: NSMappingModel)] {
        var seen: Set<String> = []
        let bundles: [[Bundle]?] = [nil, Bundle.allBundles + Bundle.allFrameworks]
        let files = bundles.flatMap { ModelFiles.mappingModels(in: $0) }
        return files.filter { seen.insert($0.standardizedFileURL.path).inserted }.compactMap { file in
            NSMappingModel(contentsOf: file).map { (file.lastPathComponent, $0) }
        }
    }

    // MARK: Running

    /// Migrates the store unless it is of the model already.
    ///
    /// - Returns: whether a migration was necessary.
    /// - Throws: the errors of ``LightweightMigration/run(at:options:)``; 134140 if no chain ends at the model.
    @discardableResult
    package func run(
        at url: URL, options: [AnyHashable: Any]?, progress: @escaping (Double) throws -> Void = { _ in }
    ) throws -> Bool {
        let waiting = { try progress(0) }
        return try MigrationTurn.with(url, waiting: waiting) { try runInTurn(at: url, options, progress) }
    }

    private func runInTurn(
        at url: URL, _ options: [AnyHashable: Any]?, _ progress: @escaping (Double) throws -> Void
    ) throws -> Bool {
        var count = 0
        var most = 0
        while let chain = try chain(of: url) {
            // Another process that migrates it also moves it forward. There are at most as many steps as versions.
            most = max(most, chain.versionCount)
            guard let first = chain.steps.first, count <= most else { throw missing(url, chain) }
            if count == 0 { try checkLosses(chain, at: url) }
            let (done, all) = (count, count + chain.steps.count)
            try run(first, at: url, options) { try progress((Double(done) + $0) / Double(all)) }
            count += 1
        }
        return count > 0
    }

    // Before the first step the whole chain was checked; after it the store is of a version that the program has.
    private func run(
        _ step: Chain.Step, at url: URL, _ options: [AnyHashable: Any]?, _ progress: @escaping (Double) throws -> Void
    ) throws {
        let (old, new) = (try step.from.makeModel(), try step.to.makeModel())
        if let mapping = step.mapping {
            return try MappedMigration(mapping.model, from: old, to: new, type: type).run(at: url, options: options)
        }
        var migration = LightweightMigration(
            to: new, configuration: configuration, type: type, files: files, source: old)
        migration.isFromSourceOnly = true
        migration.progress = progress
        try migration.run(at: url, options: options)
    }

    /// Returns the steps of ``run(at:options:progress:)``; `nil` if there is nothing to do.
    package func plan(of url: URL) throws -> [Step]? {
        guard let chain = try chain(of: url) else { return nil }
        guard !chain.steps.isEmpty else { throw missing(url, chain) }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: nil)
        let losses = chain.losses(of: NSManagedObjectModel.versionHashes(inStoreMetadata: metadata) ?? [:])
        return zip(chain.steps, losses).map { step, losses in
            Step(
                from: step.from.name, to: step.to.name, mapping: step.mapping?.name,
                entities: step.inferred?.lines ?? [], losses: losses)
        }
    }

    /// Whether a chain leads from the store to the model.
    func leads(from url: URL) -> Bool { (try? chain(of: url))?.steps.isEmpty == false }

    private func missing(_ url: URL, _ chain: Chain) -> CocoaError {
        CoreDataErrors.make(
            NSMigrationMissingMappingModelError,
            "The store '\(ServerStores.name(url))' was not migrated: over the versions of its model nothing leads from '\(chain.source)' to '\(chain.target)'. \(chain.obstacle)",
            [
                NSFilePathErrorKey: ServerStores.name(url), "destinationModel": model,
                "reason": "Can't find or automatically infer mapping model for migration",
            ])
    }

    // MARK: Chains

    /// Returns the best chain from the store's version; `nil` if it is of the model.
    private func chain(of url: URL) throws -> Chain? {
        let lightweight = LightweightMigration(to: model, configuration: configuration, type: type, files: files)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: nil)
        if model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata) { return nil }
        guard let source = lightweight.sourceModel(ofStoreAt: url) else {
            // Throws the error for an unknown model.
            try lightweight.run(at: url, options: nil)
            return nil
        }
        let versions = versions
        guard let old = Chain.Version(name: "the store's model", document: source.makeDocument()),
            let new = Chain.Version(name: "the model", document: model.makeDocument())
        else { return Chain(source: "the store's model", target: "the model") }
        return Chain.shortest(
            among: Chain.between(old, new, versions), infers: infers, configuration: configuration, mappings)
    }

    /// The versions in the model's file.
    private var versions: [Chain.Version] {
        for file in files {
            guard let found = try? NSManagedObjectModel.versions(at: file) else { continue }
            return found.versions.compactMap { Chain.Version(name: $0.name, document: $0.document) }
        }
        return []
    }

    /// Returns the names of the mapping models that connect no two known versions, including the store's: no step can
    /// use them.
    package func idleMappings(for url: URL) -> [String] {
        let lightweight = LightweightMigration(to: model, configuration: configuration, type: type, files: files)
        let others = [lightweight.sourceModel(ofStoreAt: url), model].compactMap { model in
            model.flatMap { Chain.Version(name: "", document: $0.makeDocument()) }
        }
        let versions = versions + others
        return mappings.filter { mapping in
            !versions.contains { old in versions.contains { new in Chain.leads(mapping.model, from: old, to: new) } }
        }.map(\.name)
    }
}

extension NSPersistentStoreDescription {
    /// Whether a store is migrated over intermediate versions of its model if no direct migration exists; false by
    /// default. See ``NSMigratePersistentStoresProgressivelyOption``.
    public var shouldMigrateStoreProgressively: Bool {
        get { (options[NSMigratePersistentStoresProgressivelyOption] as? NSNumber)?.boolValue ?? false }
        set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresProgressivelyOption) }
    }
}
