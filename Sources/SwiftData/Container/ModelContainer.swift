import CoreData
import Foundation
import Synchronization

/// The stores of an app's models, with their schema.
///
///     let container = try ModelContainer(for: Trip.self)            // default.store
///     let context = ModelContext(container)
///     context.insert(Trip(name: "Oslo"))
///     try context.save()
///
/// A container can be used by any thread. Contexts retain it.
///
/// Differs from Apple: a schema that cannot be stored, and a file that cannot be opened, throw an error that says which property, and
/// why. Nothing stops the program.
public class ModelContainer: Equatable, @unchecked Sendable {
    // Safe because everything is set in the initialiser, but what is behind a lock.

    /// What contexts retain: the stores, and what is known of their models. It outlives the container while a context needs it.
    package final class Core: @unchecked Sendable {
        // Safe because everything is set in the initialiser, but what is behind a lock or on the main actor.
        package let schema: Schema
        package let migrationPlan: (any SchemaMigrationPlan.Type)?
        package let coordinator: NSPersistentStoreCoordinator
        /// The classes by their entities' names.
        package let modelTypes: [String: any PersistentModel.Type]
        /// Whether some of the stores are an app's own.
        let usesDataStores: Bool
        fileprivate let configurations: Mutex<Set<ModelConfiguration>>
        @MainActor fileprivate weak var mainContext: ModelContext?

        init(_ opening: ContainerOpening) {
            schema = opening.schema
            migrationPlan = opening.migrationPlan
            coordinator = opening.coordinator
            modelTypes = opening.modelTypes
            usesDataStores = opening.coordinator.persistentStores.contains { $0 is DataStoreBridge }
            configurations = Mutex(Set(opening.configurations))
        }
    }

    package let core: Core
    @MainActor private var keptMainContext: ModelContext?

    /// The schema of all models.
    public var schema: Schema { core.schema }
    /// How stores of earlier versions are migrated.
    public var migrationPlan: (any SchemaMigrationPlan.Type)? { core.migrationPlan }
    /// Where the models are.
    public var configurations: Set<ModelConfiguration> {
        get { core.configurations.withLock { $0 } }
        set { core.configurations.withLock { $0 = newValue } }
    }
    /// The coordinator of the stores.
    package var coordinator: NSPersistentStoreCoordinator { core.coordinator }
    /// The classes by their entities' names.
    package var modelTypes: [String: any PersistentModel.Type] { core.modelTypes }

    /// Whether some of the stores are an app's own.
    var usesDataStores: Bool { core.usesDataStores }

    /// The context of the main actor, which saves by itself.
    ///
    /// The container retains it; it refers to the container weakly, and retains the stores.
    @MainActor public var mainContext: ModelContext {
        if let keptMainContext { return keptMainContext }
        let context = core.mainContext ?? ModelContext(mainContextOf: self)
        core.mainContext = context
        keptMainContext = context
        return context
    }

    /// The container of stores that are open: what a context has whose container is gone.
    package init(core: Core) { self.core = core }

    /// Opens stores for these classes and those that their relationships refer to.
    public convenience init(
        for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: Schema(types), migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens stores for a schema.
    public convenience init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens stores for a schema.
    ///
    /// - Parameter configurations: where the models are; none for `default.store`.
    /// - Throws: ``SwiftDataError`` with the entity and property that cannot be stored, or the error of the store.
    public init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [ModelConfiguration]
    ) throws {
        core = Core(
            try ContainerOpening(schema: schema, migrationPlan: migrationPlan, configurations: configurations))
    }

    /// Opens stores of an app's own, and stores of this module, for these classes and those that their relationships refer to.
    public convenience init(
        for types: any PersistentModel.Type..., configurations: any DataStoreConfiguration...
    ) throws {
        try self.init(for: Schema(types), configurations: configurations)
    }

    /// Opens stores of an app's own, and stores of this module, for a schema.
    ///
    /// - Parameter configurations: where the models are; of several, each has a schema of its own.
    /// - Throws: ``SwiftDataError`` with the entity and property that cannot be stored, or the error of the store.
    public init(for schema: Schema, configurations: [any DataStoreConfiguration]) throws {
        core = Core(
            try ContainerOpening(
                schema: schema, migrationPlan: nil,
                configurations: configurations.compactMap { $0 as? ModelConfiguration },
                dataStores: configurations.filter { !($0 is ModelConfiguration) }))
    }

    /// Whether both are containers of the same open stores.
    public static func == (one: ModelContainer, other: ModelContainer) -> Bool { one.core === other.core }

    /// Deletes all models of the stores.
    public func erase() throws { try ContainerErasing.erase(self) }

    /// Deletes all models of the stores, or none: an error is not reported. Use ``erase()``.
    public func deleteAllData() { try? erase() }
}
