import Foundation

/// One save in a store's history: its author, its time and its changes.
///
///     for transaction in try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()) {
///         for change in transaction.changes { print(change.changedPersistentIdentifier) }
///     }
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
    associatedtype TokenType: Comparable, Hashable, Identifiable, Sendable
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable

    /// When the transaction was committed.
    var timestamp: Date { get }
    /// The models that the transaction inserted, updated and deleted, in the order in which they were written.
    var changes: [HistoryChange] { get }
    /// The position right behind the transaction.
    var token: TokenType { get }
    /// The transaction's number in its store.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The identifier of the store.
    var storeIdentifier: String { get }
    /// The `author` of the context that saved.
    var author: String? { get }
}

/// A position in the history of some stores. Encode it to go on from there later.
public protocol HistoryToken: Comparable, Codable, Hashable, Identifiable, Sendable {
    associatedtype TokenType: Codable, Hashable, Sendable

    /// The value of the position.
    var tokenValue: TokenType? { get }
    /// The identifier of the position's store; empty for a type that does not know it.
    var storeIdentifier: String { get }
}

extension HistoryToken {
    /// Empty: the type does not say it.
    public var storeIdentifier: String { "" }
}

/// A store that keeps a history of its transactions.
public protocol HistoryProviding {
    associatedtype HistoryType: HistoryTransaction

    /// The type of the store's transactions.
    static var historyType: HistoryType.Type { get }
    /// The transactions that a descriptor asks for.
    func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
    /// Deletes the transactions that a descriptor asks for.
    func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}
