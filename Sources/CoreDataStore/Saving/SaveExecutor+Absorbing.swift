import CoreDataSQL

// Inserts new rows whose values go to existing rows with their unique values.
extension SaveExecutor {
    /// Writes the rows, and finds out by their keys which ones were inserted.
    ///
    /// `RETURNING` would also report that, but doubles the cost of the statement.
    ///
    /// - Returns: the absorbed rows, as indexes of the save's insertions.
    /// - Throws: ``RowIsOutdated`` if a row was absorbed by another one of the same save; other code finds out which
    ///   one.
    func absorb(_ step: SavePlan.Absorptions) throws -> [Int] {
        guard (try? connection.statement(step.absorbing[0].single)) != nil else {
            // Another program's table may lack the unique index.
            try insert(step.plain)
            return []
        }
        try step.absorbing.forEach(insert)
        let rows = step.plain.rows
        let arrivals = try connection.statement(step.arrivals)
        defer { arrivals.reset() }
        try arrivals.bind(rows[0].row.primaryKey, at: 0)
        try arrivals.bind(rows[rows.count - 1].row.primaryKey, at: 1)
        var absorbed: [Int] = []
        var next = 0
        while try arrivals.step() {
            guard arrivals.integer(1) == 1 else { throw RowIsOutdated() }
            let key = arrivals.integer(0)
            while next < rows.count, rows[next].row.primaryKey < key {
                absorbed.append(step.places[next])
                next += 1
            }
            if next < rows.count, rows[next].row.primaryKey == key { next += 1 }
        }
        return absorbed + step.places[next...]
    }
}
