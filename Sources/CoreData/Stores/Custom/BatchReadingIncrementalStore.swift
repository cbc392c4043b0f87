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
/// Without it ``NSIncrementalStore/newValuesForObject(with:with:)`` is called once for each object that is read. With
/// it, reading one object of a fetch or of a relationship reads up to a hundred objects that came with it. The same
/// holds for `returnsObjectsAsFaults = false`, prefetching, batches of a fetch, and the check for conflicts before a
/// save. ``NSManagedObjectContext/readsSiblingsOfFaults`` turns the first of these off for a context. A single object
/// is still read with `newValuesForObject(with:with:)`.
///
/// Not in Apple's API.
public protocol BatchReadingIncrementalStore: NSIncrementalStore {
    /// Returns the values of objects: a node for each, in any order. An ID without a node belongs to no object (any
    /// more).
    ///
    /// - Throws: an error if none can be read: then all stay unchanged.
    func newValuesForObjects(
        with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSIncrementalStoreNode]

    /// Returns the values of a relationship of many objects: for each ID, in the same order, the result of
    /// ``NSIncrementalStore/newValue(forRelationship:forObjectWith:with:)``.
    ///
    /// Called for to-ones that nodes omit, when one of them is read or all are prefetched, and for to-manys that are
    /// prefetched. The default returns nil: then `newValue` is called for each object whose relationship is needed.
    ///
    /// - Throws: an error if the relationship cannot be read of any object.
    func newValues(
        forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
        with context: NSManagedObjectContext?
    ) throws -> [Any]?
}

extension BatchReadingIncrementalStore {
    /// Returns nil: the store reads the relationship object by object.
    public func newValues(
        forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
        with context: NSManagedObjectContext?
    ) throws -> [Any]? { nil }
}
