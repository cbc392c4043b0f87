import CoreData
import Foundation

/// Makes the stores of an app's own that a container has.
struct DataStoreOpening {
    let schema: Schema
    let migrationPlan: (any SchemaMigrationPlan.Type)?
    let configurations: [any DataStoreConfiguration]

    /// - Throws: the error of a configuration, ``SwiftDataError/configurationSchemaNotFoundInContainerSchema`` for an
    ///   entity that the container lacks, ``SwiftDataError/duplicateConfiguration`` for two configurations that are
    ///   equal.
    func check() throws {
        let names = Set(schema.entities.map(\.name))
        var known: Set<AnyHashable> = []
        for configuration in configurations {
            try configuration.validate()
            if !known.insert(AnyHashable(configuration)).inserted {
                throw SwiftDataError(
                    .duplicateConfiguration, "Configuration '\(configuration.name)' is given twice. Give it once.")
            }
            if let other = configuration.schema?.entities.map(\.name).filter({ !names.contains($0) }).min() {
                throw SwiftDataError(
                    .configurationSchemaNotFoundInContainerSchema,
                    "Configuration '\(configuration.name)' has entity '\(other)', which the container's schema lacks. "
                        + "Add its class to the container's.")
            }
        }
    }

    /// Sets the entities of each configuration in the model; returns the names of the configurations there, `nil` for
    /// all entities.
    func setConfigurations(of model: NSManagedObjectModel) -> [String?] {
        let all = Set(schema.entities.map(\.name))
        return configurations.enumerated().map { number, configuration in
            guard let members = configuration.schema.map({ Set($0.entities.map(\.name)) }), members != all else {
                return nil
            }
            let name = "\(configuration.name), data store \(number + 1)"
            model.setEntities(
                model.entities.filter { $0.name.map { members.contains($0) } == true }, forConfigurationName: name)
            return name
        }
    }

    func open(
        _ names: [String?], _ coordinator: NSPersistentStoreCoordinator, _ types: [String: any PersistentModel.Type]
    ) throws {
        if !configurations.isEmpty { SnapshotTypes.add(types) }
        for (configuration, name) in zip(configurations, names) {
            do {
                let adapter = try SnapshotTypes.with(types) { try madeAdapter(configuration, types) }
                try DataStoreBridge.add(adapter, to: coordinator, configuration: name)
            } catch {
                throw SwiftDataError(
                    .loadIssueModelContainer, "The store of configuration '\(configuration.name)' cannot be opened.",
                    underlying: error)
            }
        }
    }

    private func madeAdapter<Configuration: DataStoreConfiguration>(
        _ configuration: Configuration, _ types: [String: any PersistentModel.Type]
    ) throws -> any DataStoreAdapting {
        var configuration = configuration
        if configuration.schema == nil { configuration.schema = schema }
        return DataStoreAdapter(try Configuration.Store(configuration, migrationPlan: migrationPlan), types)
    }
}
