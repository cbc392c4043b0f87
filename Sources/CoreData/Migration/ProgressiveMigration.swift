import CoreDataModel
import CoreDataStore
import Foundation

/// The option that has a store migrated over versions of its model that lie between, where nothing leads from its version to the
/// one that it is added with at once, or not all values do; a boolean, with `NSMigratePersistentStoresAutomaticallyOption`.
///
///     description.shouldMigrateStoreProgressively = true
///     // Library → Library 2 by Library1to2.cdm → Library 3 inferred
///
/// The versions are those of the model's file, in the order of their names (`Library 2` before `Library 10`). Of the chains that
/// lead forward, each step a mapping model or an inferred mapping, the shortest is taken, of those that are as short the one with
/// more mapping models. Two things go before: a step that there is a mapping model for is left out only where nothing else leads
/// there, and a chain over more versions is taken where an inferred step of a shorter one finds nothing that a renaming identifier,
/// or the name of what has it, names, so that it would be empty. Each step is a migration of its own: what fails, or kills the
/// program, leaves the store at the version before it, whole.
///
/// Apple's framework has nothing like it: see ``NSStagedMigrationManager`` for what it has.
public let NSMigratePersistentStoresProgressivelyOption = "NSMigratePersistentStoresProgressivelyOption"

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
        /// What an inferred step drops, by the names that the store's version has.
        package var losses: [MappingLoss]
    }

    let model: NSManagedObjectModel
    let configuration: String?
    let type: String
    /// Whether mappings may be inferred.
    let infers: Bool
    /// What decides whether something may be dropped; `nil` where somebody has asked for just this migration.
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
    /// - Returns: whether there was something to do.
    /// - Throws: as ``LightweightMigration/run(at:options:)``; 134140 where no chain leads to the model.
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
            // Whoever else migrates it leads it forward too; more steps than versions, of which ever fewer lie ahead, there are none.
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

    /// What ``run(at:options:progress:)`` would do; `nil` where there is nothing to do.
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

    /// The best chain from the store's version; `nil` where it is of the model.
    private func chain(of url: URL) throws -> Chain? {
        let lightweight = LightweightMigration(to: model, configuration: configuration, type: type, files: files)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: nil)
        if model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata) { return nil }
        guard let source = lightweight.sourceModel(ofStoreAt: url) else {
            // Which says whose model nobody has.
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

    /// Those of the model's file.
    private var versions: [Chain.Version] {
        for file in files {
            guard let found = try? NSManagedObjectModel.versions(at: file) else { continue }
            return found.versions.compactMap { Chain.Version(name: $0.name, document: $0.document) }
        }
        return []
    }

    /// The names of the mapping models that lead from no version, nor from the store's, to another: no step can follow them.
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
    /// Whether a store is migrated over versions of its model that lie between, where nothing leads to the newest at once; false
    /// unless set. See ``NSMigratePersistentStoresProgressivelyOption``.
    public var shouldMigrateStoreProgressively: Bool {
        get { (options[NSMigratePersistentStoresProgressivelyOption] as? NSNumber)?.boolValue ?? false }
        set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresProgressivelyOption) }
    }
}
