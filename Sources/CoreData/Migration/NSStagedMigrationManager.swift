import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Leads a store over several versions of its model, stage by stage, with code in between.
///
///     let manager = NSStagedMigrationManager([
///         NSLightweightMigrationStage([first.versionChecksum]),
///         NSCustomMigrationStage(migratingFrom: firstReference, to: secondReference),
///     ])
///     description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
///
/// A stage begins where the store is and ends with its last version; stages that the store has passed are left out.
/// Each
/// step is a transaction of its own: what fails leaves the store at the version before it.
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
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

    /// A version that the store passes, and the custom stage, if any, that leads there from the version before.
    private struct Step {
        var checksum: String
        var stage: NSCustomMigrationStage?
    }

    /// Brings the store to the model.
    ///
    /// - Throws: 134504 where a version that a custom stage names cannot be found, 134505 where the store says
    ///   nothing of its
    ///   version, 134506 where the model is one that the stages have before the store's.
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
        let checksum = try Self.checksum(of: url, type)
        let steps = steps
        try checkOrder(steps, url)
        guard let start = steps.lastIndex(where: { $0.checksum == checksum }) else {
            // Nothing is between: all of it is a lightweight migration.
            if steps.allSatisfy({ $0.stage == nil }) { return try step(url, type, to: model, configuration, options) }
            throw CoreDataErrors.make(
                NSManagedObjectModelReferenceNotFoundError,
                "The store '\(url.path)' is of a version of the model that no stage begins with or leads to (its checksum is \(checksum)): what the stages do would be left out.",
                [NSFilePathErrorKey: url.path])
        }
        let target = model.versionChecksum
        let end = steps.lastIndex { $0.checksum == target }
        if let end, end < start {
            throw CoreDataErrors.make(
                NSStagedMigrationBackwardMigrationError,
                "The store '\(url.path)' is of a newer version of the model than the one it is opened with: stages lead forward only.",
                [NSFilePathErrorKey: url.path])
        }
        for index in (start + 1)..<max(start + 1, (end ?? steps.count - 1) + 1) {
            // A version that is only passed needs no store of it.
            guard let stage = steps[index].stage else { continue }
            try run(stage, url, type, configuration, options)
        }
        try step(url, type, to: model, configuration, options)
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
                "The stages for the store '\(url.path)' are out of order: the stage '\(name(stage))' begins with a version of the model to which a later one, '\(name(later))', leads. Give them from the oldest version to the newest; the store is as it was.",
                [NSFilePathErrorKey: url.path])
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

    private func run(
        _ stage: NSCustomMigrationStage, _ url: URL, _ type: String, _ configuration: String?,
        _ options: [AnyHashable: Any]
    ) throws {
        let (current, next) = (try stage.currentModel.resolve(), try stage.nextModel.resolve())
        try step(url, type, to: current, configuration, options)
        try attached(url, type, current, configuration, options) { try stage.willMigrateHandler?(self, stage) }
        try step(url, type, to: next, configuration, options)
        try attached(url, type, next, configuration, options) { try stage.didMigrateHandler?(self, stage) }
    }

    private func step(
        _ url: URL, _ type: String, to model: NSManagedObjectModel, _ configuration: String?,
        _ options: [AnyHashable: Any]
    ) throws {
        try LightweightMigration(to: model, configuration: configuration, type: type).run(at: url, options: options)
    }

    /// Runs the body while the container has the store.
    private func attached(
        _ url: URL, _ type: String, _ model: NSManagedObjectModel, _ configuration: String?,
        _ options: [AnyHashable: Any], _ body: () throws -> Void
    ) throws {
        let container = NSPersistentContainer(
            name: url.deletingPathExtension().lastPathComponent, managedObjectModel: model)
        let coordinator = container.persistentStoreCoordinator
        var plain = options
        plain[NSPersistentStoreStagedMigrationManagerOptionKey] = nil
        plain[NSMigratePersistentStoresAutomaticallyOption] = nil
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: configuration, at: url, options: plain)
        self.container = container
        defer {
            self.container = nil
            try? coordinator.remove(store)
        }
        try body()
    }

    /// - Throws: 134505 for a store that does not say of which version it is, so that no stage can begin there; it would pass for one
    ///   of whatever model it is opened with.
    static func checkSaysVersion(_ url: URL, _ type: String) throws {
        let found = try? NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: nil)
        if let found { _ = try checksum(in: found, url) }
    }

    private static func checksum(of url: URL, _ type: String) throws -> String {
        try checksum(
            in: NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: nil), url)
    }

    private static func checksum(in metadata: [String: Any], _ url: URL) throws -> String {
        if let checksum = metadata[NSPersistentStoreModelVersionChecksumKey] as? String { return checksum }
        if let hashes = NSManagedObjectModel.versionHashes(inStoreMetadata: metadata) {
            return VersionHash.checksum(hashes)
        }
        throw CoreDataErrors.make(
            NSStagedMigrationFrameworkVersionMismatchError,
            "The store '\(url.path)' does not say which version of its model it is of, so no stage can begin there.",
            [NSFilePathErrorKey: url.path])
    }
}
