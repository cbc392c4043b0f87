/// What must not be said to an engine that speaks PostgreSQL's protocol, since it does not know it.
package enum ForeignWords {
    /// Of no engine: what distributes has no order in its sequences, no constraints that wait, no extensions of others.
    private static let everywhere = [
        "DEFERR", "NEXTVAL", "BIGSERIAL", "AS IDENTITY", "CREATE EXTENSION", "CREATE TEMP", "CREATE SEQUENCE",
    ]
    private static let ofTransactions = [
        "LISTEN \"", "PG_NOTIFY", "PG_ADVISORY", "HASHTEXTEXTENDED", "PG_XACT_STATUS", "PG_CURRENT_XACT_ID",
        "PG_CURRENT_SNAPSHOT",
    ]
    private static let ofSessions = [
        "PG_TERMINATE", "PG_BACKEND_PID", "PG_STAT_ACTIVITY", "PG_LOCKS", "UNNEST(", "VACUUM",
        "PG_TOTAL_RELATION_SIZE",
    ]

    /// - Parameter engine: as a URL has it: `cockroachdb`.
    package static func of(engine: String) -> [String] {
        switch engine {
        case "yugabytedb": everywhere + ofTransactions
        case "cockroachdb": everywhere + ofTransactions + ofSessions
        default: everywhere
        }
    }

    /// The first word in the text that the engine does not know.
    package static func first(in sql: String, engine: String) -> String? {
        let text = sql.uppercased()
        return of(engine: engine).first { text.contains($0) }
    }
}
