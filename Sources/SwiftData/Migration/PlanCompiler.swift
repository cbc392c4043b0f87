import CoreData
import Foundation

/// Turns a migration plan into the engine's staged migration, for the store of one configuration.
struct PlanCompiler {
    /// One version of the plan.
    struct Version {
        let type: any VersionedSchema.Type
        let schema: Schema
        let model: NSManagedObjectModel
        let types: [String: any PersistentModel.Type]

        var reference: NSManagedObjectModelReference {
            NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
        }
        /// `TripsV1 1.0.0`.
        var name: String { "\(type) \(schema.version)" }
    }

    /// Which entities the store keeps.
    struct Part {
        /// The configuration's name in the model.
        let name: String
        let entities: Set<String>
    }

    private let plan: any SchemaMigrationPlan.Type
    private let part: Part
    private var versions: [ObjectIdentifier: Version] = [:]

    /// - Throws: the error of a version whose models cannot be stored; `SwiftDataError.unknownSchema` for a stage
    ///   between versions that the plan does not list, for stages out of order, and for two versions that a store
    ///   cannot distinguish.
    static func compiled(_ plan: any SchemaMigrationPlan.Type, for part: Part) throws -> CompiledPlan {
        var compiler = PlanCompiler(plan: plan, part: part)
        try compiler.checkSchemas()
        let stages = plan.stages
        return CompiledPlan(
            name: "\(plan)", versions: try plan.schemas.map { try compiler.version($0) },
            manager: NSStagedMigrationManager(try stages.map { try compiler.stage($0) }),
            hasCode: stages.contains(where: \.hasCode))
    }

    private init(plan: any SchemaMigrationPlan.Type, part: Part) {
        self.plan = plan
        self.part = part
    }

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
        let (model, types): (NSManagedObjectModel, [String: any PersistentModel.Type])
        do { (model, types) = try SchemaCompiler.managedObjectModel(of: schema) } catch let error as SwiftDataError {
            throw SwiftDataError(
                error.kind, "Version \(type) of migration plan \(plan): \(error.explanation ?? "")", underlying: error)
        }
        if part.name != ModelConfiguration.defaultName {
            model.setEntities(
                model.entities.filter { $0.name.map { part.entities.contains($0) } == true },
                forConfigurationName: part.name)
        }
        let made = Version(type: type, schema: schema, model: model, types: types)
        versions[ObjectIdentifier(type)] = made
        return made
    }

    /// Returns a stage also if there is no code, so that a property that was renamed twice is found under each of its
    /// names.
    private mutating func stage(_ stage: MigrationStage) throws -> NSMigrationStage {
        let (from, to) = (try version(stage.versions.from), try version(stage.versions.to))
        let compiled = NSCustomMigrationStage(migratingFrom: from.reference, to: to.reference)
        compiled.label = "\(from.type) to \(to.type)"
        if case .custom(_, _, let willMigrate, let didMigrate) = stage {
            compiled.willMigrateHandler = willMigrate.map { handler(from, $0) }
            compiled.didMigrateHandler = didMigrate.map { handler(to, $0) }
        }
        return compiled
    }

    /// Runs an app's code with a context over the store at that version.
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

extension MigrationStage {
    /// Whether the app's code takes part.
    fileprivate var hasCode: Bool {
        guard case .custom(_, _, let willMigrate, let didMigrate) = self else { return false }
        return willMigrate != nil || didMigrate != nil
    }
}
