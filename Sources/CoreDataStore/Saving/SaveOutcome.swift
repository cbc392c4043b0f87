import CoreDataPrimitives

/// What a save that was committed did beyond what it was asked.
package struct SaveOutcome: Sendable {
    /// The primary keys that were taken, by root entity.
    package var keys: [Int: ClosedRange<Int64>]
    /// Rows whose derived attributes the store has set meanwhile, each once: what is cached of them is out of date.
    package var derivedRows: [RowKey]
    /// The number of the transaction that the store's history has of it.
    package var historyTransaction: Int64?
    /// Which of the insertions did not come, ascending: their values went to rows that had their unique values.
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
