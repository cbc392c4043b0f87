import CoreDataSQL

// Statements that begin and end transactions, lock the store, and record commits.
extension ServerText {
    // MARK: Transactions

    package static let beginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    package static let beginWriting = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
    package static let rollback = "ROLLBACK"

    /// Combines statements to one, which runs them in any order. It fails if a statement that expects one row changes
    /// or returns another number.
    ///
    /// - Parameter statements: each with the number of its parameters, which are numbered consecutively.
    package static func together(_ statements: [(sql: String, parameters: Int, isOfOneRow: Bool)]) -> String {
        var (parts, rows): ([String], [String]) = ([], [])
        var first = 0
        for (index, one) in statements.enumerated() {
            let name = SQLIdentifier.quoted("s\(index + 1)")
            let text = renumbered(one.sql, from: first)
            let givesRows = text.hasPrefix("SELECT") || !one.isOfOneRow
            parts.append("\(name) AS (\(text)\(givesRows ? "" : " RETURNING 1"))")
            if one.isOfOneRow { rows.append("(SELECT 1 FROM \(name))") }
            first += one.parameters
        }
        // A sum with a missing row is NULL, and a subquery with two rows fails: counting would cost the server more.
        let outcome = rows.isEmpty ? "1" : "1 / COALESCE(\(rows.joined(separator: " + ")), 0)"
        return "WITH \(parts.joined(separator: ", ")) SELECT \(outcome)"
    }

