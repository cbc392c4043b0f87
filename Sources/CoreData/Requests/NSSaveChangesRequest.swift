import Foundation

/// The changes that a context asks a store of your own class to save, in ``NSIncrementalStore/execute(_:with:)``.
///
///     guard let save = request as? NSSaveChangesRequest else { … }
///     for object in save.insertedObjects ?? [] { write(object) }
///
/// All sets are nil if only the store's metadata must be written.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    /// Objects that are new; they have their permanent IDs.
    public let insertedObjects: Set<NSManagedObject>?
    /// Objects that changed.
    public let updatedObjects: Set<NSManagedObject>?
    /// Objects that are deleted; their values can still be read.
    public let deletedObjects: Set<NSManagedObject>?
    /// Objects that must be as the context knows them, though they do not change; see
    /// `NSManagedObjectContext.detectConflicts(for:)`.
    public let lockedObjects: Set<NSManagedObject>?

    /// Makes a request of these objects.
    public init(
        inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
    ) {
        self.insertedObjects = insertedObjects
        self.updatedObjects = updatedObjects
        self.deletedObjects = deletedObjects
        self.lockedObjects = lockedObjects
        super.init()
    }

    /// Creates a placeholder: a request without objects.
    public convenience override init() { self.init(inserted: nil, updated: nil, deleted: nil, locked: nil) }

    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

    /// A request of the same objects.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSSaveChangesRequest(
            inserted: insertedObjects, updated: updatedObjects, deleted: deletedObjects, locked: lockedObjects)
        copy.affectedStores = affectedStores
        return copy
    }
}
