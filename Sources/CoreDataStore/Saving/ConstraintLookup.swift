import CoreDataPrimitives
import CoreDataSQL

/// Finds the rows with given values of a constraint's columns, many with one statement.
///
///     SELECT Z_PK, Z_ENT, ZCODE FROM ZITEM WHERE ZCODE IN (?, ?, …)
///     SELECT Z_PK, Z_ENT, ZA, ZB FROM ZITEM WHERE ZA = ? AND ZB = ? OR ZA = ? AND ZB = ? OR …
struct ConstraintLookup {
    let connection: any SQLConnection
    let table: String
    let columns: [String]
    /// 1 if a column's value may be read differently than it was compared.
    let rowsPerStatement: Int

    /// Calls `body` with the found values, the row's key and its entity's number; for duplicate values possibly several
    /// times.
    func find(_ wanted: [[SQLValue]], _ body: ([SQLValue], Int64, Int64) -> Void) throws {
        var first = 0
        while first < wanted.count {
            let left = wanted.count - first
            // Use few different texts, so that statements are prepared once: the last portion repeats its last values.
            let size = left > 8 ? rowsPerStatement : 1
            try find(wanted[first..<min(first + size, wanted.count)], size, body)
            first += size
        }
    }

    private func find(
        _ wanted: ArraySlice<[SQLValue]>, _ size: Int, _ body: ([SQLValue], Int64, Int64) -> Void
    ) throws {
        let statement = try connection.statement(text(size))
        defer { statement.reset() }
        var place = 0
        for index in 0..<size {
            let values = wanted[min(wanted.startIndex + index, wanted.endIndex - 1)]
            try statement.bind(values, at: place)
            place += values.count
        }
        while try statement.step() {
            let values = size == 1 ? wanted[wanted.startIndex] : columns.indices.map { statement.value(2 + $0) }
            body(values, statement.integer(0), statement.integer(1))
        }
    }

    private func text(_ size: Int) -> String {
        var select = SelectStatement(
            (["Z_PK", "Z_ENT"] + (size == 1 ? [] : columns)).map { .init(.column(nil, $0)) },
            from: .init(table, as: table))
        if columns.count == 1, size > 1 {
            select.condition = .inList(.column(nil, columns[0]), Array(repeating: .parameter, count: size))
        } else {
            let one = SQLExpression.and(columns.map { .comparison(.equal, .column(nil, $0), .parameter) })
            select.condition = size == 1 ? one : .or(Array(repeating: one, count: size))
        }
        return select.text(in: connection.dialect).sql
    }
}
