import Foundation

/// A transaction of a store of this module.
///
/// Two are equal if they are the same transaction of the same store.
public struct DefaultHistoryTransaction: HistoryTransaction {
    public typealias TransactionIdentifier = Int64
    public typealias TokenType = DefaultHistoryToken

    /// The transaction's number in its store.
    public var id: Int64 { transactionIdentifier }
    public let timestamp: Date
    public let changes: [HistoryChange]
    public let token: DefaultHistoryToken
    public let transactionIdentifier: Int64
    public let storeIdentifier: String
    /// The bundle identifier of the program that saved, or its name if it was no bundle.
    public let bundleIdentifier: String
    /// The name of the program that saved.
    public let processIdentifier: String
    public let author: String?

    public static func == (one: DefaultHistoryTransaction, other: DefaultHistoryTransaction) -> Bool {
        one.transactionIdentifier == other.transactionIdentifier && one.storeIdentifier == other.storeIdentifier
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(transactionIdentifier)
        hasher.combine(storeIdentifier)
    }
}

extension DefaultHistoryTransaction {
    /// The transaction in the form in which predicates are evaluated.
    var candidate: DefaultHistoryTransaction {
        DefaultHistoryTransaction(
            timestamp: timestamp, changes: changes, token: DefaultHistoryToken(token.positions, isCandidate: true),
            transactionIdentifier: transactionIdentifier, storeIdentifier: storeIdentifier,
            bundleIdentifier: bundleIdentifier, processIdentifier: processIdentifier, author: author)
    }
}
