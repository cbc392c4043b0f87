import Foundation

/// A part of a staged migration: ``NSLightweightMigrationStage`` or ``NSCustomMigrationStage``.
open class NSMigrationStage: NSObject {
    /// A name for messages and logs.
    open var label: String!
}
