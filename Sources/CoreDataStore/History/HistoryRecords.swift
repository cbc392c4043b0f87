import CoreDataPrimitives
import Foundation

/// A transaction in a store's history: its author and its time.
package struct HistoryTransactionRecord: Sendable {
    package var number: Int64
    /// The time in seconds since 2001.
    package var time: Double
    package var origin: ChangeOrigin
}

/// A row that a transaction inserted, updated or deleted.
package struct HistoryChangeRecord: Sendable {
    package var identifier: Int64
    package var transaction: Int64
    package var kind: HistoryKind
    package var key: RowKey
    /// The properties that an update changed.
    package var changedSlots: [Int] = []
    /// The attributes that a deletion preserved, as a row with only these.
    package var tombstone: RowSnapshot?
    /// The attributes that deletions of such rows preserve.
    package var tombstoneSlots: [Int] = []
}

/// The range of a history.
package struct HistoryExtent: Hashable, Sendable {
    /// The number of the oldest existing transaction; `nil` if there is none.
    package var first: Int64?
    /// The last assigned number; 0 if there is none.
    package var last: Int64

    /// Returns whether all transactions after the number exist: none was purged, and the number was assigned.
    package func hasEverything(after number: Int64) -> Bool {
        number <= last && (number == last || first.map { $0 <= number + 1 } ?? false)
    }
}

/// A consumer of a history, and its position.
package struct HistoryReader: Hashable, Sendable {
    package var name: String
    /// The number of the last transaction that it has read.
    package var position: Int64
    /// The time of its last report, in seconds since 2001.
    package var time: Double
}

/// The result of purging a history.
package struct HistoryPurgeOutcome: Sendable {
    package var deletedTransactions: Int
    /// The oldest transaction that is kept.
    package var firstKept: Int64
    /// The consumers that had not read all purged transactions.
    package var cutOff: [HistoryReader]
}

/// A source with a history.
package protocol HistorySource: AnyObject, Sendable {
    /// Returns whether a history was ever recorded.
    func hasHistory() throws -> Bool
    func historyExtent() throws -> HistoryExtent
    /// Returns the transactions with greater numbers and later times, oldest first: at most `limit` of them.
    func historyTransactions(after number: Int64, time: Double?, limit: Int?) throws -> [HistoryTransactionRecord]
    /// Returns the changes of these transactions, oldest first, without those of entities that the store no longer has.
    func historyChanges(in numbers: ClosedRange<Int64>) throws -> [HistoryChangeRecord]
    /// Returns the number of the first transaction that is not older; the last number plus one if all are older.
    func firstHistoryTransaction(since time: Double) throws -> Int64
    /// Deletes the transactions with smaller numbers; returns their number.
    func deleteHistory(before number: Int64) throws -> Int
    /// Deletes the transactions with these numbers; returns how many existed.
    func deleteHistory(_ numbers: [Int64]) throws -> Int

    // MARK: Consumers

    func historyReaders() throws -> [HistoryReader]
    /// Records the position of a consumer, which never decreases.
    func noteHistoryReader(_ name: String, position: Int64) throws
    func removeHistoryReader(_ name: String) throws -> Bool
    /// Deletes the transactions that all consumers have read. It also deletes unread ones that are older than `time`,
    /// or beyond the last `count` transactions.
    func purgeHistory(olderThan time: Double?, keepingAtMost count: Int?) throws -> HistoryPurgeOutcome
}

extension HistorySource {
    /// Returns all transactions with greater numbers and later times, oldest first.
    package func historyTransactions(after number: Int64, time: Double?) throws -> [HistoryTransactionRecord] {
        try historyTransactions(after: number, time: time, limit: nil)
    }
}
