import Foundation

/// The kind of result of an ``NSBatchUpdateRequest``.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// A `Bool`: whether it was done.
    case statusOnlyResultType = 0
    /// `[NSManagedObjectID]`: the objects that were updated.
    case updatedObjectIDsResultType = 1
    /// An `Int`: how many were updated.
    case updatedObjectsCountResultType = 2
}

/// Sets properties of many objects directly in a store: reads no objects, validates nothing, and notifies no context.
///
///     let request = NSBatchUpdateRequest(entityName: "Item")
///     request.predicate = NSPredicate(format: "listed == YES")
///     request.propertiesToUpdate = ["listed": false, "price": NSExpression(format: "price * 1.1")]
///     try context.execute(request)
///     // UPDATE ZITEM AS t0 SET ZLISTED = ?, ZPRICE = t0.ZPRICE * ?, Z_OPT = IFNULL(t0.Z_OPT, 0) + 1 WHERE t0.ZLISTED = ?
///
/// The versions of the rows increase. A context that changed one of the objects meanwhile therefore finds a conflict
/// when it saves. Contexts show the new values after
/// ``NSManagedObjectContext/mergeChanges(fromRemoteContextSave:into:)`` with the IDs.
///
/// Supports the same stores as an ``NSBatchInsertRequest``.
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
    /// New values by the names of properties or by `NSPropertyDescription`s: constants, `NSNull` for nil, or an
    /// `NSExpression` of the object's own attributes. A to-one relationship takes an `NSManagedObjectID`.
    open var propertiesToUpdate: [AnyHashable: Any]?
    /// The kind of result.
    open var resultType: NSBatchUpdateRequestResultType = .statusOnlyResultType
    /// Contexts into which the updates are merged afterwards. Apple's framework has no such property.
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

/// The result of an ``NSBatchUpdateRequest``.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// The result, of the type that ``NSBatchUpdateRequestResultType`` says.
    public let result: Any?
    /// The requested kind of result.
    public let resultType: NSBatchUpdateRequestResultType

    /// Creates a placeholder: an empty result.
    public convenience override init() { self.init(nil, .statusOnlyResultType) }

    init(_ result: Any?, _ resultType: NSBatchUpdateRequestResultType) {
        (self.result, self.resultType) = (result, resultType)
    }
}
