import Foundation

/// An object of a coordinator's store: what contexts of that coordinator need of its ID.
struct StoredKey: Sendable {
    let store: Int32
    let root: Int32
    let entity: Int32
    let primaryKey: Int64

    init(_ object: NSManagedObject) {
        store = object.storeIndex
        root = Int32(truncatingIfNeeded: object.home.root)
        entity = Int32(truncatingIfNeeded: object.runtime.ordinal)
        primaryKey = object.primaryKey
    }
}

/// The IDs in a notification or dictionary that describes a save, given as objects, IDs or URIs.
struct SavedIDs: Sendable {
    var inserted: [NSManagedObjectID] = []
    var updated: [NSManagedObjectID] = []
    var deleted: [NSManagedObjectID] = []
    /// Of updated objects that are not among the IDs: no ID was made for them.
    var updatedKeys: [StoredKey] = []
    /// New objects that left the saving context before a save: its children may have them.
    var discardedInsertions: [NSManagedObjectID] = []
    /// Whether everything is to be read anew.
    var invalidatesAll = false
    /// Whether the updated objects may lack those that referred to deleted ones: the sender was not a context that
    /// saves.
    var mayLackUpdates = false

    /// The key under which a context's own notifications contain the value: a merge elsewhere then need not use the
    /// context's objects.
    static let userInfoKey = "savedIDs"

    init(discardedInsertions: [NSManagedObjectID]) { self.discardedInsertions = discardedInsertions }

    /// Collects what a context saved; call it on its queue.
    init(_ saved: NSManagedObjectContext.SavedObjects) {
        inserted = saved.inserted.map(\.objectID)
        deleted = saved.deleted.map(\.objectID)
        let objects = saved.told
        if objects.allHeldSatisfy({ !$0.hasTemporaryKey }) {
            updatedKeys.reserveCapacity(objects.count)
            objects.forEachHeld { updatedKeys.append(StoredKey($0)) }
        } else {
            updated = objects.map(\.objectID)
        }
    }

    init(_ notification: Notification, in coordinator: NSPersistentStoreCoordinator?) {
        let userInfo = notification.userInfo ?? [:]
        if let saved = userInfo[Self.userInfoKey] as? SavedIDs,
            let saving = notification.object as? NSManagedObjectContext, saving.coordinator === coordinator,
            saved.isWhole(userInfo)
        {
            self = saved
        } else {
            self.init(userInfo, in: coordinator)
            mayLackUpdates = !(notification.object is NSManagedObjectContext)
        }
    }

    /// The IDs of all that was updated, made for the coordinator's stores.
    func updatedIDs(in coordinator: NSPersistentStoreCoordinator?) -> [NSManagedObjectID] {
        guard let coordinator, !updatedKeys.isEmpty else { return updated }
        let entities = coordinator.runtime.entities
        let stores = coordinator.attachedStores
        return updated
            + updatedKeys.compactMap { key in
                stores.first { $0.index == key.store }.map {
                    NSManagedObjectID(runtime: entities[Int(key.entity)], primaryKey: key.primaryKey, store: $0)
                }
            }
    }

    /// Returns whether the notification still contains all objects that were posted.
    private func isWhole(_ userInfo: [AnyHashable: Any]) -> Bool {
        func count(_ key: String) -> Int? { (userInfo[key] as? Set<NSManagedObject>)?.count }
        return count(NSInsertedObjectsKey) == inserted.count && count(NSDeletedObjectsKey) == deleted.count
            && count(NSUpdatedObjectsKey) == updated.count + updatedKeys.count
    }

    init(_ userInfo: [AnyHashable: Any], in coordinator: NSPersistentStoreCoordinator?) {
        func ids(_ objects: String, _ ids: String) -> [NSManagedObjectID] {
            [userInfo[ids], userInfo[objects]].lazy.compactMap { $0 }.map { Self.ids($0, coordinator) }
                .first { !$0.isEmpty } ?? []
        }
        inserted = ids(NSInsertedObjectsKey, NSInsertedObjectIDsKey)
        updated =
            ids(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey) + ids(NSRefreshedObjectsKey, NSRefreshedObjectIDsKey)
            + ids(NSInvalidatedObjectsKey, NSInvalidatedObjectIDsKey)
        deleted = ids(NSDeletedObjectsKey, NSDeletedObjectIDsKey)
        mayLackUpdates = true
        invalidatesAll = userInfo[NSInvalidatedAllObjectsKey] != nil
    }

    private static func ids(_ value: Any, _ coordinator: NSPersistentStoreCoordinator?) -> [NSManagedObjectID] {
        switch value {
        case let ids as Set<NSManagedObjectID>: Array(ids)
        case let objects as Set<NSManagedObject>: objects.map(\.objectID)
        case let ids as [NSManagedObjectID]: ids
        case let urls as [URL]: urls.compactMap { coordinator?.managedObjectID(forURIRepresentation: $0) }
        case let urls as Set<URL>: urls.compactMap { coordinator?.managedObjectID(forURIRepresentation: $0) }
        case let set as NSSet: set.allObjects.flatMap { element($0, coordinator) }
        case let elements as [Any]: elements.flatMap { element($0, coordinator) }
        default: []
        }
    }

    private static func element(_ any: Any, _ coordinator: NSPersistentStoreCoordinator?) -> [NSManagedObjectID] {
        switch any {
        case let id as NSManagedObjectID: [id]
        case let object as NSManagedObject: [object.objectID]
        case let url as URL: (coordinator?.managedObjectID(forURIRepresentation: url)).map { [$0] } ?? []
        case let url as NSURL:
            (coordinator?.managedObjectID(forURIRepresentation: url as URL)).map { [$0] } ?? []
        default: []
        }
    }
}
