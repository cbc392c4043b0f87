import CoreDataSQL

/// A row of `Z_PRIMARYKEY`, which counts the keys of a table.
struct KeyCounter {
    /// Identifies the counter: a root entity's ordinal, or a negative number.
    var index: Int
    /// `Z_ENT`.
    var number: Int64
    var name: String
    private var query: String
    private var table: String?

    init(index: Int, number: Int64, name: String, query: String) {
        (self.index, self.number, self.name, self.query) = (index, number, name, query)
    }

    private init(ofHistory number: Int64, _ name: String, table: String) {
        self.init(index: -Int(number), number: number, name: name, query: "")
        self.table = table
    }

    /// Whether it counts rows of the history instead of the model.
    var isOfHistory: Bool { table != nil }

    static let changes = KeyCounter(
        ofHistory: BookkeepingSchema.changeNumber, "CHANGE", table: BookkeepingSchema.changeTable)
    static let transactions = KeyCounter(
        ofHistory: BookkeepingSchema.transactionNumber, "TRANSACTION", table: BookkeepingSchema.transactionTable)
    static let transactionStrings = KeyCounter(
        ofHistory: BookkeepingSchema.transactionStringNumber, "TRANSACTIONSTRING",
        table: BookkeepingSchema.transactionStringTable)

    /// Returns the query for the highest key in use; bound: the number.
    ///
    /// - Parameter locks: whether concurrent queries wait until the transaction ends; false for readers.
    func query(in dialect: SQLDialect, locks: Bool = true) -> String {
        table.map { SaveTables.Table.keyQuery($0, locks: locks && dialect.writesTogether).text(in: dialect).sql }
            ?? query
    }
}

extension SaveTables.Table {
    /// Returns the query for the highest key in use. In migrated stores, counters can be behind their tables.
    ///
    /// - Parameter locks: whether concurrent queries wait until the transaction ends.
    static func keyQuery(_ table: String, locks: Bool) -> SelectStatement {
        let highest = SelectStatement(
            [.init(.aggregate(.maximum, .column(nil, "Z_PK"), distinct: false))], from: .init(table, as: table))
        var select = SelectStatement(
            [
                .init(
                    .function(
                        .greatest,
                        [
                            .function(.ifNull, [.column(nil, "Z_MAX"), .integer(0)]),
                            .function(.ifNull, [.scalar(highest), .integer(0)]),
                        ]))
            ], from: .init(BookkeepingSchema.primaryKeyTable, as: BookkeepingSchema.primaryKeyTable))
        select.condition = .comparison(.equal, .column(nil, "Z_ENT"), .parameter)
        if locks { select.lock = .update }
        return select
    }
}
