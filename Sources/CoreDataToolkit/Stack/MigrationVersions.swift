import CoreData

/// The versions that a model has had, through which a store of an older one is brought to the present one by one.
///
///     options.versions = MigrationVersions {
///         try (1...8).map { number in try model(named: number == 1 ? "Shop" : "Shop \(number)") }
///     }
///
/// Without them a store is migrated in one step, from whatever it is of to the present model. Each step of these has a mapping model
/// of the program's bundles, where there is one, else one that is inferred; ``init(_:mapping:)`` gives one of the app's own.
public struct MigrationVersions: Sendable {
    /// Makes a mapping model from one version to the next.
    ///
    /// - Parameters:
    ///   - version: the place of the older one among the versions, from 0.
    /// - Returns: `nil` for one of the bundles, or an inferred one.
    public typealias Mapping =
        @Sendable (
            _ version: Int, _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel
        ) throws -> NSMappingModel?

    let models: @Sendable () throws -> [NSManagedObjectModel]
    let mapping: Mapping

    /// Takes versions, the oldest first, the present one last; they are asked for only where a store has to be migrated.
    public init(_ models: @escaping @Sendable () throws -> [NSManagedObjectModel]) {
        self.init(models) { _, _, _ in nil }
    }

    /// Takes versions, and mapping models of the app's own.
    public init(_ models: @escaping @Sendable () throws -> [NSManagedObjectModel], mapping: @escaping Mapping) {
        self.models = models
        self.mapping = mapping
    }
}
