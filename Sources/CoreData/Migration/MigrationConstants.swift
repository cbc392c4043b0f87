/// The option with a store's ``NSStagedMigrationManager``.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
/// The option that asks to put off what of a lightweight migration can wait.
///
/// Differs from Apple: nothing is put off, since the whole migration is one transaction.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"

extension NSPersistentStoreCoordinator {
    /// Finishes what a lightweight migration has put off.
    ///
    /// Differs from Apple: there is never anything left; see
    /// ``NSPersistentStoreDeferredLightweightMigrationOptionKey``.
    public final func finishDeferredLightweightMigration() throws {}

    /// Does a part of what a lightweight migration has put off.
    ///
    /// Differs from Apple: there is never anything left; see
    /// ``NSPersistentStoreDeferredLightweightMigrationOptionKey``.
    public final func finishDeferredLightweightMigrationTask() throws {}
}
