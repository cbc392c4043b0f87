import Foundation

/// The key, in the user info of error 134130, of the data that a migration would drop: texts such as `Unit` and
/// `Item.price`.
///
/// See ``NSMigratePersistentStoresAllowingLossOption``.
public let NSMigrationLossesErrorKey = "NSMigrationLossesErrorKey"

extension NSPersistentStoreDescription {
    /// Whether an automatic migration may drop data of a store whose version the program does not have; `nil` by
    /// default.
    ///
    /// See ``NSMigratePersistentStoresAllowingLossOption``, which explains each value.
    public var shouldMigrateStoreAllowingLoss: Bool? {
        get { (options[NSMigratePersistentStoresAllowingLossOption] as? NSNumber)?.boolValue }
        set { setOption(newValue.map(NSNumber.init(value:)), forKey: NSMigratePersistentStoresAllowingLossOption) }
    }
}
