/// The properties that identify the rows of a table in a damaged file whose pages are not connected to a table.
package struct TableMark: Sendable {
    package enum Rows: Sendable {
        /// Rows with one of these entity numbers after their key.
        case objects(numbers: Set<Int64>)
        /// Rows with this number of columns that begin with two keys.
        case pairs(columns: Int)
    }

    package var table: String
    package var rows: Rows

    package init(table: String, rows: Rows) {
        self.table = table
        self.rows = rows
    }

    /// Returns whether a row may belong to the table.
    ///
    /// - Parameter values: the integers in its first columns, `nil` for other values; an object's key is one of them.
    package func matches(_ values: [Int64?]) -> Bool {
        switch rows {
        case .objects(let numbers):
            values.count > 2 && values[0] == nil && values[1].map { numbers.contains($0) } ?? false
        case .pairs(let columns): values.count == columns && values[0] != nil && values[1] != nil
        }
    }
}
