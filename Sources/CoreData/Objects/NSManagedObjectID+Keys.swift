import CoreDataPrimitives

// For code that must remember millions of objects: a key takes eight bytes, while an ID is an object that keeps other
// objects alive.
extension NSManagedObjectID {
    /// The number of the row; negative before the object is saved.
    package final var key: Int64 { primaryKey }
}

extension NSPersistentStoreCoordinator {
    /// Returns the ID of the row with that key; `nil` without a store.
    package final func objectID(
        of entity: NSEntityDescription, key: Int64, in store: NSPersistentStore
    )
        -> NSManagedObjectID?
    {
        guard let entity = runtime.entity(named: entity.name ?? ""),
            let attached = attachedStores.first(where: { $0.identifier == store.identifier })
        else { return nil }
        return NSManagedObjectID(runtime: entity, primaryKey: key, store: attached)
    }
}
