import Foundation

/// A step between two versions of a model, with code before and after it.
///
///     let stage = NSCustomMigrationStage(migratingFrom: second, to: third)
///     stage.didMigrateHandler = { manager, stage in
///         let context = manager.container?.newBackgroundContext()
///         …
///     }
open class NSCustomMigrationStage: NSMigrationStage {
    /// Code that a stage runs; an error that it throws ends the migration.
    public typealias Handler = (_ migrationManager: NSStagedMigrationManager, _ migrationStage: NSCustomMigrationStage)
        throws -> Void

    /// The version before the step.
    public let currentModel: NSManagedObjectModelReference
    /// The version after it.
    public let nextModel: NSManagedObjectModelReference
    /// Runs before the step; the manager's container has the store with the version before.
    open var willMigrateHandler: Handler?
    /// Runs after the step; the manager's container has the store with the version after.
    open var didMigrateHandler: Handler?

    /// A stage that leads from one version to another.
    public init(
        migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
    ) {
        self.currentModel = currentModel
        self.nextModel = nextModel
        super.init()
    }

    /// Creates a placeholder: a stage between models without entities.
    public convenience override init() {
        self.init(migratingFrom: NSManagedObjectModelReference(), to: NSManagedObjectModelReference())
    }
}
