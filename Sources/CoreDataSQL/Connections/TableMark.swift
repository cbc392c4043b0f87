/// What tells a table's rows from those of others where nothing else does: for who finds a page of them in a damaged file.
package struct TableMark: Sendable {
    package enum Rows: Sendable {
        /// Rows with one of these numbers behind their key.
        case objects(numbers: Set<Int64>)
        /// Rows of so many columns that begin with two keys.
        case pairs(columns: Int)
    }

    package var table: String
    package var rows: Rows

    package init(table: String, rows: Rows) {
        self.table = table
        self.rows = rows
    }

    /// Whether a row may be of the table.
    ///
    /// - Parameter values: those of its first columns that are whole numbers, `nil` for others; the key of an object is one.
    package func matches(_ values: [Int64?]) -> Bool {
        switch rows {
        case .objects(let numbers):
            values.count > 2 && values[0] == nil && values[1].map { numbers.contains($0) } ?? false
        case .pairs(let columns): values.count == columns && values[0] != nil && values[1] != nil
        }
    }
}
