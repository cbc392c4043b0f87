import Foundation

/// What an ``NSBatchUpdateRequest`` returns.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// A `Bool`: whether it was done.
    case statusOnlyResultType = 0
    /// `[NSManagedObjectID]`: the objects that were updated.
    case updatedObjectIDsResultType = 1
    /// An `Int`: how many were updated.
    case updatedObjectsCountResultType = 2
}

/// Sets properties of many objects straight in a store: no object is read, nothing is validated, no context is told.
///
///     let request = NSBatchUpdateRequest(entityName: "Item")
///     request.predicate = NSPredicate(format: "listed == YES")
///     request.propertiesToUpdate = ["listed": false, "price": NSExpression(format: "price * 1.1")]
///     try context.execute(request)
///     // UPDATE ZITEM AS t0 SET ZLISTED = ?, ZPRICE = t0.ZPRICE * ?, Z_OPT = IFNULL(t0.Z_OPT, 0) + 1 WHERE t0.ZLISTED = ?
///
/// The versions of the rows grow, so that a context that changed one of the objects meanwhile finds a conflict when it saves.
/// Contexts show the new values after ``NSManagedObjectContext/mergeChanges(fromRemoteContextSave:into:)`` with the IDs.
///
/// Takes the same stores as an ``NSBatchInsertRequest``.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    /// The entity's name.
    public final let entityName: String
    private let givenEntity: NSEntityDescription?
    /// The entity.
    ///
    /// - Precondition: the request was made with it.
    public final var entity: NSEntityDescription {
        guard let givenEntity else {
            preconditionFailure("The request was made with the entity's name, which the context looks up in its model.")
        }
        return givenEntity
    }
    /// Which objects are updated; all for `nil`.
    open var predicate: NSPredicate?
    /// Whether objects of subentities are updated, too.
    open var includesSubentities = true
    /// New values by the names of properties or by `NSPropertyDescription`s: constants, `NSNull` for nil, or an `NSExpression`
    /// of the object's own attributes. A to-one relationship takes an `NSManagedObjectID`.
    open var propertiesToUpdate: [AnyHashable: Any]?
    /// What the request returns.
    open var resultType: NSBatchUpdateRequestResultType = .statusOnlyResultType
    /// Contexts that are told of what was updated, when it is done. Apple's framework has no such property.
    public final var mergesInto: [NSManagedObjectContext] = []

    open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

    /// Makes a request of no entity, which cannot be executed.
    public convenience override init() { self.init(entityName: "") }

    /// An update of the entity with that name.
    public init(entityName: String) { (self.entityName, givenEntity) = (entityName, nil) }

    /// An update of the entity.
    public init(entity: NSEntityDescription) { (entityName, givenEntity) = (entity.name ?? "", entity) }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy =
            givenEntity.map { NSBatchUpdateRequest(entity: $0) } ?? NSBatchUpdateRequest(entityName: entityName)
        copy.predicate = predicate
        copy.includesSubentities = includesSubentities
        copy.propertiesToUpdate = propertiesToUpdate
        copy.resultType = resultType
        copy.mergesInto = mergesInto
        copy.affectedStores = affectedStores
        return copy
    }
}

/// What an ``NSBatchUpdateRequest`` did.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// See ``NSBatchUpdateRequestResultType``: what it is of.
    public let result: Any?
    /// What the request was to return.
    public let resultType: NSBatchUpdateRequestResultType

    /// Makes a stand-in, where one is wanted: a result of nothing.
    public convenience override init() { self.init(nil, .statusOnlyResultType) }

    init(_ result: Any?, _ resultType: NSBatchUpdateRequestResultType) {
        (self.result, self.resultType) = (result, resultType)
    }
}
