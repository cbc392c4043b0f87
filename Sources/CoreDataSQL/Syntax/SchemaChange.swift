/// A statement that changes or drops a part of a schema.
///
///     SchemaChange.renameTable("ZITEM", to: "Z_OLD_ZITEM").text(in: dialect)     // ALTER TABLE ZITEM RENAME TO Z_OLD_ZITEM
package enum SchemaChange: Hashable, Sendable {
    case dropTable(String)
    case renameTable(String, to: String)
    case addColumn(CreateTable.Column, to: String)
    case dropColumn(String, of: String)
    /// Does nothing if the index does not exist and the dialect drops indexes together with their columns.
    case dropIndex(String)
    case dropTrigger(String, on: String)
    /// Existing rows need not satisfy the constraint until it is validated.
    case addConstraint(TableConstraint)
    /// Adds a comment to the constraint that describes it.
    case describeConstraint(TableConstraint)
    case validateConstraint(String, on: String)
    case dropConstraint(String, on: String)
    /// Moves a table with its indexes from one schema of a server to another.
    case moveTable(String, from: String, to: String)
    /// Moves a function without parameters, such as the body of a trigger.
    case moveFunction(String, from: String, to: String)
    /// Drops a function without parameters, if it exists.
    case dropFunction(String)
}
