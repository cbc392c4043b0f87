import CoreDataSQL

// Statements of a session that are not the engine's: settings, notifications, replicas, schemas, housekeeping and rights.
extension ServerText {
    // MARK: Telling of commits

    /// Has a session be told of commits to a schema, by those who tell.
    package static func listen(_ schema: String) -> String { "LISTEN \(SQLIdentifier.quoted(channel(schema)))" }
    /// Tells who listens, once the transaction is committed; bound: the channel.
    package static let tell = "SELECT pg_notify($1::TEXT, '')"

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

    // MARK: The schema's number

    /// The number as a column beside others, of one state of the database.
    package static let schemaVersionColumn = SQLExpression.scalar(
        SelectStatement([.init(.column(nil, "Z_VERSION"))], from: .init("Z_METADATA")))
    /// Has a row where that is the number; bound: the number.
    package static let schemaVersionIs = "SELECT 1 FROM \(quoted("Z_METADATA")) WHERE \(quoted("Z_VERSION")) = $1"

    /// 1 where this may call the function.
    package static let hasSchemaNumber = """
        SELECT 1 FROM (SELECT to_regprocedure('\(quoted(schemaNumber))()') AS id) AS found \
        WHERE has_function_privilege(id, 'EXECUTE')
        """
    /// What it says.
    package static let selectSchemaNumber = "SELECT \(callSchemaNumber)"
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

    // MARK: Housekeeping

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
    private static func quoted(_ name: String) -> String { SQLIdentifier.quoted(SQLNames.readable.stored(name)) }
}
