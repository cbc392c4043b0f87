import Foundation

/// An object of a coordinator's store: what contexts of that coordinator need of its ID.
struct StoredKey: Sendable {
    let store: Int32
    let root: Int32
    let primaryKey: Int64

    init(_ object: NSManagedObject) {
        store = object.storeIndex
        root = Int32(truncatingIfNeeded: object.home.root)
        primaryKey = object.primaryKey
    }
}

/// The IDs in a notification or dictionary that tells of a save, as objects, IDs or URIs.
struct SavedIDs: Sendable {
    var inserted: [NSManagedObjectID] = []
    var updated: [NSManagedObjectID] = []
    var deleted: [NSManagedObjectID] = []
    /// Of updated objects that are not among the IDs, in the order of stores, roots and keys: no ID was made for them.
    var updatedKeys: [StoredKey] = []
    /// Whether everything is to be read anew.
    var invalidatesAll = false

    init(_ notification: Notification, in coordinator: NSPersistentStoreCoordinator?) {
        var userInfo = notification.userInfo ?? [:]
        let keys = Self.updatedKeys(userInfo, of: notification.object as? NSManagedObjectContext, in: coordinator)
        if keys != nil { userInfo[NSUpdatedObjectsKey] = nil }
        self.init(userInfo, in: coordinator)
        updatedKeys = keys ?? []
    }

    /// The keys of what a context of the coordinator saved to its stores; `nil` for what IDs have to be asked of.
    private static func updatedKeys(
        _ userInfo: [AnyHashable: Any], of saving: NSManagedObjectContext?,
        in coordinator: NSPersistentStoreCoordinator?
    ) -> [StoredKey]? {
        guard let saving, saving.keptParent == nil, saving.coordinator != nil, saving.coordinator === coordinator,
            userInfo[NSUpdatedObjectIDsKey] == nil,
            let objects = userInfo[NSUpdatedObjectsKey] as? Set<NSManagedObject>
        else { return nil }
        var keys: [StoredKey] = []
        keys.reserveCapacity(objects.count)
        for object in objects {
            guard object.home.registryAddress == saving.registryAddress, !object.hasTemporaryKey else { return nil }
            keys.append(StoredKey(object))
        }
        keys.sort { ($0.store, $0.root, $0.primaryKey) < ($1.store, $1.root, $1.primaryKey) }
        return keys
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
