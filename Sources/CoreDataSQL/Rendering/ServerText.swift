/// What a driver says to a PostgreSQL server beside the statements of the engine.
package enum ServerText {
    // MARK: Transactions

    package static let beginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    package static let beginWriting = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
    /// The same in a session that says so of all its transactions: the server has less to read.
    package static let begin = "BEGIN"
    package static let commit = "COMMIT"
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

    // MARK: Telling of commits

    /// Has a session be told of commits to a schema, by those who tell.
    package static func listen(_ schema: String) -> String { "LISTEN \(SQLIdentifier.quoted(channel(schema)))" }
    /// Tells who listens, once the transaction is committed; bound: the channel.
    package static let tell = "SELECT pg_notify($1::TEXT, '')"
    /// Channels are a whole database's, and their names have 63 bytes.
    package static func channel(_ schema: String) -> String { SQLNames.readable.shortened("OpenCoreData \(schema)") }

    // MARK: Replicas

    /// Up to where the server has written what its replicas read.
    package static let position = "SELECT CAST(pg_current_wal_insert_lsn() AS TEXT)"
    /// 1 where a replica has read up to there; bound: the position.
    package static let hasReached = """
        SELECT 1 WHERE pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= CAST($1::TEXT AS pg_lsn)
        """
    /// Has a row where the server is a replica still.
    package static let isReplica = "SELECT 1 WHERE pg_is_in_recovery()"

    // MARK: Sessions

    /// Has names without a schema be those of one for as long as the session lasts, and tells whether this may use it, what the server is, by which number
    /// the schema is locked, and what the server knows the session by. What a session sets is told by the server as we read it.
    ///
    /// Bound: the schema's name, the number that the session was told to be known by (0 where that does not matter), and after how many milliseconds
    /// not to wait for a lock any more. In a session that has another number the settings end with the statement: a pooler would hand them on to others.
    ///
    /// - Parameters:
    ///   - knowsSessions: whether the server has what the session's columns tell, and `locksByNumber` whether it has locks that are no rows'; `NULL` where not.
    ///   - setsTransactions: whether the session is to say what its transactions are where they do not.
    package static func useSchema(knowsSessions: Bool, locksByNumber: Bool, setsTransactions: Bool) -> String {
        let isLocal = knowsSessions ? "$2::INTEGER <> 0 AND pg_backend_pid() <> $2::INTEGER" : "$2::INTEGER < 0"
        let transactions = """
            , set_config('default_transaction_isolation', 'read committed', \(isLocal)), \
            set_config('default_transaction_read_only', 'off', \(isLocal))
            """
        return """
            SELECT \(settings(isLocal: isLocal, lockTimeout: "$3")), \
            (SELECT CAST(has_schema_privilege(oid, 'USAGE') AS INTEGER) FROM pg_namespace WHERE nspname = $1::TEXT), version(), \
            \(locksByNumber ? "hashtextextended('OpenCoreData ' || $1::TEXT, 7)" : "NULL::BIGINT"), \
            \(knowsSessions ? sessionColumns : "NULL::BIGINT, NULL::TEXT")\(setsTransactions ? transactions : "")
            """
    }
    private static let sessionColumns = """
        CAST(pg_backend_pid() AS BIGINT), \
        (SELECT CAST(backend_start AS TEXT) FROM pg_stat_activity WHERE pid = pg_backend_pid())
        """
    /// The same for a transaction alone, where the next may be another session's; bound: the schema's name, and the milliseconds.
    package static let useSchemaInTransaction = "SELECT \(settings(isLocal: "true", lockTimeout: "$2"))"

    private static func settings(isLocal: String, lockTimeout: String) -> String {
        """
        set_config('search_path', quote_ident($1::TEXT), \(isLocal)), set_config('client_min_messages', 'notice', \(isLocal)), \
        set_config('coredata.reports', 'on', \(isLocal)), set_config('TimeZone', 'UTC', \(isLocal)), \
        set_config('lock_timeout', \(lockTimeout)::TEXT, \(isLocal))
        """
    }
    /// Whether the schema is there; bound: its name.
    package static let schemaExists = "SELECT 1 FROM pg_namespace WHERE nspname = $1::TEXT"
    package static func createSchema(_ name: String) -> String {
        "CREATE SCHEMA IF NOT EXISTS \(SQLIdentifier.quoted(name))"
    }
    /// Has a schema say what it is, to whoever asks for it.
    package static func describe(schema name: String, _ description: String, in dialect: SQLDialect) -> String {
        var text = SQLText(in: dialect)
        text.append("COMMENT ON SCHEMA ")
        text.append(quoted: name, " IS ")
        text.append(quoted: description)
        return text.sql
    }
    /// The schemas that say what begins so, and all that they say; bound: the beginning.
    package static let describedSchemas = """
        SELECT CAST(nspname AS TEXT), obj_description(oid, 'pg_namespace') FROM pg_namespace \
        WHERE starts_with(obj_description(oid, 'pg_namespace'), $1::TEXT) ORDER BY 1
        """
    /// Fails where something is in it.
    package static func dropEmptySchema(_ name: String) -> String {
        "DROP SCHEMA IF EXISTS \(SQLIdentifier.quoted(name)) RESTRICT"
    }
    package static func dropSchema(_ name: String) -> String {
        "DROP SCHEMA IF EXISTS \(SQLIdentifier.quoted(name)) CASCADE"
    }

    /// A number that whoever changes the schema makes another one.
    package static let schemaVersion = "SELECT \(quoted("Z_VERSION")) FROM \(quoted("Z_METADATA"))"
    package static let changeSchemaVersion =
        "UPDATE \(quoted("Z_METADATA")) SET \(quoted("Z_VERSION")) = \(quoted("Z_VERSION")) + 1"
    /// The same as a column beside others, of one state of the database.
    package static let schemaVersionColumn = SQLExpression.scalar(
        SelectStatement([.init(.column(nil, "Z_VERSION"))], from: .init("Z_METADATA")))

    /// The number as the constant of a function: a query that is planned has it, and is planned anew once the function is another.
    static let callSchemaNumber = "CAST(\(quoted(schemaNumber))() AS BIGINT)"
    /// 1 where this may call the function.
    package static let hasSchemaNumber = """
        SELECT 1 FROM (SELECT to_regprocedure('\(quoted(schemaNumber))()') AS id) AS found \
        WHERE has_function_privilege(id, 'EXECUTE')
        """
    /// What it says.
    package static let selectSchemaNumber = "SELECT \(callSchemaNumber)"
    package static let dropSchemaNumber = "DROP FUNCTION \(quoted(schemaNumber))()"
    /// Has a row where that is the number by the function; bound: the number.
    package static let schemaNumberIs = "SELECT 1 WHERE \(callSchemaNumber) = $1::BIGINT"
    /// Whether a statement calls it.
    package static func asksSchemaNumber(_ sql: String) -> Bool { sql.contains(callSchemaNumber) }
    /// Has the function be there, and be another whenever anybody changes the number, in whichever way.
    package static let keepSchemaNumber = [
        """
        CREATE FUNCTION \(quoted(schemaNumbered))() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN EXECUTE FORMAT( \
        'CREATE OR REPLACE FUNCTION %I.\(quoted(schemaNumber))() RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS %L', \
        TG_TABLE_SCHEMA, FORMAT('SELECT CAST(%s AS BIGINT)', CAST(NEW.\(quoted("Z_VERSION")) AS BIGINT))); RETURN NULL; END $$
        """,
        """
        CREATE TRIGGER \(quoted(schemaNumbered)) AFTER INSERT OR UPDATE OF \(quoted("Z_VERSION")) \
        ON \(quoted("Z_METADATA")) FOR EACH ROW EXECUTE FUNCTION \(quoted(schemaNumbered))()
        """,
        // Where rows come from another server, too.
        "ALTER TABLE \(quoted("Z_METADATA")) ENABLE ALWAYS TRIGGER \(quoted(schemaNumbered))",
    ]
    /// The function, and the trigger with the one that it runs.
    package static let schemaNumber = "Z_SCHEMA_NUMBER"
    package static let schemaNumbered = "Z_SCHEMA_NUMBERED"

    /// Waits for all who read from the tables, and keeps them out until the transaction ends.
    package static func lock(tables: [String]) -> String {
        "LOCK TABLE \(tables.map(quoted).joined(separator: ", ")) IN ACCESS EXCLUSIVE MODE"
    }
    /// Has a row where that is the number; bound: the number.
    package static let schemaVersionIs = "SELECT 1 FROM \(quoted("Z_METADATA")) WHERE \(quoted("Z_VERSION")) = $1"

    package static func forget(_ statement: String) -> String { "DEALLOCATE \(SQLIdentifier.quoted(statement))" }

    package static let explain = "EXPLAIN "
    package static let analyze = "ANALYZE"
    package static let vacuum = "VACUUM"

    /// What the server says of itself: names and values.
    package static let settings =
        settingsWithoutSizes + """
             \
            UNION ALL SELECT 'bytes', CAST(SUM(pg_total_relation_size(c.oid)) AS TEXT) FROM pg_class AS c \
            JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = current_schema()
            """
    package static let settingsWithoutSizes = """
        SELECT name, setting FROM pg_settings WHERE name IN ('server_version', 'server_encoding', 'lc_collate', \
        'TimeZone', 'max_connections', 'default_transaction_isolation', 'ssl') \
        UNION ALL SELECT 'schema', current_schema() UNION ALL SELECT 'database', current_database()
        """

    // MARK: Rights

    package static let rightToRead = "SELECT"

    /// The right that a statement on rows asks for, as it is granted; `nil` for others.
    package static func right(toRun sql: String) -> String? {
        switch sql.prefix(while: { $0 != " " }).uppercased() {
        case "SELECT": sql.hasSuffix(" FOR UPDATE") || sql.hasSuffix(" FOR SHARE") ? "SELECT and UPDATE" : rightToRead
        case "INSERT": sql.contains(" DO UPDATE ") ? "SELECT, INSERT and UPDATE" : "INSERT"
        case "COPY": "INSERT"
        case "UPDATE": "SELECT and UPDATE"
        case "DELETE": "SELECT and DELETE"
        default: nil
        }
    }

    // MARK: Derived attributes

    /// What tells a trigger's notice from others.
    package static let reportState = "CD001"

    /// What a trigger says of a row whose derived attribute it has set: `12 7 1 sum`, by entity, key, whether the row was being
    /// inserted, and attribute.
    package static func report(_ message: String) -> DerivedAttributeReport? {
        let parts = message.split(separator: " ", maxSplits: 3).map(String.init)
        guard parts.count == 4, let entity = Int64(parts[0]), let key = Int64(parts[1]) else { return nil }
        return DerivedAttributeReport(
            table: "", entityNumber: entity, primaryKey: key, attribute: parts[3], value: .null,
            isInsertion: parts[2] == "1")
    }

    private static func quoted(_ name: String) -> String { SQLIdentifier.quoted(SQLNames.readable.stored(name)) }
}
