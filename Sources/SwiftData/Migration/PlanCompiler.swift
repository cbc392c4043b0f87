import CoreData
import Foundation

/// Turns a migration plan into the engine's staged migration.
struct PlanCompiler {
    private struct Version {
        let type: any VersionedSchema.Type
        let schema: Schema
        let model: NSManagedObjectModel
        let types: [String: any PersistentModel.Type]

        var reference: NSManagedObjectModelReference {
            NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
        }
    }

    private let plan: any SchemaMigrationPlan.Type
    private var versions: [ObjectIdentifier: Version] = [:]

    /// - Throws: the error of a version whose models cannot be stored; `SwiftDataError.unknownSchema` for a stage between versions that the plan
    ///   does not list, for stages out of order, and for two versions that a store cannot tell apart.
    static func manager(of plan: any SchemaMigrationPlan.Type) throws -> NSStagedMigrationManager {
        var compiler = PlanCompiler(plan: plan)
        try compiler.checkSchemas()
        return NSStagedMigrationManager(try plan.stages.map { try compiler.stage($0) })
    }

    private init(plan: any SchemaMigrationPlan.Type) { self.plan = plan }

    // MARK: Checks

    private mutating func checkSchemas() throws {
        var known: [String: any VersionedSchema.Type] = [:]
        for type in plan.schemas {
            let checksum = try version(type).model.versionChecksum
            if let other = known.updateValue(type, forKey: checksum) {
                throw problem(
                    "\(other) and \(type) have the same entities and properties, so a store cannot tell which of them it has. "
                        + "Give each version frozen copies of its models, or a property a hashModifier.")
            }
        }
        let order = plan.schemas.map { ObjectIdentifier($0) }
        var last = -1
        for stage in plan.stages {
            let (from, to) = stage.versions
            guard let start = order.firstIndex(of: ObjectIdentifier(from)),
                let end = order.firstIndex(of: ObjectIdentifier(to))
            else { throw problem("The stage from \(from) to \(to) is between versions that `schemas` does not list.") }
            guard start < end, start >= last else {
                throw problem(
                    "The stage from \(from) to \(to) is out of order. List stages from the oldest version to the newest."
                )
            }
            last = start
        }
    }

    private func problem(_ text: String) -> SwiftDataError {
        SwiftDataError(.unknownSchema, "Migration plan \(plan): " + text)
    }

    // MARK: Stages

    private mutating func version(_ type: any VersionedSchema.Type) throws -> Version {
        if let known = versions[ObjectIdentifier(type)] { return known }
        let schema = Schema(versionedSchema: type)
        let (model, types) = try SchemaCompiler.managedObjectModel(of: schema)
        let made = Version(type: type, schema: schema, model: model, types: types)
        versions[ObjectIdentifier(type)] = made
        return made
    }

    private mutating func stage(_ stage: MigrationStage) throws -> NSMigrationStage {
        let (from, to) = (try version(stage.versions.from), try version(stage.versions.to))
        guard case .custom(_, _, let willMigrate, let didMigrate) = stage else {
            return NSLightweightMigrationStage([from.model.versionChecksum, to.model.versionChecksum])
        }
        let compiled = NSCustomMigrationStage(migratingFrom: from.reference, to: to.reference)
        compiled.label = "\(from.type) to \(to.type)"
        compiled.willMigrateHandler = willMigrate.map { handler(from, $0) }
        compiled.didMigrateHandler = didMigrate.map { handler(to, $0) }
        return compiled
    }

    /// Runs an app's code with a context over the store as it is at that version.
    private func handler(
        _ version: Version, _ body: @escaping @Sendable (ModelContext) throws -> Void
    ) -> NSCustomMigrationStage.Handler {
        { manager, _ in
            guard let coordinator = manager.container?.persistentStoreCoordinator else { return }
            let container = ModelContainer(
                core: ModelContainer.Core(
                    ContainerOpening(schema: version.schema, coordinator: coordinator, modelTypes: version.types)))
            let context = ModelContext(container)
            try body(context)
        }
    }
}
