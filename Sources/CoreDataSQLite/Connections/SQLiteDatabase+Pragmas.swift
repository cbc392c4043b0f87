import CoreDataSQL

// Operations with statements that only SQLite has.
extension SQLiteDatabase {
    package func integrityProblems() throws -> [String] {
        try read { connection in
            let rows = try connection.rows("PRAGMA integrity_check" as SQLText)
            return rows.compactMap { row in
                guard case .text(let problem)? = row.first, problem != "ok" else { return nil }
                return problem
            }
        }
    }

    package func plan(of query: SQLText) throws -> [String] {
        try read { connection in
            var explanation: SQLText = "EXPLAIN QUERY PLAN "
            explanation.append(contentsOf: query)
            return try connection.rows(explanation).map { row in
                if case .text(let detail)? = row.last { return detail }
                return ""
            }
        }
    }

    private static let settingNames = [
        "application_id", "auto_vacuum", "encoding", "freelist_count", "journal_mode", "page_count", "page_size",
        "schema_version", "user_version",
    ]

    package func settings() throws -> [String: String] {
        try read { connection in
            var values: [String: String] = [:]
            for name in Self.settingNames {
                switch try connection.rows("PRAGMA \(identifier: name)" as SQLText).first?.first {
                case .integer(let value): values[name] = String(value)
                case .text(let value): values[name] = value
                default: break
                }
            }
            // If neither the file nor its log's index can be written, SQLite reports another mode.
            if let own = connection as? SQLiteConnection,
                SQLiteConnection.usesLog(SQLiteConnection.start(of: own.handle, count: 20) ?? [])
            {
                values["journal_mode"] = "wal"
            }
            return values
        }
    }

    package func analyze() throws { try writeWithoutTransaction { try $0.execute("ANALYZE") } }

    package func vacuum() throws { try writeWithoutTransaction { try $0.execute("VACUUM") } }
}
