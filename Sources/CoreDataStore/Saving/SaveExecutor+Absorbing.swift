import CoreDataSQL

// New rows whose values go to the rows that have their unique values already.
extension SaveExecutor {
    /// Writes them, and finds out by their keys which have come.
    ///
    /// `RETURNING` would tell, too, and cost as much again as the statement.
    ///
    /// - Returns: those that have not come, by their places among the save's insertions.
    /// - Throws: ``RowIsOutdated`` where one was absorbed by another of the same save: which one is for others to say.
    func absorb(_ step: SavePlan.Absorptions) throws -> [Int] {
        guard (try? connection.statement(step.absorbing[0].single)) != nil else {
            // A table of others may lack the unique index.
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
