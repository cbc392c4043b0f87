import CoreDataSQL

// Statements of a session that the engine does not render: settings, notifications, replicas, schemas, housekeeping and
// permissions.
extension ServerText {
    // MARK: Notifications of commits

    /// Subscribes a session to notifications of commits to a schema.
    package static func listen(_ schema: String) -> String { "LISTEN \(SQLIdentifier.quoted(channel(schema)))" }
    /// Notifies listening sessions after the commit; bound: the channel.
    package static let tell = "SELECT pg_notify($1::TEXT, '')"

    // MARK: Replicas

    /// Returns the server's current position in the log that its replicas read.
    package static let position = "SELECT CAST(pg_current_wal_insert_lsn() AS TEXT)"
    /// Returns 1 if a replica has reached a position; bound: the position.
    package static let hasReached = """
        SELECT 1 WHERE pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= CAST($1::TEXT AS pg_lsn)
        """
    /// Returns a row if the server is still a replica.
    package static let isReplica = "SELECT 1 WHERE pg_is_in_recovery()"

    // MARK: Sessions

    /// Sets the search path to a schema for the rest of the session. Returns whether the role may use the schema, the
    /// server's version, the number of the schema's lock, and the session's identity. It also sets the formats in which
    /// this driver parses values.
    ///
    /// Bound: the schema's name, the process ID that the session was announced with (0 if it does not matter), and the
    /// lock timeout in milliseconds. If the session has another process ID, the settings apply only to this statement:
    /// a pooler would pass them on to other clients.
    ///
    /// - Parameters:
    ///   - knowsSessions: whether the server has the columns of sessions. `locksByNumber`: whether it has advisory
    ///     locks. Without them, the columns are `NULL`.
    ///   - setsTransactions: whether to set the default options of the session's transactions.
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
    /// Sets the search path for one transaction, where the next may run in another session; bound: the schema's name,
    /// and the milliseconds.
    package static let useSchemaInTransaction = "SELECT \(settings(isLocal: "true", lockTimeout: "$2"))"

    private static func settings(isLocal: String, lockTimeout: String) -> String {
        """
        set_config('search_path', quote_ident($1::TEXT), \(isLocal)), set_config('client_min_messages', 'notice', \(isLocal)), \
        set_config('coredata.reports', 'on', \(isLocal)), set_config('TimeZone', 'UTC', \(isLocal)), \
        set_config('lock_timeout', \(lockTimeout)::TEXT, \(isLocal))
        """
    }
    /// Returns a row if the schema exists; bound: its name.
    package static let schemaExists = "SELECT 1 FROM pg_namespace WHERE nspname = $1::TEXT"
    package static func createSchema(_ name: String) -> String {
        "CREATE SCHEMA IF NOT EXISTS \(SQLIdentifier.quoted(name))"
    }
    /// Writes a comment on a schema.
    package static func describe(schema name: String, _ description: String, in dialect: SQLDialect) -> String {
        var text = SQLText(in: dialect)
        text.append("COMMENT ON SCHEMA ")
        text.append(quoted: name, " IS ")
        text.append(quoted: description)
        return text.sql
    }
    /// Returns the schemas whose comment begins with a prefix, with their comments; bound: the prefix.
    package static let describedSchemas = """
        SELECT CAST(nspname AS TEXT), obj_description(oid, 'pg_namespace') FROM pg_namespace \
        WHERE starts_with(obj_description(oid, 'pg_namespace'), $1::TEXT) ORDER BY 1
        """
    /// Drops the schema; fails if it is not empty.
    package static func dropEmptySchema(_ name: String) -> String {
        "DROP SCHEMA IF EXISTS \(SQLIdentifier.quoted(name)) RESTRICT"
    }
    package static func dropSchema(_ name: String) -> String {
        "DROP SCHEMA IF EXISTS \(SQLIdentifier.quoted(name)) CASCADE"
    }

    // MARK: Schema version

    /// The version as a column next to others, from the same snapshot.
    package static let schemaVersionColumn = SQLExpression.scalar(
        SelectStatement([.init(.column(nil, "Z_VERSION"))], from: .init("Z_METADATA")))
    /// Returns a row if the version is the bound one.
    package static let schemaVersionIs = "SELECT 1 FROM \(quoted("Z_METADATA")) WHERE \(quoted("Z_VERSION")) = $1"

    /// Returns 1 if the role may call the function.
    package static let hasSchemaNumber = """
        SELECT 1 FROM (SELECT to_regprocedure('\(quoted(schemaNumber))()') AS id) AS found \
        WHERE has_function_privilege(id, 'EXECUTE')
        """
    /// Returns the function's version.
    package static let selectSchemaNumber = "SELECT \(callSchemaNumber)"
    /// Returns a row if the function's version is the bound one.
    package static let schemaNumberIs = "SELECT 1 WHERE \(callSchemaNumber) = $1::BIGINT"
    /// Returns whether a statement calls the function.
    package static func asksSchemaNumber(_ sql: String) -> Bool { sql.contains(callSchemaNumber) }
    /// Creates the function, and a trigger that replaces it after each change of the version by any client.
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
        // Also for rows that logical replication writes.
        "ALTER TABLE \(quoted("Z_METADATA")) ENABLE ALWAYS TRIGGER \(quoted(schemaNumbered))",
    ]

    // MARK: Housekeeping

    package static func forget(_ statement: String) -> String { "DEALLOCATE \(SQLIdentifier.quoted(statement))" }

    package static let explain = "EXPLAIN "
    package static let analyze = "ANALYZE"
    package static let vacuum = "VACUUM"

    /// Returns the server's settings: names and values.
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

    // MARK: Permissions

    package static let rightToRead = "SELECT"

    /// Returns the permission that a statement on rows needs, as in GRANT; `nil` for other statements.
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
