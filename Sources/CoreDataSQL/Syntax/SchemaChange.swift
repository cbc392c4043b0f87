/// A statement that changes a part of a schema or takes it away.
///
///     SchemaChange.renameTable("ZITEM", to: "Z_OLD_ZITEM").text(in: dialect)     // ALTER TABLE ZITEM RENAME TO Z_OLD_ZITEM
package enum SchemaChange: Hashable, Sendable {
    case dropTable(String)
    case renameTable(String, to: String)
    case addColumn(CreateTable.Column, to: String)
    case dropColumn(String, of: String)
    /// With an index that has gone already there is nothing to do where columns take theirs with them.
    case dropIndex(String)
    case dropTrigger(String, on: String)
    /// Rows that are there already need not meet it, until it is validated.
    case addConstraint(TableConstraint)
    /// Says in the database what it asks for.
    case describeConstraint(TableConstraint)
    case validateConstraint(String, on: String)
    case dropConstraint(String, on: String)
    /// Moves a table with its indexes from one schema of a server to another.
    case moveTable(String, from: String, to: String)
    /// The same of a function without parameters, such as what a trigger does.
    case moveFunction(String, from: String, to: String)
    /// Takes a function without parameters away, if it is there.
    case dropFunction(String)
}
