/// An INSERT as a value.
///
///     InsertStatement(into: "ZUNIT", columns: ["Z_PK", "ZNAME"], rows: [[.parameter, .parameter]])
///     // INSERT INTO ZUNIT (Z_PK, ZNAME) VALUES (?, ?)
package struct InsertStatement: Hashable, Sendable {
    package enum Source: Hashable, Sendable {
        case rows([[SQLExpression]])
        case select(SelectStatement)
    }

    /// The action when a row violates a constraint.
    package enum Conflict: Hashable, Sendable {
        /// The statement fails, and its changes roll back.
        case fail
        /// `INSERT OR FAIL`: the statement fails at that row and leaves the earlier rows for a rollback of the
        /// transaction. So SQLite writes no statement journal, which would cost more than the rows.
        case stop
        /// `ON CONFLICT DO NOTHING`.
        case ignore
        /// `ON CONFLICT (target) DO UPDATE SET … WHERE …`; the row to insert is the table `excluded`.
        case update(target: [String], set: [UpdateStatement.Assignment], where: SQLExpression? = nil)
    }

    package var table: String
    package var columns: [String]
    package var source: Source
    package var conflict = Conflict.fail
    /// `RETURNING …`; empty returns nothing.
    package var returning: [SelectStatement.ResultColumn] = []

    package init(into table: String, columns: [String], rows: [[SQLExpression]]) {
        self.table = table
        self.columns = columns
        source = .rows(rows)
    }

    package init(into table: String, columns: [String], from select: SelectStatement) {
        self.table = table
        self.columns = columns
        source = .select(select)
    }
}
