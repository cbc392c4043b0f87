import CoreData

/// The versions of a model, through which an older store is migrated step by step.
///
///     options.versions = MigrationVersions {
///         try (1...8).map { number in try model(named: number == 1 ? "Shop" : "Shop \(number)") }
///     }
///
/// Without them, a store is migrated in one step from its model to the current one. Each step uses a mapping model of
/// the program's bundles, if there is one, or else an inferred mapping; ``init(_:mapping:)`` allows custom mapping
/// models.
public struct MigrationVersions: Sendable {
    /// Makes the mapping model from one version to the next.
    ///
    /// - Parameters:
    ///   - version: the index of the older version, from 0.
    /// - Returns: `nil` for a mapping model of the bundles, or an inferred one.
    public typealias Mapping =
        @Sendable (
            _ version: Int, _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel
        ) throws -> NSMappingModel?

    let models: @Sendable () throws -> [NSManagedObjectModel]
    let mapping: Mapping

    /// Makes versions from models, oldest first, the current one last. The closure is called only if a store must be
    /// migrated.
    public init(_ models: @escaping @Sendable () throws -> [NSManagedObjectModel]) {
        self.init(models) { _, _, _ in nil }
    }

    /// Makes versions from models and custom mapping models.
    public init(_ models: @escaping @Sendable () throws -> [NSManagedObjectModel], mapping: @escaping Mapping) {
        self.models = models
        self.mapping = mapping
    }
}
