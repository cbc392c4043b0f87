import Foundation

/// The kind of result of an ``NSBatchDeleteRequest``.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// A `Bool`: whether it was done.
    case resultTypeStatusOnly = 0
    /// `[NSManagedObjectID]`: the objects that were deleted, those included that went with others by a delete rule.
    case resultTypeObjectIDs = 1
    /// An `Int`: how many were deleted.
    case resultTypeCount = 2
}

/// Deletes many objects directly in a store: reads none, does not call `prepareForDeletion`, and notifies no context.
///
///     let old = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
///     old.predicate = NSPredicate(format: "listed == NO")
///     try context.execute(NSBatchDeleteRequest(fetchRequest: old))
///     // DELETE FROM ZITEM AS t0 WHERE t0.ZLISTED = ?
///
/// Delete rules apply: references are set to nil, and cascades delete further objects. A Deny rule makes the request
/// fail with 1600; then nothing is deleted. Limits of relationships and the class's own validation are not checked.
///
/// Supports the same stores as an ``NSBatchInsertRequest``.
///
/// Differs from Apple: a request for objects of one class is no `NSFetchRequest<any NSFetchRequestResult>`; convert it
/// with `NSFetchRequest(books)`.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    /// Which objects are deleted; limit and offset count.
    public final let fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    let objectIDs: [NSManagedObjectID]?
    /// The kind of result.
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly
    /// Contexts into which the deletions are merged afterwards. Apple's framework has no such property.
    public final var mergesInto: [NSManagedObjectContext] = []

    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    /// Makes a request that deletes nothing.
    public convenience override init() { self.init(objectIDs: []) }

    /// Makes a request that deletes what another finds; it is copied.
    public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
        fetchRequest = NSFetchRequest(fetch)
        objectIDs = nil
        super.init()
        affectedStores = fetch.affectedStores
    }

    /// Makes a request that deletes objects of one entity, or of entities that inherit from one another.
    public init(objectIDs objects: [NSManagedObjectID]) {
        fetchRequest = NSFetchRequest()
        objectIDs = objects
        super.init()
        guard let first = objects.first else { return }
        fetchRequest.entity = first.entity
        fetchRequest.predicate = NSPredicate(format: "SELF IN %@", objects)
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy =
            objectIDs.map { NSBatchDeleteRequest(objectIDs: $0) } ?? NSBatchDeleteRequest(fetchRequest: fetchRequest)
        copy.resultType = resultType
        copy.mergesInto = mergesInto
        copy.affectedStores = affectedStores
        return copy
    }
}

/// The result of an ``NSBatchDeleteRequest``.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// The result, of the type that ``NSBatchDeleteRequestResultType`` says.
    public let result: Any?
    /// The requested kind of result.
    public let resultType: NSBatchDeleteRequestResultType

    /// Creates a placeholder: an empty result.
    public convenience override init() { self.init(nil, .resultTypeStatusOnly) }

    init(_ result: Any?, _ resultType: NSBatchDeleteRequestResultType) {
        (self.result, self.resultType) = (result, resultType)
    }
}
