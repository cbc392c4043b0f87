import CoreDataPrimitives

// For who has to remember millions of objects: a key is eight bytes, an ID is an object that keeps others alive.
extension NSManagedObjectID {
    /// The number of the row; negative before the object is saved.
    package final var key: Int64 { primaryKey }
}

extension NSPersistentStoreCoordinator {
    /// The ID of the row with that key; `nil` where there is no store.
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
