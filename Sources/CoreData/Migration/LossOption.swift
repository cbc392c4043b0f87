import Foundation

/// The option that says whether an automatic migration may drop entities, attributes and relationships of a store whose version the
/// program has not; a boolean.
///
///     try coordinator.addPersistentStore(
///         type: .sqlite, at: url,
///         options: [
///             NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
///             NSMigratePersistentStoresAllowingLossOption: true,
///         ])
///
/// A program with an older model would drop what a newer one added to the store. So a store is refused (134130) if the program has not its
/// version and the migration would drop something:
///
/// | Option | Model | Refused |
/// | --- | --- | --- |
/// | not set | with known versions: of a `.momd` or `.xcdatamodeld`, merged of such, or with a staged migration | always |
/// | not set | in code, of a single `.mom`, changed after it was read | where the store was of the model's version before |
/// | `true` | any | never |
/// | `false` | any | always |
///
/// A version that is in the model's folder, in a stage or in a bundle is one that the program has: migrations from it drop what the model no
/// longer has. Mapping models and ``NSMigrationManager`` are always followed. Set `false` for a model in code whose programs share a store,
/// as they do on a server.
///
/// Apple's framework has nothing like it.
public let NSMigratePersistentStoresAllowingLossOption = "NSMigratePersistentStoresAllowingLossOption"

/// The key, in the user info of error 134130, of what a migration would drop: texts such as `Unit` and `Item.price`.
///
/// See ``NSMigratePersistentStoresAllowingLossOption``.
public let NSMigrationLossesErrorKey = "NSMigrationLossesErrorKey"

extension NSPersistentStoreDescription {
    /// Whether an automatic migration may drop something of a store whose version the program has not; `nil` unless set.
    ///
    /// See ``NSMigratePersistentStoresAllowingLossOption``, which says what each value means.
    public var shouldMigrateStoreAllowingLoss: Bool? {
        get { (options[NSMigratePersistentStoresAllowingLossOption] as? NSNumber)?.boolValue }
        set { setOption(newValue.map(NSNumber.init(value:)), forKey: NSMigratePersistentStoresAllowingLossOption) }
    }
}
