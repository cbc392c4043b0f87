import Foundation
import Synchronization

/// A notification of contexts, and whether the program has ever used its name.
///
/// Collecting the objects and IDs of a save costs as much as the save itself, and a `NotificationCenter` does not say
/// whether it has observers. An observer needs the notification's name. Therefore the notification is posted only after
/// the program has read the name for the first time.
final class ContextNotification: Sendable {
    static let willSave = ContextNotification("NSManagingContextWillSaveChangesNotification")
    static let didSave = ContextNotification("NSManagingContextDidSaveChangesNotification")
    static let objectsDidChange = ContextNotification("NSObjectsChangedInManagingContextNotification")
    static let didSaveObjectIDs = ContextNotification("NSManagedObjectContextDidSaveObjectIDsNotification")
    static let didMergeObjectIDs = ContextNotification("NSManagedObjectContextDidMergeChangesObjectIDsNotification")

    let name: NSNotification.Name
    private let wanted = Atomic<Bool>(false)

    private init(_ name: String) { self.name = NSNotification.Name(name) }

    var isWanted: Bool { wanted.load(ordering: .relaxed) }

    /// The name, for a caller that may observe it.
    var wantedName: NSNotification.Name {
        wanted.store(true, ordering: .relaxed)
        return name
    }
}

extension NSNotification.Name {
    /// A context is about to save; object: the context.
    public static var NSManagedObjectContextWillSave: NSNotification.Name { ContextNotification.willSave.wantedName }
    /// A context saved; user info: inserted, updated and deleted objects.
    ///
    /// Differs from Apple: posted only after the program has read this name. An observer of all names, or of a name
    /// that is spelled as a string, must read it once, too. The same holds for the other notifications of a context.
    public static var NSManagedObjectContextDidSave: NSNotification.Name { ContextNotification.didSave.wantedName }
    /// Objects of a context changed; user info: inserted, updated, deleted, refreshed and invalidated objects.
    public static var NSManagedObjectContextObjectsDidChange: NSNotification.Name {
        ContextNotification.objectsDidChange.wantedName
    }
    /// A context saved; user info: IDs of inserted, updated and deleted objects.
    public static var NSManagedObjectContextDidSaveObjectIDs: NSNotification.Name {
        ContextNotification.didSaveObjectIDs.wantedName
    }
    /// A context merged changes; user info: IDs.
    public static var NSManagedObjectContextDidMergeChangesObjectIDs: NSNotification.Name {
        ContextNotification.didMergeObjectIDs.wantedName
    }
}

extension NSManagedObjectContext {
    /// Posted before a save; the context may still be changed.
    public static var willSaveObjectsNotification: NSNotification.Name { .NSManagedObjectContextWillSave }
    /// Posted after a save, with the objects that were inserted, updated and deleted.
    public static var didSaveObjectsNotification: NSNotification.Name { .NSManagedObjectContextDidSave }
    /// Posted when changes have been processed, with the objects that changed.
    public static var didChangeObjectsNotification: NSNotification.Name { .NSManagedObjectContextObjectsDidChange }
    /// Posted after a save, with the IDs of what changed: it may be handed to other queues.
    public static var didSaveObjectIDsNotification: NSNotification.Name { .NSManagedObjectContextDidSaveObjectIDs }
    /// Posted after a save of another context was merged, with the IDs of what changed.
    public static var didMergeChangesObjectIDsNotification: NSNotification.Name {
        .NSManagedObjectContextDidMergeChangesObjectIDs
    }

    /// The keys of a context's notifications.
    ///
    ///     let inserted = note.userInfo?[NSManagedObjectContext.NotificationKey.insertedObjects.rawValue]
    public enum NotificationKey: String, Hashable, Sendable {
        case queryGeneration = "newQueryGeneration"
        case invalidatedAllObjects = "invalidatedAll"
        case insertedObjects = "inserted"
        case updatedObjects = "updated"
        case deletedObjects = "deleted"
        case refreshedObjects = "refreshed"
        case invalidatedObjects = "invalidated"
        case insertedObjectIDs = "inserted_objectIDs"
        case updatedObjectIDs = "updated_objectIDs"
        case deletedObjectIDs = "deleted_objectIDs"
        case refreshedObjectIDs = "refreshed_objectIDs"
        case invalidatedObjectIDs = "invalidated_objectIDs"
    }
}

/// `Set<NSManagedObject>`: objects that were inserted.
public let NSInsertedObjectsKey = NSManagedObjectContext.NotificationKey.insertedObjects.rawValue
/// `Set<NSManagedObject>`: objects that changed.
public let NSUpdatedObjectsKey = NSManagedObjectContext.NotificationKey.updatedObjects.rawValue
/// `Set<NSManagedObject>`: objects that were deleted.
public let NSDeletedObjectsKey = NSManagedObjectContext.NotificationKey.deletedObjects.rawValue
/// `Set<NSManagedObject>`: objects whose values were read again or merged.
public let NSRefreshedObjectsKey = NSManagedObjectContext.NotificationKey.refreshedObjects.rawValue
/// `Set<NSManagedObject>`: objects that are no longer of use.
public let NSInvalidatedObjectsKey = NSManagedObjectContext.NotificationKey.invalidatedObjects.rawValue
/// `[NSManagedObjectID]`: every object of a context that was reset.
public let NSInvalidatedAllObjectsKey = NSManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue
/// `Set<NSManagedObjectID>`
public let NSInsertedObjectIDsKey = NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue
/// `Set<NSManagedObjectID>`
public let NSUpdatedObjectIDsKey = NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue
/// `Set<NSManagedObjectID>`
public let NSDeletedObjectIDsKey = NSManagedObjectContext.NotificationKey.deletedObjectIDs.rawValue
/// `Set<NSManagedObjectID>`
public let NSRefreshedObjectIDsKey = NSManagedObjectContext.NotificationKey.refreshedObjectIDs.rawValue
/// `Set<NSManagedObjectID>`
public let NSInvalidatedObjectIDsKey = NSManagedObjectContext.NotificationKey.invalidatedObjectIDs.rawValue
/// `NSQueryGenerationToken`: the generation after a save, of a context that is pinned to one.
///
/// Differs from Apple: not of other contexts, for which a generation would have to be made.
public let NSManagedObjectContextQueryGenerationKey =
    NSManagedObjectContext.NotificationKey.queryGeneration.rawValue
