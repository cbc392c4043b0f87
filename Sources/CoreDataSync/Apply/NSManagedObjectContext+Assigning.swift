import CoreData

extension NSManagedObjectContext {
    /// Assigns a new object to the store that synchronises: ``assign(_:to:)`` takes attached stores only.
    ///
    /// - Throws: 134070 if the store was removed from its coordinator.
    func assign(_ object: NSManagedObject, toSynchronised store: NSPersistentStore) throws {
        try persistentStoreCoordinator?.checkAttached(store)
        assign(object, to: store)
    }
}
