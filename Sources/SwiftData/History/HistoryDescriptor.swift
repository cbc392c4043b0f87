import Foundation

/// Which transactions of a history are wanted, in which order, and how many.
///
///     var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
///     descriptor.predicate = #Predicate { $0.token > lastToken && $0.author == "sync" }
///     let transactions = try context.fetchHistory(descriptor)
///     // SELECT … FROM ATRANSACTION WHERE Z_PK > ?, then the rest of the predicate in memory
public struct HistoryDescriptor<TransactionType: HistoryTransaction>: @unchecked Sendable {
    // Safe because predicates and sort descriptors are immutable.

    /// The condition that a transaction must satisfy; `nil` for all transactions.
    public var predicate: Predicate<TransactionType>?
    /// The largest number of transactions; 0 for all.
    public var fetchLimit: UInt64 = 0
    /// The order of the transactions; empty for that of their commits.
    public var sortBy: [SortDescriptor<TransactionType>]

    /// Asks for the transactions that satisfy a predicate.
    public init(predicate: Predicate<TransactionType>? = nil) {
        self.predicate = predicate
        sortBy = []
    }

    /// Asks for the transactions that satisfy a predicate, in an order.
    public init(predicate: Predicate<TransactionType>? = nil, sortBy: [SortDescriptor<TransactionType>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}
