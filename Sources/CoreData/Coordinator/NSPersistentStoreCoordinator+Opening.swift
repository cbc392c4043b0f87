import Foundation

extension NSPersistentStoreCoordinator {
    /// Opens a store, or makes it if it does not exist. A store of another model is migrated first if the options
    /// request that.
    final func openStore(
        type: String, configuration: String?, url: URL?, options: [AnyHashable: Any]?, index: Int32
    ) throws -> AttachedStore {
        try AttachedStore.open(
            type: type, configuration: configuration, url: url, options: options, index: index, coordinator: self,
            migration: MigrationWhenOpening())
    }
}
