/// One model that a transaction inserted, updated or deleted.
///
///     switch change {
///     case .insert(let insert as DefaultHistoryInsert<Trip>): index.add(insert.changedPersistentIdentifier)
///     case .delete(let delete as DefaultHistoryDelete<Trip>): index.remove(delete.tombstone[\.code])
///     default: break
///     }
public enum HistoryChange: Sendable {
    case insert(any HistoryInsert)
    case update(any HistoryUpdate)
    case delete(any HistoryDelete)

    /// The identifier of the model.
    public var changedPersistentIdentifier: PersistentIdentifier {
        switch self {
        case .insert(let change): change.changedPersistentIdentifier
        case .update(let change): change.changedPersistentIdentifier
        case .delete(let change): change.changedPersistentIdentifier
        }
    }
}

/// The insertion of a model.
public protocol HistoryInsert<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable

    /// The change's number in its store.
    var changeIdentifier: ChangeIdentifier { get }
    /// The number of the transaction that made the change.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The identifier of the model.
    var changedPersistentIdentifier: PersistentIdentifier { get }
}

/// The update of a model.
public protocol HistoryUpdate<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
    /// The key path of a property that was updated.
    typealias PropertyUpdate = PartialKeyPath<Model> & Sendable

    /// The change's number in its store.
    var changeIdentifier: ChangeIdentifier { get }
    /// The number of the transaction that made the change.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The identifier of the model.
    var changedPersistentIdentifier: PersistentIdentifier { get }
    /// The properties that were updated, relationships too. The history has no former values.
    var updatedAttributes: [any PartialKeyPath<Model> & Sendable] { get }
}

/// The deletion of a model.
public protocol HistoryDelete<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable

    /// The change's number in its store.
    var changeIdentifier: ChangeIdentifier { get }
    /// The number of the transaction that made the change.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The identifier that the model had.
    var changedPersistentIdentifier: PersistentIdentifier { get }
    /// The values that the deletion kept.
    var tombstone: HistoryTombstone<Model> { get }
}
