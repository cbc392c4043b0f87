import CoreData
import Foundation

/// Opens the stores of a container.
struct ContainerOpening {
    let schema: Schema
    let migrationPlan: (any SchemaMigrationPlan.Type)?
    let configurations: [ModelConfiguration]
    let coordinator: NSPersistentStoreCoordinator
    let modelTypes: [String: any PersistentModel.Type]

    init(
        schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)?, configurations given: [ModelConfiguration],
        dataStores: [any DataStoreConfiguration] = []
    ) throws {
        let configurations = try given.isEmpty && !dataStores.isEmpty ? [] : Self.completed(given, schema)
        let dataStores = DataStoreOpening(schema: schema, migrationPlan: migrationPlan, configurations: dataStores)
        try dataStores.check()
        let (model, types) = try SchemaCompiler.managedObjectModel(of: schema)
        let names = Self.setConfigurations(configurations, of: model, schema)
        let dataStoreNames = dataStores.setConfigurations(of: model)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        for (configuration, name) in zip(configurations, names) {
            try Self.open(configuration, named: name, coordinator, migrationPlan)
        }
        try dataStores.open(dataStoreNames, coordinator, types)
        self.schema = schema
        self.migrationPlan = migrationPlan
        self.configurations = configurations
        self.coordinator = coordinator
        modelTypes = types
    }

    /// The store of a migration's stage, which is open.
    init(schema: Schema, coordinator: NSPersistentStoreCoordinator, modelTypes: [String: any PersistentModel.Type]) {
        self.schema = schema
        migrationPlan = nil
        configurations = []
        self.coordinator = coordinator
        self.modelTypes = modelTypes
    }

    // MARK: Checks

    /// The configurations with their schemas: one for `default.store` where none are given.
    static func completed(_ given: [ModelConfiguration], _ schema: Schema) throws -> [ModelConfiguration] {
        var configurations = given.isEmpty ? [ModelConfiguration()] : given
        try check(configurations, schema)
        for index in configurations.indices where configurations[index].schema == nil {
            configurations[index].schema = schema
        }
        return configurations
    }

    private static func check(_ configurations: [ModelConfiguration], _ schema: Schema) throws {
        let names = Set(schema.entities.map(\.name))
        var urls: Set<String> = []
        var configurationNames: Set<String> = []
        for configuration in configurations {
            try configuration.validate()
            let isDuplicate =
                !configuration.isStoredInMemoryOnly
                && !urls.insert(configuration.url.standardizedFileURL.path).inserted
                || configuration.name != ModelConfiguration.defaultName
                    && !configurationNames.insert(configuration.name).inserted
            if isDuplicate {
                throw SwiftDataError(
                    .duplicateConfiguration,
                    "Two configurations are named '\(configuration.name)' or have the file "
                        + "\(configuration.url.path). Give each its own.")
            }
            let strange = configuration.schema?.entities.map(\.name).filter { !names.contains($0) } ?? []
            if let first = strange.min() {
                throw SwiftDataError(
                    .configurationSchemaNotFoundInContainerSchema,
                    "Configuration '\(configuration.name)' has entity '\(first)', which the container's schema lacks. "
                        + "Add its class to the container's.")
            }
        }
    }

    /// Sets the entities of each configuration in the model; returns the names of the configurations there.
    ///
    /// A single configuration for everything is the model's only one, as in Apple's stores.
    private static func setConfigurations(
        _ configurations: [ModelConfiguration], of model: NSManagedObjectModel, _ schema: Schema
    ) -> [String] {
        let all = Set(schema.entities.map(\.name))
        var taken: Set<String> = [ModelConfiguration.defaultName]
        return configurations.map { configuration in
            let members = Set(configuration.schema?.entities.map(\.name) ?? [])
            if members == all { return ModelConfiguration.defaultName }
            var name = configuration.name
            var number = 2
            while !taken.insert(name).inserted {
                name = "\(configuration.name) \(number)"
                number += 1
            }
            model.setEntities(
                model.entities.filter { $0.name.map { members.contains($0) } == true }, forConfigurationName: name)
            return name
        }
    }

    // MARK: Opening

    private static func open(
        _ configuration: ModelConfiguration, named name: String, _ coordinator: NSPersistentStoreCoordinator,
        _ migrationPlan: (any SchemaMigrationPlan.Type)?
    ) throws {
        let description = NSPersistentStoreDescription(url: configuration.url)
        description.configuration = name
        description.isReadOnly = !configuration.allowsSave
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        description.setOption(NSNumber(value: true), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        let part = PlanCompiler.Part(name: name, entities: Set(configuration.schema?.entities.map(\.name) ?? []))
        let plan = try migrationPlan.map { try PlanCompiler.compiled($0, for: part) }
        do {
            if !configuration.isStoredInMemoryOnly, configuration.allowsSave {
                try FileManager.default.createDirectory(
                    at: configuration.url.deletingLastPathComponent(), withIntermediateDirectories: true)
            }
            if let plan {
                try open(description, coordinator, plan, configuration)
            } else {
                try open(description, coordinator)
            }
        } catch let error as SwiftDataError where error.kind == .backwardMigration {
            throw error
        } catch { throw unopened(configuration, error) }
    }

    private static func open(
        _ description: NSPersistentStoreDescription, _ coordinator: NSPersistentStoreCoordinator
    ) throws {
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        if let failure { throw failure }
    }

    /// Migrates by the stages of a plan. A store of a version that the plan does not have begins at a version that
    /// keeps all of its data. If no stage has code, it may also be migrated past all of them.
    private static func open(
        _ description: NSPersistentStoreDescription, _ coordinator: NSPersistentStoreCoordinator, _ plan: CompiledPlan,
        _ configuration: ModelConfiguration
    ) throws {
        description.setOption(plan.manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        do { return try open(description, coordinator) } catch  where CompiledPlan.isBackward(error) {
            throw SwiftDataError(
                .backwardMigration,
                "The store of configuration '\(configuration.name)' is of a later version of migration plan \(plan.name) than the "
                    + "container's schema: \(configuration.url.path)", underlying: error)
        } catch  where CompiledPlan.isUnknownVersion(error) && configuration.allowsSave {
            if try plan.adopt(configuration.url, description) { return try open(description, coordinator) }
            guard !plan.hasCode else { throw plan.unknownVersion(configuration.url, error) }
            description.setOption(nil, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
            try open(description, coordinator)
        }
    }

    private static func unopened(_ configuration: ModelConfiguration, _ cause: any Error) -> SwiftDataError {
        var text = "The store of configuration '\(configuration.name)' cannot be opened: \(configuration.url.path)"
        // Errors about models and migrations do not apply to a file that cannot be read.
        let isOfModel =
            (cause as? CocoaError).map { (134100..<134600).contains($0.code.rawValue) } ?? (cause is SwiftDataError)
        if !isOfModel, !configuration.isStoredInMemoryOnly,
            FileManager.default.fileExists(atPath: configuration.url.path)
        {
            text += ". To keep its files and begin with an empty store, call setStoreAside() of the configuration."
        }
        return SwiftDataError(.loadIssueModelContainer, text, underlying: cause)
    }
}
