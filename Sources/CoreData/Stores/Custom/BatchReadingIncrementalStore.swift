import Foundation

/// An incremental store that reads many objects as fast as one: a web service, a database of another kind.
///
///     extension ServiceStore: BatchReadingIncrementalStore {
///         func newValuesForObjects(
///             with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
///         ) throws -> [NSIncrementalStoreNode] {
///             try service.records(objectIDs.map(referenceObject(for:))).map(node)      // GET /books?ids=1,2,3
///         }
///     }
///
/// Without it ``NSIncrementalStore/newValuesForObject(with:with:)`` is called once for each object, when something of the object is
/// read. With it reading one object of a fetch, or of a relationship, reads those that came with it, up to a hundred; so do
/// `returnsObjectsAsFaults = false`, prefetching, batches of a fetch and the look for conflicts before a save.
/// ``NSManagedObjectContext/readsSiblingsOfFaults`` turns the first of these off for a context. One object alone is
/// still asked for by `newValuesForObject(with:with:)`.
///
/// Not in Apple's API.
public protocol BatchReadingIncrementalStore: NSIncrementalStore {
    /// The values of objects: a node for each, in any order. An ID without a node is one of no object (any more).
    ///
    /// - Throws: where none can be read: then all stay as they were.
    func newValuesForObjects(
        with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSIncrementalStoreNode]

    /// The values of a relationship of many objects: for each ID, in the same order, what
    /// ``NSIncrementalStore/newValue(forRelationship:forObjectWith:with:)`` returns for it.
    ///
    /// Called for to-ones that nodes leave out, when one of them is read or all are prefetched, and for to-manys that are prefetched. The
    /// default returns nil: then `newValue` is called for each object whose relationship is needed.
    ///
    /// - Throws: if the relationship cannot be read of any object.
    func newValues(
        forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
        with context: NSManagedObjectContext?
    ) throws -> [Any]?
}

extension BatchReadingIncrementalStore {
    /// Returns nil: the store tells the relationship of one object after another.
    public func newValues(
        forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
        with context: NSManagedObjectContext?
    ) throws -> [Any]? { nil }
}
