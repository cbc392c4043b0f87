import CoreData

extension NSPersistentStoreCoordinator {
    /// Checks that the store that synchronises is attached.
    ///
    /// A program may remove it at any time, also during an exchange. Reads of a removed store find nothing, as if all
    /// objects had been deleted. A store is never attached again, so a check after reads covers all of them.
    ///
    /// - Throws: 134070 if the store was removed.
    func checkAttached(_ store: NSPersistentStore) throws {
        if persistentStores.contains(store) { return }
        throw SyncErrors.make(
            134070,
            "The store '\(store.url?.path ?? store.identifier ?? "")' was removed from its coordinator, and synchronises no more. Add it again, and make a new Sync with it."
        )
    }
}
