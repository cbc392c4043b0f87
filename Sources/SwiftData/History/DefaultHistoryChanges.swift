/// The insertion of a model, in a store of this module.
public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert, Hashable {
    public typealias TransactionIdentifier = Int64
    public typealias ChangeIdentifier = Int64

    public let changeIdentifier: Int64
    public let transactionIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
}

/// The update of a model, in a store of this module.
///
/// Differs from Apple: an inherited property has the key path that its own class has.
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate, Hashable {
    public typealias TransactionIdentifier = Int64
    public typealias ChangeIdentifier = Int64
    public typealias PropertyUpdate = PartialKeyPath<Model> & Sendable

    public let changeIdentifier: Int64
    public let transactionIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
    public let updatedAttributes: [any PartialKeyPath<Model> & Sendable]

    public static func == (one: Self, other: Self) -> Bool {
        one.changeIdentifier == other.changeIdentifier
            && one.changedPersistentIdentifier == other.changedPersistentIdentifier
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(changeIdentifier)
        hasher.combine(changedPersistentIdentifier)
    }
}

/// The deletion of a model, in a store of this module.
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete, Hashable {
    public typealias TransactionIdentifier = Int64
    public typealias ChangeIdentifier = Int64

    public let changeIdentifier: Int64
    public let transactionIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
    public let tombstone: HistoryTombstone<Model>

    public static func == (one: Self, other: Self) -> Bool {
        one.changeIdentifier == other.changeIdentifier
            && one.changedPersistentIdentifier == other.changedPersistentIdentifier
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(changeIdentifier)
        hasher.combine(changedPersistentIdentifier)
    }
}
