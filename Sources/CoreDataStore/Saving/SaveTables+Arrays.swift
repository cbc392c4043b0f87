import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

// The statements of many rows with array parameters.
extension SaveTables {
    /// The minimum number of rows for such a statement.
    private static let fewestRows = 8

    func bindsRowsAsArrays(_ rows: Int) -> Bool { dialect.bindsArrays && rows >= Self.fewestRows }

    /// `INSERT INTO "Item" ("_id", "_entity", "_version", "name") SELECT v."column1", 1, v."column2", v."column3"
    /// FROM UNNEST($1::BIGINT[], $2::BIGINT[], $3::TEXT[]) AS v(…)`; bound: key, version, columns.
    func arrayInsertion(into table: Table) -> String {
        text(table, .arrayInsertion, rows: 0) {
            let source = SelectStatement.Source(arrays: [.integer, .integer] + table.columnTypes, as: "v")
            let values = source.arrays.indices.map { source.arrayColumn($0) }
            let select = SelectStatement(
                ([values[0], .integer(table.number)] + values[1...]).map { .init($0) }, from: source)
            return InsertStatement(
                into: table.name, columns: ["Z_PK", "Z_ENT", "Z_OPT"] + table.columnNames, from: select
            ).text(in: dialect)
        }
    }

    /// `UPDATE "Item" AS t SET "_version" = v."column1", "name" = v."column2" FROM UNNEST(…) AS v(…) WHERE t."_id" =
    /// v."column3" AND COALESCE(t."_version", 0) = v."column4"`; bound: new version, columns, key, old version.
    func arrayUpdate(of table: Table, _ columns: IndexMask) -> String {
        text(table, .arrayUpdate(columns), rows: 0) {
            let places = table.columns.indices.filter { columns.contains(table.columns[$0]) }
            let source = SelectStatement.Source(
                arrays: [.integer] + places.map { table.columnTypes[$0] } + [.integer, .integer], as: "v")
            let names = ["Z_OPT"] + places.map { table.columnNames[$0] }
            var update = UpdateStatement(
                table.name, as: "t",
                set: names.enumerated().map { .init($0.element, source.arrayColumn($0.offset)) })
            update.source = source
            update.condition = .and([
                .comparison(.equal, .column("t", "Z_PK"), source.arrayColumn(names.count)),
                .comparison(.equal, Self.version(in: "t"), source.arrayColumn(names.count + 1)),
            ])
            return update.text(in: dialect)
        }
    }

    /// `INSERT INTO "Book_tags" ("Book", "tags") SELECT … FROM UNNEST(…) AS v(…) ON CONFLICT DO NOTHING`; bound: the
    /// two keys, then the orders.
    func arrayInsertion(into table: StoreLayout.JoinTable) -> String {
        let columns = table.pairColumns
        let source = SelectStatement.Source(arrays: columns.map { _ in .integer }, as: "v")
        let select = SelectStatement(columns.indices.map { .init(source.arrayColumn($0)) }, from: source)
        let insert = InsertStatement(into: table.name, columns: columns, from: select)
        return Self.ofPairs(insert, table).text(in: dialect).sql
    }

    /// Adds the conflict clause: an existing pair gets the new orders.
    static func ofPairs(_ insert: InsertStatement, _ table: StoreLayout.JoinTable) -> InsertStatement {
        var insert = insert
        let orders = table.pairColumns.dropFirst(2)
        insert.conflict =
            orders.isEmpty
            ? .ignore
            : .update(
                target: Array(table.pairColumns.prefix(2)),
                set: orders.map {
                    .init($0, .function(.ifNull, [.column("excluded", $0), .column(table.name, $0)]))
                })
        return insert
    }
}

extension StoreLayout.JoinTable {
    /// The columns in the order in which a save binds them: the two keys, then the orders.
    var pairColumns: [String] {
        [ownerColumn, destinationColumn] + [orderColumn, inverseOrderColumn].compactMap { $0 }
    }
}
