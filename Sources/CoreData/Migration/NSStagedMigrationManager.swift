import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Migrates a store over several versions of its model, stage by stage, with code between them.
///
///     let manager = NSStagedMigrationManager([
///         NSLightweightMigrationStage([first.versionChecksum]),
///         NSCustomMigrationStage(migratingFrom: firstReference, to: secondReference),
///     ])
///     description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
///
/// A stage begins at the store's version and ends with its own last version; stages that the store has passed are
/// skipped. Each step is a transaction of its own: a failure leaves the store at the version before it. The store
/// records the stage that it is in. After a failure, or the end of the process, the handler that did not complete
/// therefore runs again, and no completed one does.
///
/// A store of one configuration has the last version whose entities of that configuration are equal to its own; it
/// skips stages that change none of them.
open class NSStagedMigrationManager: NSObject, StagedMigrating, @unchecked Sendable {
    // Safe because the container is set while one thread migrates, and stages are not changed.

    /// The stages, in their order.
    public let stages: [NSMigrationStage]
    /// Has the store while a stage's code runs.
    open private(set) var container: NSPersistentContainer?

    /// A manager of these stages.
    public init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        super.init()
    }

    /// A manager without stages.
    public convenience override init() { self.init([]) }

    /// A version that the store passes, and the custom stage, if any, that leads there from the version before.
    private struct Step {
        var checksum: String
        var stage: NSCustomMigrationStage?
    }

    /// Migrates the store to the model.
    ///
    /// - Throws: 134504 if a version that a custom stage names cannot be found, 134505 if the store does not record its
    ///   version, 134506 if the model is one that the stages have before the store's.
    func migrate(
        _ url: URL, type: String, to model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]
    ) throws {
        try MigrationTurn.with(url) {
            try migrateInTurn(url, type: type, to: model, configuration: configuration, options: options)
        }
    }

    private func migrateInTurn(
        _ url: URL, type: String, to model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]
    ) throws {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: nil)
        let checksum = try Self.checksum(in: metadata, url)
        let steps = steps
        try checkOrder(steps, url)
        let models = knownModels(and: model)
        let run = Run(
            url: url, type: type, configuration: configuration, options: options, models: models.map(\.model),
            checksums: Set(steps.map(\.checksum)))
        func isStore(of step: Step) -> Bool {
            models.contains { known in
                known.checksum == step.checksum
                    && known.model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
            }
        }
        guard
            let start = steps.lastIndex(where: { $0.checksum == checksum }) ?? steps.lastIndex(where: isStore(of:))
        else {
            // No stage in between: all of it is a lightweight migration.
            if steps.allSatisfy({ $0.stage == nil }) { return try run.step(to: model) }
            throw CoreDataErrors.make(
                NSManagedObjectModelReferenceNotFoundError,
                "The store '\(ServerStores.name(url))' is of a version of the model that no stage begins with or leads to (its checksum is \(checksum)): what the stages do would be left out.",
                [NSFilePathErrorKey: ServerStores.name(url)])
        }
        let target = model.versionChecksum
        let end = steps.lastIndex { $0.checksum == target }
        if let end, end < start {
            throw CoreDataErrors.make(
                NSStagedMigrationBackwardMigrationError,
                "The store '\(ServerStores.name(url))' is of a newer version of the model than the one it is opened with: stages lead forward only.",
                [NSFilePathErrorKey: ServerStores.name(url)])
        }
        try finish(run, steps)
        for index in (start + 1)..<max(start + 1, (end ?? steps.count - 1) + 1) {
            // The store does not stop at a version without a stage.
            guard let stage = steps[index].stage else { continue }
            try go(through: stage, run)
        }
        try run.step(to: model)
    }

    /// - Throws: 134506 for a stage that begins with a version to which only a later one leads.
    private func checkOrder(_ steps: [Step], _ url: URL) throws {
        for (index, step) in steps.enumerated() where step.stage == nil {
            guard let later = steps[index...].first(where: { $0.stage != nil && $0.checksum == step.checksum })?.stage,
                !steps[..<index].contains(where: { $0.checksum == step.checksum }),
                let stage = index + 1 < steps.count ? steps[index + 1].stage : nil, stage !== later
            else { continue }
            func name(_ stage: NSCustomMigrationStage) -> String {
                stage.label ?? "\(stage.currentModel.versionChecksum) to \(stage.nextModel.versionChecksum)"
            }
            throw CoreDataErrors.make(
                NSStagedMigrationBackwardMigrationError,
                "The stages for the store '\(ServerStores.name(url))' are out of order: the stage '\(name(stage))' begins with a version of the model to which a later one, '\(name(later))', leads. Give them from the oldest version to the newest; the store is as it was.",
                [NSFilePathErrorKey: ServerStores.name(url)])
        }
    }

    private var steps: [Step] {
        stages.flatMap { stage -> [Step] in
            switch stage {
            case let stage as NSLightweightMigrationStage: stage.versionChecksums.map { Step(checksum: $0) }
            case let stage as NSCustomMigrationStage:
                [
                    Step(checksum: stage.currentModel.versionChecksum),
                    Step(checksum: stage.nextModel.versionChecksum, stage: stage),
                ]
            default: []
            }
        }
    }

    /// The subject of a migration.
    private struct Run {
        let url: URL
        let type: String
        let configuration: String?
        let options: [AnyHashable: Any]
        /// The models of stages and of the newest model's file; the store may have been made with one of them.
        let models: [NSManagedObjectModel]
        /// The checksums of the versions that stages name.
        let checksums: Set<String>

        func step(to model: NSManagedObjectModel) throws {
            var migration = LightweightMigration(to: model, configuration: configuration, type: type)
            migration.known = models
            var versions = KnownVersions(model, models: models)
            versions.checksums = checksums
            migration.lossRule = LossRule(options, versions)
            try migration.run(at: url, options: options)
        }

        func note(_ stage: String?) throws { try AttachedStore.setStage(stage, of: url, type: type, nil) }
    }

    /// The versions that are at hand.
    private func knownModels(and model: NSManagedObjectModel) -> [(checksum: String, model: NSManagedObjectModel)] {
        var models: [NSManagedObjectModel] = []
        for case let stage as NSCustomMigrationStage in stages {
            models += [stage.currentModel, stage.nextModel].compactMap { try? $0.resolve() }
        }
        if let file = model.fileURL, let found = try? NSManagedObjectModel.versions(at: file) {
            models += found.versions.compactMap { try? NSManagedObjectModel(document: $0.document) }
        }
        return (models + [model]).map { ($0.versionChecksum, $0) }
    }

    // MARK: Stages

    // ```
    //  willMigrateHandler ──▶ stage noted ──▶ step ──▶ didMigrateHandler ──▶ note removed
    // ```
    private func go(through stage: NSCustomMigrationStage, _ run: Run) throws {
        let (current, next) = (try stage.currentModel.resolve(), try stage.nextModel.resolve())
        // Otherwise a store of one configuration whose entities do not change would count as having passed the stage.
        if run.configuration != nil, current.versionChecksum != next.versionChecksum,
            current.entityVersionHashes(of: run.configuration) == next.entityVersionHashes(of: run.configuration)
        {
            return
        }
        try MigrationTurn.check(run.url)
        try run.step(to: current)
        let name = Self.name(of: stage)
        if try AttachedStore.stage(of: run.url, type: run.type, nil) != name {
            if let handler = stage.willMigrateHandler { try attached(run, current) { try handler(self, stage) } }
            if stage.willMigrateHandler != nil || stage.didMigrateHandler != nil { try run.note(name) }
        }
        try MigrationTurn.check(run.url)
        try run.step(to: next)
        try end(stage, next, run)
    }

    private func end(_ stage: NSCustomMigrationStage, _ next: NSManagedObjectModel, _ run: Run) throws {
        if let handler = stage.didMigrateHandler { try attached(run, next) { try handler(self, stage) } }
        try run.note(nil)
    }

    /// Ends a stage whose step was done by a process that ended, or failed, before the end of the stage's code.
    private func finish(_ run: Run, _ steps: [Step]) throws {
        guard let name = try AttachedStore.stage(of: run.url, type: run.type, nil) else { return }
        guard let stage = steps.compactMap(\.stage).first(where: { Self.name(of: $0) == name }) else {
            // The recorded stage is not known any more.
            return try run.note(nil)
        }
        let next = try stage.nextModel.resolve()
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: run.type, at: run.url, options: nil)
        let isPassed = { (model: NSManagedObjectModel) in
            model.isConfiguration(withName: run.configuration, compatibleWithStoreMetadata: metadata)
        }
        guard isPassed(next), stage.currentModel.versionChecksum != stage.nextModel.versionChecksum else { return }
        try end(stage, next, run)
    }

    private static func name(of stage: NSCustomMigrationStage) -> String {
        "\(stage.currentModel.versionChecksum) → \(stage.nextModel.versionChecksum)"
    }

    /// Whether one of the stages is to be ended before the store can be used, though that is of the newest version.
    func isInStage(_ url: URL, _ type: String) -> Bool {
        guard FileSize.of(url.path) ?? 0 > 0, let name = try? AttachedStore.stage(of: url, type: type, nil) else {
            return false
        }
        return stages.contains { ($0 as? NSCustomMigrationStage).map(Self.name) == name }
    }

    /// Runs the body while the container has the store.
    private func attached(_ run: Run, _ model: NSManagedObjectModel, _ body: () throws -> Void) throws {
        let container = NSPersistentContainer(
            name: run.url.deletingPathExtension().lastPathComponent, managedObjectModel: model)
        let coordinator = container.persistentStoreCoordinator
        var plain = run.options
        plain[NSPersistentStoreStagedMigrationManagerOptionKey] = nil
        plain[NSMigratePersistentStoresAutomaticallyOption] = nil
        let store = try coordinator.addPersistentStore(
            ofType: run.type, configurationName: run.configuration, at: run.url, options: plain)
        self.container = container
        defer {
            self.container = nil
            try? coordinator.remove(store)
        }
        try body()
    }

    /// - Throws: 134505 for a store that does not say of which version it is, so that no stage can begin there; it
    ///   would pass for one of whatever model it is opened with.
    static func checkSaysVersion(_ url: URL, _ type: String) throws {
        let found = try? NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: nil)
        if let found { _ = try checksum(in: found, url) }
    }

    private static func checksum(in metadata: [String: Any], _ url: URL) throws -> String {
        if let checksum = metadata[NSPersistentStoreModelVersionChecksumKey] as? String { return checksum }
        if let hashes = NSManagedObjectModel.versionHashes(inStoreMetadata: metadata) {
            return VersionHash.checksum(hashes)
        }
        throw CoreDataErrors.make(
            NSStagedMigrationFrameworkVersionMismatchError,
            "The store '\(ServerStores.name(url))' does not say which version of its model it is of, so no stage can begin there.",
            [NSFilePathErrorKey: ServerStores.name(url)])
    }
}

extension NSManagedObjectModel {
    fileprivate func entityVersionHashes(of configuration: String?) -> [String: Data]? {
        guard let entities = entities(forConfigurationName: configuration) else { return nil }
        return Dictionary(entities.map { ($0.name ?? "", $0.versionHash) }, uniquingKeysWith: { first, _ in first })
    }
}
