import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// What became of an object.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
}

/// One object that a transaction inserted, updated or deleted.
///
///     for change in transaction.changes ?? [] where change.changeType == .delete {
///         index.remove(change.tombstone?["identifier"] as? UUID)
///     }
open class NSPersistentHistoryChange: NSObject, NSCopying, @unchecked Sendable {
    // Safe because everything is set before other code has the change.

    /// The change's number in its store, which grows.
    public let changeID: Int64
    /// The object; of one that was deleted only the ID is left.
    public let changedObjectID: NSManagedObjectID
    /// Whether the object was inserted, updated or deleted.
    public let changeType: NSPersistentHistoryChangeType
    /// The preserved values of a deleted object: the attributes with `preservesValueInHistoryOnDeletion` that had a
    /// value, by name. A composite attribute has a dictionary of the preserved elements. `nil` unless the object was
    /// deleted and its entity has such attributes.
    public let tombstone: [AnyHashable: Any]?
    /// The properties that an update changed, relationships too; `nil` unless the object was updated.
    public let updatedProperties: Set<NSPropertyDescription>?

    /// The transaction that made the change.
    open var transaction: NSPersistentHistoryTransaction? { heldTransaction ?? ownTransaction }
    /// The transaction that holds the change.
    weak var ownTransaction: NSPersistentHistoryTransaction?
    /// The transaction of a change that was fetched by itself.
    var heldTransaction: NSPersistentHistoryTransaction?

    init(
        changeID: Int64, changedObjectID: NSManagedObjectID, changeType: NSPersistentHistoryChangeType,
        tombstone: [AnyHashable: Any]?, updatedProperties: Set<NSPropertyDescription>?
    ) {
        self.changeID = changeID
        self.changedObjectID = changedObjectID
        self.changeType = changeType
        self.tombstone = tombstone
        self.updatedProperties = updatedProperties
    }

    /// Creates a placeholder: a change of no store.
    public convenience override init() {
        self.init(
            changeID: 0, changedObjectID: NSManagedObjectID(), changeType: .insert, tombstone: nil,
            updatedProperties: nil)
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// The entity `CHANGE`, for a request that selects changes; see ``NSPersistentHistoryChangeRequest``.
    ///
    /// Its attributes: `changeID`, `changeType`, `changedEntity`, `changedObjectID`. Predicates may also ask for
    /// `transaction` and its attributes, `tombstone` and `updatedProperties`.
    open class var entityDescription: NSEntityDescription? { HistoryModel.change }

    /// As ``entityDescription``; `nil` for a context without a coordinator.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        context.persistentStoreCoordinator == nil ? nil : HistoryModel.change
    }

    /// A new request for changes, to be given a predicate and to be put into a history request.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { HistoryModel.request(HistoryModel.change) }

    open override var description: String {
        "<NSPersistentHistoryChange: \(changeID), \(changeType) of \(changedObjectID)>"
    }
}

extension NSPersistentHistoryChange: NSFetchRequestResult {}

extension NSPersistentHistoryChange: PredicateObject {
    package func predicateOperand(forKey key: String) throws -> Operand {
        switch key {
        case "self": .object(self)
        case "changeID": .value(.integer(changeID))
        case "changeType": .value(.integer(Int64(changeType.rawValue)))
        case "changedObjectID": .object(changedObjectID)
        case "changedEntity": .object(changedObjectID.entity)
        case "transaction": transaction.map { .object($0) } ?? .null
        case "tombstone": OperandBridging.operand(from: tombstone)
        case "updatedProperties", "columns":
            .collection((updatedProperties ?? []).map { .value(.string($0.name)) }, isOrdered: false)
        // Keys of the transaction, which most requests for a change use.
        case "token", "author", "contextName", "bundleID", "processID", "timestamp", "transactionNumber", "storeID":
            try transaction?.predicateOperand(forKey: key) ?? .null
        default:
            throw PredicateFailure(
                .evaluation,
                Diagnostic(
                    .error,
                    "a history change has no key '\(key)'; it has: changeID, changeType, changedEntity, changedObjectID, "
                        + "tombstone, transaction, updatedProperties"), subexpression: key)
        }
    }

    package func isSamePredicateObject(as other: any PredicateObject) -> Bool { self === other }
    package var predicateHash: Int { hash }
    package var predicateDescription: String { description }
    package func predicateRowKey(inStore identifier: String) -> RowKey? { nil }
}
