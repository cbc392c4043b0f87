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
/// Differs from Apple: a schema that cannot be stored, and a file that cannot be opened, throw an error that says which
/// property, and why. Nothing stops the program.
public class ModelContainer: Equatable, @unchecked Sendable {
    // Safe because everything is set in the initialiser, but what is behind a lock.

    /// The state that contexts retain: the stores, and the plans of their models. It outlives the container while a
    /// context needs it.
    package final class Core: @unchecked Sendable {
        // Safe because everything is set in the initialiser, but what is behind a lock or on the main actor.
        package let schema: Schema
        package let migrationPlan: (any SchemaMigrationPlan.Type)?
        package let coordinator: NSPersistentStoreCoordinator
        /// The classes by their entities' names.
        package let modelTypes: [String: any PersistentModel.Type]
        /// Whether some of the stores are an app's own.
        let usesDataStores: Bool
        /// Follows other processes; `nil` where all stores are in memory, or an app's own.
        let remoteSaves: RemoteSaves?
        fileprivate let configurations: Mutex<Set<ModelConfiguration>>
        @MainActor fileprivate var mainContext: ContextReference<ModelContext>?

        init(_ opening: ContainerOpening) {
            schema = opening.schema
            migrationPlan = opening.migrationPlan
            coordinator = opening.coordinator
            modelTypes = opening.modelTypes
            usesDataStores = opening.coordinator.persistentStores.contains { $0 is DataStoreBridge }
            remoteSaves =
                opening.configurations.contains { !$0.isStoredInMemoryOnly } ? RemoteSaves(opening.coordinator) : nil
            configurations = Mutex(Set(opening.configurations))
        }
    }

    /// Posted after another process, or another container of the same files, saved to a store of the container; object:
    /// the container, on no particular thread.
    ///
    /// Contexts of the container merge such changes by themselves. Use ``HistoryObserver`` to select changes by model
    /// or author.
    public static let remoteChange = Notification.Name("SwiftDataModelContainerRemoteChange")

    package let core: Core
    @MainActor private var keptMainContext: ModelContext?

    /// The schema of all models.
    public var schema: Schema { core.schema }
    /// How stores of earlier versions are migrated.
    public var migrationPlan: (any SchemaMigrationPlan.Type)? { core.migrationPlan }
    /// The places of the models.
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

    /// The context of the main actor, which saves automatically.
    ///
    /// The container retains it; it refers to the container weakly, and retains the stores.
    @MainActor public var mainContext: ModelContext {
        if let keptMainContext { return keptMainContext }
        let context = core.mainContext?.context ?? ModelContext(mainContextOf: self)
        core.mainContext = ContextReference(context)
        keptMainContext = context
        return context
    }

    /// Creates a container of stores that are open, for a context whose container was deallocated.
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
    /// - Parameter configurations: the places of the models; none for `default.store`.
    /// - Throws: ``SwiftDataError`` with the entity and property that cannot be stored, or the error of the store.
    public init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [ModelConfiguration]
    ) throws {
        core = Core(
            try ContainerOpening(schema: schema, migrationPlan: migrationPlan, configurations: configurations))
        core.remoteSaves?.tell(self)
    }

    /// Opens an app's own stores, and stores of this module, for these classes and those that their relationships refer
    /// to.
    public convenience init(
        for types: any PersistentModel.Type..., configurations: any DataStoreConfiguration...
    ) throws {
        try self.init(for: Schema(types), configurations: configurations)
    }

    /// Opens an app's own stores, and stores of this module, for a schema.
    ///
    /// - Parameter configurations: the places of the models; several have a schema each.
    /// - Throws: ``SwiftDataError`` with the entity and property that cannot be stored, or the error of the store.
    public init(for schema: Schema, configurations: [any DataStoreConfiguration]) throws {
        core = Core(
            try ContainerOpening(
                schema: schema, migrationPlan: nil,
                configurations: configurations.compactMap { $0 as? ModelConfiguration },
                dataStores: configurations.filter { !($0 is ModelConfiguration) }))
        core.remoteSaves?.tell(self)
    }

    /// Whether both are containers of the same open stores.
    public static func == (one: ModelContainer, other: ModelContainer) -> Bool { one.core === other.core }

    /// Deletes all models of the stores.
    public func erase() throws { try ContainerErasing.erase(self) }

    /// Deletes all models of the stores, or none: an error is not reported. Use ``erase()``.
    public func deleteAllData() { try? erase() }
}
