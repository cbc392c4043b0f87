import CoreDataSQL

// Statements that begin and end transactions, lock the store, and record commits.
extension ServerText {
    // MARK: Transactions

    package static let beginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    package static let beginWriting = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
    package static let rollback = "ROLLBACK"

    /// One statement of several, which runs them in any order and fails where one that counts on a row changes, or gives, another number.
    ///
    /// - Parameter statements: each with the number of its parameters; those of the later ones are counted on.
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
        // A sum with a row that is not there is NULL, and two rows are no value: to count them costs the server more.
        let outcome = rows.isEmpty ? "1" : "1 / COALESCE(\(rows.joined(separator: " + ")), 0)"
        return "WITH \(parts.joined(separator: ", ")) SELECT \(outcome)"
    }

    /// The text with `$1` as `$5` where four others come first.
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

    /// A part of a transaction that may fail without it.
    package static let beginAttempt = "SAVEPOINT attempt"
    package static let endAttempt = "RELEASE SAVEPOINT attempt"
    package static let giveUpAttempt = "ROLLBACK TO SAVEPOINT attempt"

    /// What tells the state that a transaction sees from others.
    package static let snapshot = "SELECT CAST(pg_current_snapshot() AS TEXT)"
    /// A name for it, where the server has none.
    package static let unnamedSnapshot = "SELECT CAST(gen_random_uuid() AS TEXT)"

    /// Waits for all that write, and keeps them out until the transaction ends.
    ///
    /// - Parameter number: what ``useSchema(knowsSessions:locksByNumber:setsTransactions:)`` tells.
    package static func lockAlone(_ number: Int64) -> String { "SELECT pg_advisory_xact_lock(\(number))" }
    /// Waits for who has the other lock, and keeps them out until the transaction ends.
    package static func lockBeside(_ number: Int64) -> String { "SELECT pg_advisory_xact_lock_shared(\(number))" }

    /// The same two, where the server has no locks but those of rows: the store's own row is locked, once there is one.
    package static let lockRowAlone = "SELECT 1 FROM \(quoted("Z_METADATA")) FOR UPDATE"
    package static let lockRowBeside = "SELECT 1 FROM \(quoted("Z_METADATA")) FOR SHARE"
    /// Whether there is a store's row to lock.
    package static let hasMetadata = "SELECT 1 WHERE to_regclass('\(quoted("Z_METADATA"))') IS NOT NULL"

    /// A lock where nobody has it, without waiting; 1 or 0; bound: its name.
    package static let tryLock = "SELECT CAST(pg_try_advisory_xact_lock(hashtextextended($1::TEXT, 7)) AS INTEGER)"
    /// Has the transaction not be ended because nothing is asked of it for a while.
    package static let allowPauses = "SELECT set_config('idle_in_transaction_session_timeout', '0', true)"
    package static let isThere = "SELECT 1"

    /// Marks the transaction as the writer's, until it ends, where the session is not his; bound: the writer.
    package static let markWriter = "SELECT pg_advisory_xact_lock($1::BIGINT)"

    /// What tells later whether this transaction was committed.
    package static let transactionToken = "SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)"
    /// `committed`, `aborted`, `in progress`, or NULL for one that the server no longer knows; bound: the token.
    package static let transactionStatus = "SELECT pg_xact_status(CAST(CAST($1::BIGINT AS TEXT) AS xid8))"

    // MARK: Noting commits

    /// 1 where transactions can note in the store that they are committed.
    package static let hasCommits = """
        SELECT 1 FROM (SELECT to_regclass('\(quoted(commits))') AS id) AS found WHERE has_table_privilege(id, 'SELECT') \
        AND has_table_privilege(id, 'INSERT') AND has_table_privilege(id, 'UPDATE')
        """
    /// Has the transaction note that it is committed, unless it was given up; bound: the writer, and the number of the transaction.
    package static let noteCommit = noting("VALUES ($1, $2, statement_timestamp())")
    /// The same, where the schema is the one that is known; bound: its number, too. Else there is nothing to note yet.
    package static let noteCommitToSchema = noting(
        """
        SELECT $1::BIGINT, $2::BIGINT, statement_timestamp() FROM \(quoted("Z_METADATA")) \
        WHERE \(quoted("Z_VERSION")) = $3::BIGINT
        """)
    /// The same by the number's function.
    package static let noteCommitToSchemaNumber = noting(
        "SELECT $1::BIGINT, $2::BIGINT, statement_timestamp() WHERE \(callSchemaNumber) = $3::BIGINT")
    /// Whether a statement is one of these.
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
    /// Gives the number that a writer has noted last, once no transaction has his row any more. Where that is a lower one than his
    /// transaction's it becomes the one above, so that the transaction, which may still be on its way, finds nothing to note and fails.
    /// Bound: the writer, and the number of the transaction.
    package static let giveUpCommit = """
        INSERT INTO \(quoted(commits)) (\(quoted("Z_PK")), \(quoted("Z_VERSION")), \(quoted("ZTIMESTAMP"))) \
        VALUES ($1, $2::BIGINT + 1, statement_timestamp()) ON CONFLICT (\(quoted("Z_PK"))) DO UPDATE SET \
        \(quoted("Z_VERSION")) = CASE WHEN \(quoted(commits)).\(quoted("Z_VERSION")) < $2::BIGINT \
        THEN EXCLUDED.\(quoted("Z_VERSION")) ELSE \(quoted(commits)).\(quoted("Z_VERSION")) END, \
        \(quoted("ZTIMESTAMP")) = EXCLUDED.\(quoted("ZTIMESTAMP")) RETURNING \(quoted("Z_VERSION"))
        """
    /// Takes away what writers have noted of whom nothing was heard for a week, unless somebody has their rows.
    package static let forgetCommits = """
        DELETE FROM \(quoted(commits)) WHERE \(quoted("Z_PK")) IN (SELECT \(quoted("Z_PK")) FROM \(quoted(commits)) \
        WHERE \(quoted("ZTIMESTAMP")) < statement_timestamp() - INTERVAL '7 days' FOR UPDATE SKIP LOCKED)
        """
    /// Ends a session of one's own that is lost; bound: its process, and when it began.
    package static let endSession = """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
        WHERE pid = $1::BIGINT AND CAST(backend_start AS TEXT) = $2::TEXT
        """
    /// Ends the session that has a transaction of the writer's; bound: the writer.
    package static let endSessionOfWriter = """
        SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted \
        AND CAST(classid AS BIGINT) = ($1::BIGINT >> 32) AND CAST(objid AS BIGINT) = ($1::BIGINT & 4294967295) \
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """
    /// Numbers that differ once anybody has committed: a row for each who wrote in the last week.
    package static let countCommits = """
        SELECT COUNT(*), CAST(SUM(CAST(\(quoted("Z_VERSION")) AS NUMERIC)) AS TEXT) FROM \(quoted(commits))
        """
    private static let commits = "Z_COMMITS"

    private static func quoted(_ name: String) -> String { SQLIdentifier.quoted(SQLNames.readable.stored(name)) }
}
