import Foundation

/// The IDs in a notification or dictionary that tells of a save, as objects, IDs or URIs.
struct SavedIDs: Sendable {
    var inserted: [NSManagedObjectID] = []
    var updated: [NSManagedObjectID] = []
    var deleted: [NSManagedObjectID] = []
    /// Whether everything is to be read anew.
    var invalidatesAll = false

    init(_ notification: Notification, in coordinator: NSPersistentStoreCoordinator?) {
        self.init(notification.userInfo ?? [:], in: coordinator)
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
