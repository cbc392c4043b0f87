/// A DELETE as a value.
///
///     DeleteStatement(from: "ZITEM", where: .comparison(.equal, .column(nil, "Z_PK"), .parameter))
///     // DELETE FROM ZITEM WHERE Z_PK = ?
package struct DeleteStatement: Hashable, Sendable {
    package var table: String
    /// The name by which expressions refer to the table, needed inside correlated selects.
    package var alias: String?
    package var condition: SQLExpression?
    /// `RETURNING …`; empty returns nothing.
    package var returning: [SelectStatement.ResultColumn] = []

    package init(from table: String, as alias: String? = nil, where condition: SQLExpression? = nil) {
        self.table = table
        self.alias = alias
        self.condition = condition
    }
}
