import CoreDataPrimitives
import CoreDataSQL

// Writes many rows with one statement, with an array for each column. For a server, this costs little more than copying
// the rows to the table.
extension SaveExecutor {
    /// The maximum rows, or bytes, of a statement: the server processes one while the next is prepared.
    private static let rowsAtOnce = 512
    private static let bytesAtOnce = 1 << 20

    /// The number of rows from which COPY, with its additional round trips, pays off.
    static let fewestCopied = 4096

    func insert(_ step: SavePlan.Insertions, _ sql: String) throws {
        if step.rows.count >= Self.fewestCopied, try copy(step) { return }
        let table = step.table
        try forEachPortion(of: step.rows.count, sql) { statement, index in
            try statement.append(step.rows[index].row.primaryKey, at: 0)
            try statement.append(Int64(step.rows[index].row.version), at: 1)
            try append(step.rows[index].row, table.columns, table.externalColumns, table, to: statement, at: 2)
        } run: { statement, _ in
            try statement.runLater(expecting: nil, otherwise: {})
        }
    }

    /// `COPY "Item" ("_id", "_entity", "_version", "name") FROM STDIN (FORMAT binary)`.
    ///
    /// - Returns: false if the database cannot copy such rows; then nothing was done.
    private func copy(_ step: SavePlan.Insertions) throws -> Bool {
        let table = step.table
        let statement = CopyStatement(into: table.name, columns: ["Z_PK", "Z_ENT", "Z_OPT"] + table.columnNames)
        guard let copy = try connection.copy(statement) else { return false }
        do {
            for index in step.rows.indices {
                try copy.beginRow()
                try copy.append(step.rows[index].row.primaryKey)
                try copy.append(table.number)
                try copy.append(Int64(step.rows[index].row.version))
                try copy.append(
                    stored(step.rows[index].row, table.externalColumns, table), columns: table.columns,
                    kinds: table.kinds)
            }
            try copy.end()
            return true
        } catch {
            copy.giveUp()
            throw error
        }
    }

    func update(_ step: SavePlan.Updates, _ sql: String) throws {
        let form = step.form
        try forEachPortion(of: step.rows.count, sql) { statement, index in
            try statement.append(Int64(step.rows[index].new.version), at: 0)
            try append(step.rows[index].new, form.columns, form.externalColumns, form.table, to: statement, at: 1)
            try statement.append(step.rows[index].old.primaryKey, at: 1 + form.columns.count)
            try statement.append(Int64(step.rows[index].old.version), at: 2 + form.columns.count)
        } run: { statement, count in
            try statement.runLater(expecting: count) { throw RowIsOutdated() }
        }
    }

    func write(_ step: SavePlan.Links, _ sql: String) throws {
        try forEachPortion(of: step.rows.count, sql) { statement, index in
            let row = step.rows[index]
            try statement.append(row.owner, at: 0)
            try statement.append(row.destination, at: 1)
            for (index, order) in row.orders.enumerated() { try statement.append(order, at: 2 + index) }
        } run: { statement, _ in
            try statement.runLater(expecting: nil, otherwise: {})
        }
    }

    private func append(
        _ row: RowSnapshot, _ columns: [Int], _ externalColumns: [Int], _ table: SaveTables.Table,
        to statement: any SQLStatement, at first: Int
    ) throws {
        try statement.append(stored(row, externalColumns, table), columns: columns, kinds: table.kinds, at: first)
    }

    private func stored(_ row: RowSnapshot, _ externalColumns: [Int], _ table: SaveTables.Table) throws -> RowSnapshot {
        externalColumns.isEmpty ? row : try externalData.encoded(row, externalColumns, kinds: table.kinds)
    }

    @inline(__always)
    private func forEachPortion(
        of count: Int, _ sql: String, append: (_ statement: any SQLStatement, _ index: Int) throws -> Void,
        run: (_ statement: any SQLStatement, _ count: Int) throws -> Void
    ) throws {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        var first = 0
        for index in 0..<count {
            try append(statement, index)
            let rows = index + 1 - first
            guard index + 1 == count || rows == Self.rowsAtOnce || statement.arrayByteCount > Self.bytesAtOnce else {
                continue
            }
            try run(statement, rows)
            statement.reset()
            first = index + 1
        }
    }
}
