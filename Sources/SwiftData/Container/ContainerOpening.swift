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
        var configurations = given.isEmpty && dataStores.isEmpty ? [ModelConfiguration()] : given
        try Self.check(configurations, schema)
        let dataStores = DataStoreOpening(schema: schema, migrationPlan: migrationPlan, configurations: dataStores)
        try dataStores.check()
        for index in configurations.indices where configurations[index].schema == nil {
            configurations[index].schema = schema
        }
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

    /// Tells the model which entities each store keeps; gives the names that the model knows the configurations by.
    ///
    /// One configuration for everything is the model's only one, as in Apple's stores.
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
        if let migrationPlan {
            description.setOption(
                try PlanCompiler.manager(of: migrationPlan), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        }
        var failure: (any Error)?
        do {
            if !configuration.isStoredInMemoryOnly, configuration.allowsSave {
                try FileManager.default.createDirectory(
                    at: configuration.url.deletingLastPathComponent(), withIntermediateDirectories: true)
            }
            coordinator.addPersistentStore(with: description) { failure = $1 }
        } catch { failure = error }
        guard let failure else { return }
        throw SwiftDataError(
            .loadIssueModelContainer,
            "The store of configuration '\(configuration.name)' cannot be opened: \(configuration.url.path)",
            underlying: failure)
    }
}
