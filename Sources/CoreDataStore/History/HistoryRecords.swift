import CoreDataPrimitives
import Foundation

/// A transaction as a store's history has it: who saved, and when.
package struct HistoryTransactionRecord: Sendable {
    package var number: Int64
    /// Seconds since 2001.
    package var time: Double
    package var origin: ChangeOrigin
}

/// One row that a transaction inserted, updated or deleted.
package struct HistoryChangeRecord: Sendable {
    package var identifier: Int64
    package var transaction: Int64
    package var kind: HistoryKind
    package var key: RowKey
    /// The properties that an update changed.
    package var changedSlots: [Int] = []
    /// What a deletion kept of the row: a row with those attributes alone.
    package var tombstone: RowSnapshot?
    /// The attributes that deletions of such rows keep.
    package var tombstoneSlots: [Int] = []
}

/// What a history has.
package struct HistoryExtent: Hashable, Sendable {
    /// The number of the oldest transaction that is there; `nil` where none is.
    package var first: Int64?
    /// The number that was given out last, 0 where none was.
    package var last: Int64

    /// Whether everything after the transaction of that number is there: nothing of it was deleted, and the number is one
    /// that was given out.
    package func hasEverything(after number: Int64) -> Bool {
        number <= last && (number == last || first.map { $0 <= number + 1 } ?? false)
    }
}

/// Somebody who reads a history by and by, and what he has read.
package struct HistoryReader: Hashable, Sendable {
    package var name: String
    /// Everything up to the transaction of that number.
    package var position: Int64
    /// When he last said so, in seconds since 2001.
    package var time: Double
}

/// What deleting a history's beginning did.
package struct HistoryPurgeOutcome: Sendable {
    package var deletedTransactions: Int
    /// The oldest transaction that is kept.
    package var firstKept: Int64
    /// Those who had not read all that is gone.
    package var cutOff: [HistoryReader]
}

/// The history of a source that keeps one.
package protocol HistorySource: AnyObject, Sendable {
    /// Whether it has been recorded at all.
    func hasHistory() throws -> Bool
    func historyExtent() throws -> HistoryExtent
    /// The transactions with greater numbers that are younger, oldest first.
    func historyTransactions(after number: Int64, time: Double?) throws -> [HistoryTransactionRecord]
    /// The changes of these transactions, oldest first; those of entities that the store no longer has are left out.
    func historyChanges(in numbers: ClosedRange<Int64>) throws -> [HistoryChangeRecord]
    /// The number of the first transaction that is not older; one more than the last where all are.
    func firstHistoryTransaction(since time: Double) throws -> Int64
    /// Deletes the transactions with smaller numbers, and returns how many.
    func deleteHistory(before number: Int64) throws -> Int
    /// Deletes the transactions of these numbers, and returns how many.
    func deleteHistory(_ numbers: [Int64]) throws -> Int

    // MARK: Readers

    func historyReaders() throws -> [HistoryReader]
    /// Notes what somebody has read; he never goes back.
    func noteHistoryReader(_ name: String, position: Int64) throws
    func removeHistoryReader(_ name: String) throws -> Bool
    /// Deletes what all readers have read, and what is older than `time` or more than `count` transactions back whoever
    /// has read it.
    func purgeHistory(olderThan time: Double?, keepingAtMost count: Int?) throws -> HistoryPurgeOutcome
}
