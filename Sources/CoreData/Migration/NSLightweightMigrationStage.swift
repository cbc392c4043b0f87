import Foundation

/// Versions of a model that stores pass by inferred mappings alone.
///
///     NSLightweightMigrationStage([first.versionChecksum, second.versionChecksum])
open class NSLightweightMigrationStage: NSMigrationStage {
    /// The checksums of the versions, in their order.
    public let versionChecksums: [String]

    /// A stage for versions with these checksums, oldest first.
    public init(_ checksums: [String]) {
        versionChecksums = checksums
        super.init()
    }

    /// A stage without versions.
    public convenience override init() { self.init([]) }
}
