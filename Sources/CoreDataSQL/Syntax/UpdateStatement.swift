/// An UPDATE as a value.
///
///     var update = UpdateStatement("ZITEM", set: [.init("ZQUANTITY", .parameter)])
///     update.condition = .comparison(.equal, .column(nil, "Z_PK"), .parameter)
///     // UPDATE ZITEM SET ZQUANTITY = ? WHERE Z_PK = ?
package struct UpdateStatement: Hashable, Sendable {
    package struct Assignment: Hashable, Sendable {
        package var column: String
        package var value: SQLExpression

        package init(_ column: String, _ value: SQLExpression) {
            self.column = column
            self.value = value
        }
    }

    package var table: String
    /// The name by which expressions refer to the table, needed inside correlated selects.
    package var alias: String?
    package var assignments: [Assignment]
    /// `FROM …`: further rows that the assignments and the condition can refer to.
    package var source: SelectStatement.Source?
    package var condition: SQLExpression?
    /// `RETURNING …`; empty returns nothing.
    package var returning: [SelectStatement.ResultColumn] = []

    package init(
        _ table: String, as alias: String? = nil, set assignments: [Assignment], where condition: SQLExpression? = nil
    ) {
        self.table = table
        self.alias = alias
        self.assignments = assignments
        self.condition = condition
    }
}
