/// A step from one version of the models to the next.
public enum MigrationStage: Sendable {
    /// A step whose mapping follows from the two versions: properties and models that were added, removed, renamed,
    /// made optional.
    case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
    /// A lightweight step with code before and after it.
    ///
    /// `willMigrate` gets a context of the models of the old version, `didMigrate` one of the new version. Each must
    /// save.
    case custom(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
        willMigrate: (@Sendable (ModelContext) throws -> Void)?,
        didMigrate: (@Sendable (ModelContext) throws -> Void)?)

    /// The versions that the stage goes from and to.
    var versions: (from: any VersionedSchema.Type, to: any VersionedSchema.Type) {
        switch self {
        case .lightweight(let from, let to), .custom(let from, let to, _, _): (from, to)
        }
    }
}
