import CoreDataSQL

// Operations with statements that only PostgreSQL has.
extension PostgreSQLDatabase {
    /// Creates the schema that the URL names, if it does not exist.
    package func createSchema() throws {
        try writeWithoutTransaction { connection in
            let exists = try connection.rows(named: ServerText.schemaExists, [.text(options.address.schema)])
            guard exists.isEmpty else { return }
            do { try connection.execute(ServerText.createSchema(options.address.schema)) } catch let failure
                as SQLFailure
                where failure.isConcurrentCreation
            {
                // `IF NOT EXISTS` has a race: another client created it between the check and the creation.
            }
        }
    }

    /// Deletes the schema with its content.
    package func dropSchema() throws {
        try writeWithoutTransaction { try $0.execute(ServerText.dropSchema(options.address.schema)) }
    }

    /// The server checks its pages when it reads them; the store's own integrity is checked elsewhere.
    package func integrityProblems() throws -> [String] { [] }

    package func plan(of query: SQLText) throws -> [String] { try read { try $0.serverPlan(of: query) } }

    package func settings() throws -> [String: String] {
        try read { connection in
            var values: [String: String] = [:]
            let text = traits.tellsSizes ? ServerText.settings : ServerText.settingsWithoutSizes
            for row in try connection.rows(named: text, []) {
                if case .text(let name) = row[0], case .text(let value) = row[1] { values[name] = value }
            }
            values["engine"] = engine.rawValue
            return values
        }
    }

    package func analyze() throws { try writeWithoutTransaction { try $0.execute(ServerText.analyze) } }

    package func vacuum() throws {
        guard traits.vacuums else { return }
        try writeWithoutTransaction { try $0.execute(ServerText.vacuum) }
    }
}

extension SQLConnection {
    /// Returns the server's EXPLAIN output for a query.
    func serverPlan(of query: SQLText) throws -> [String] {
        try rows(named: ServerText.explain + query.sql, query.bindings).compactMap { row in
            if case .text(let line) = row[0] { return line }
            return nil
        }
    }

    fileprivate func rows(named sql: String, _ values: [SQLValue]) throws -> [[SQLValue]] {
        let statement = try statement(sql)
        defer { statement.reset() }
        if !values.isEmpty { try statement.bind(values, at: 0) }
        var rows: [[SQLValue]] = []
        while try statement.step() { rows.append((0..<statement.columnCount).map(statement.value)) }
        return rows
    }
}
