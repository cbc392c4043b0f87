/// A statement that changes a part of a schema or takes it away.
///
///     SchemaChange.renameTable("ZITEM", to: "Z_OLD_ZITEM").text(in: dialect)     // ALTER TABLE ZITEM RENAME TO Z_OLD_ZITEM
package enum SchemaChange: Hashable, Sendable {
    case dropTable(String)
    case renameTable(String, to: String)
    case addColumn(CreateTable.Column, to: String)
    case dropIndex(String)
    case dropTrigger(String, on: String)
}
