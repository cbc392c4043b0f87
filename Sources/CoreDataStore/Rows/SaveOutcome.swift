import CoreDataPrimitives

/// The additional results of a committed save.
package struct SaveOutcome: Sendable {
    /// The assigned primary keys, by root entity.
    package var keys: [Int: ClosedRange<Int64>]
    /// Rows whose derived attributes the store has changed, without duplicates: their cached rows are stale.
    package var derivedRows: [RowKey]
    /// The number of the transaction in the store's history.
    package var historyTransaction: Int64?
    /// The insertions that were absorbed, ascending: their values went to existing rows with their unique values.
    package var absorbed: [Int]

    package init(
        keys: [Int: ClosedRange<Int64>], derivedRows: [RowKey], historyTransaction: Int64? = nil, absorbed: [Int] = []
    ) {
        self.keys = keys
        self.derivedRows = derivedRows
        self.historyTransaction = historyTransaction
        self.absorbed = absorbed
    }
}