    /// Returns the text with `$1` as `$5` if four other parameters come first.
    private static func renumbered(_ sql: String, from first: Int) -> String {
        guard first > 0 else { return sql }
        var text: [UInt8] = []
        var bytes = Array(sql.utf8)[...]
        var quote: UInt8?
        while let byte = bytes.popFirst() {
            text.append(byte)
            if quote != nil {
                if byte == quote { quote = nil }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                quote = byte
            } else if byte == UInt8(ascii: "$") {
                let digits = bytes.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                guard let number = Int(String(decoding: digits, as: UTF8.self)) else { continue }
                bytes = bytes.dropFirst(digits.count)
                text += String(number + first).utf8
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Begins a savepoint.
    package static let beginAttempt = "SAVEPOINT attempt"
    package static let endAttempt = "RELEASE SAVEPOINT attempt"
    package static let giveUpAttempt = "ROLLBACK TO SAVEPOINT attempt"

    /// Returns the identifier of the transaction's snapshot.
    package static let snapshot = "SELECT CAST(pg_current_snapshot() AS TEXT)"
    /// Returns an identifier for it, for servers without snapshot identifiers.
    package static let unnamedSnapshot = "SELECT CAST(gen_random_uuid() AS TEXT)"

    /// Waits for all writers, and locks them out until the transaction ends.
    ///
    /// - Parameter number: the result of ``useSchema(knowsSessions:locksByNumber:setsTransactions:)``.
    package static func lockAlone(_ number: Int64) -> String { "SELECT pg_advisory_xact_lock(\(number))" }
    /// Waits for holders of the exclusive lock, and locks them out until the transaction ends.
    package static func lockBeside(_ number: Int64) -> String { "SELECT pg_advisory_xact_lock_shared(\(number))" }

    /// The same two locks for servers without advisory locks: they lock the store's own row, after it exists.
    package static let lockRowAlone = "SELECT 1 FROM \(quoted("Z_METADATA")) FOR UPDATE"
    package static let lockRowBeside = "SELECT 1 FROM \(quoted("Z_METADATA")) FOR SHARE"
    /// Returns a row if the store's row exists.
    package static let hasMetadata = "SELECT 1 WHERE to_regclass('\(quoted("Z_METADATA"))') IS NOT NULL"

    /// Tries to take a lock without waiting; returns 1 or 0; bound: its name.
    package static let tryLock = "SELECT CAST(pg_try_advisory_xact_lock(hashtextextended($1::TEXT, 7)) AS INTEGER)"
    /// Disables the idle timeout for the transaction.
    package static let allowPauses = "SELECT set_config('idle_in_transaction_session_timeout', '0', true)"
    package static let isThere = "SELECT 1"

    /// Marks the transaction with its writer until it ends, for sessions that are not persistent; bound: the writer.
    package static let markWriter = "SELECT pg_advisory_xact_lock($1::BIGINT)"

    /// Returns the ID for querying the transaction's outcome later.
    package static let transactionToken = "SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)"
    /// Returns `committed`, `aborted`, `in progress`, or NULL if the server no longer knows the transaction; bound: the
    /// token.
    package static let transactionStatus = "SELECT pg_xact_status(CAST(CAST($1::BIGINT AS TEXT) AS xid8))"

    // MARK: Recording commits

    /// Returns 1 if transactions can record their commit in the store.
    package static let hasCommits = """
        SELECT 1 FROM (SELECT to_regclass('\(quoted(commits))') AS id) AS found WHERE has_table_privilege(id, 'SELECT') \
        AND has_table_privilege(id, 'INSERT') AND has_table_privilege(id, 'UPDATE')
        """
    /// Records the transaction's commit, unless its number was revoked; bound: the writer, and the number of the
    /// transaction.
    package static let noteCommit = noting("VALUES ($1, $2, statement_timestamp())")
    /// Records the commit if the schema version is the bound one; otherwise it records nothing.
    package static let noteCommitToSchema = noting(
        """
        SELECT $1::BIGINT, $2::BIGINT, statement_timestamp() FROM \(quoted("Z_METADATA")) \
        WHERE \(quoted("Z_VERSION")) = $3::BIGINT
        """)
    /// The same, with the version from the function.
    package static let noteCommitToSchemaNumber = noting(
        "SELECT $1::BIGINT, $2::BIGINT, statement_timestamp() WHERE \(callSchemaNumber) = $3::BIGINT")
    /// Returns whether a statement records a commit.
    package static func isNote(_ sql: String) -> Bool {
        sql == noteCommit || sql == noteCommitToSchema || sql == noteCommitToSchemaNumber
    }
    private static func noting(_ rows: String) -> String {
        """
        INSERT INTO \(quoted(commits)) (\(quoted("Z_PK")), \(quoted("Z_VERSION")), \(quoted("ZTIMESTAMP"))) \
        \(rows) ON CONFLICT (\(quoted("Z_PK"))) DO UPDATE SET \
        \(quoted("Z_VERSION")) = EXCLUDED.\(quoted("Z_VERSION")), \
        \(quoted("ZTIMESTAMP")) = EXCLUDED.\(quoted("ZTIMESTAMP")) \
        WHERE \(quoted(commits)).\(quoted("Z_VERSION")) < EXCLUDED.\(quoted("Z_VERSION"))
        """
    }
    /// Returns the last number that a writer has recorded, after waiting for any transaction that holds the writer's
    /// row. If the number is lower than that of the transaction in question, it is set to the transaction's number plus
    /// one. A transaction that is still in flight then finds nothing to record and fails. Bound: the writer, and the
    /// number of the transaction.
    package static let giveUpCommit = """
        INSERT INTO \(quoted(commits)) (\(quoted("Z_PK")), \(quoted("Z_VERSION")), \(quoted("ZTIMESTAMP"))) \
        VALUES ($1, $2::BIGINT + 1, statement_timestamp()) ON CONFLICT (\(quoted("Z_PK"))) DO UPDATE SET \
        \(quoted("Z_VERSION")) = CASE WHEN \(quoted(commits)).\(quoted("Z_VERSION")) < $2::BIGINT \
        THEN EXCLUDED.\(quoted("Z_VERSION")) ELSE \(quoted(commits)).\(quoted("Z_VERSION")) END, \
        \(quoted("ZTIMESTAMP")) = EXCLUDED.\(quoted("ZTIMESTAMP")) RETURNING \(quoted("Z_VERSION"))
        """
    /// Deletes the records of writers that have not committed for a week, except rows that are locked.
    package static let forgetCommits = """
        DELETE FROM \(quoted(commits)) WHERE \(quoted("Z_PK")) IN (SELECT \(quoted("Z_PK")) FROM \(quoted(commits)) \
        WHERE \(quoted("ZTIMESTAMP")) < statement_timestamp() - INTERVAL '7 days' FOR UPDATE SKIP LOCKED)
        """
    /// Terminates a lost session of this client; bound: its process ID and its start time.
    package static let endSession = """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
        WHERE pid = $1::BIGINT AND CAST(backend_start AS TEXT) = $2::TEXT
        """
    /// Terminates the session with a transaction of the writer; bound: the writer.
    package static let endSessionOfWriter = """
        SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted \
        AND CAST(classid AS BIGINT) = ($1::BIGINT >> 32) AND CAST(objid AS BIGINT) = ($1::BIGINT & 4294967295) \
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """
    /// Returns numbers that change with each commit, summed over all writers of the last week.
    package static let countCommits = """
        SELECT COUNT(*), CAST(SUM(CAST(\(quoted("Z_VERSION")) AS NUMERIC)) AS TEXT) FROM \(quoted(commits))
        """
    private static let commits = "Z_COMMITS"

    private static func quoted(_ name: String) -> String { SQLIdentifier.quoted(SQLNames.readable.stored(name)) }
}
