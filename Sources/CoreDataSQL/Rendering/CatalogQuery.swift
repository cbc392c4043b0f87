/// A query about the schema of a database, rendered for its dialect.
package enum CatalogQuery: Hashable, Sendable, CaseIterable, SQLRenderable {
    /// The names of the tables.
    case tableNames
    /// The names of the explicitly created indexes and triggers.
    case indexAndTriggerNames
    /// Kind (`table`, `index`, `trigger`), name, table, and the statement that created it if the database stores it.
    case texts
    /// Kind (`table`, `index`, `trigger`), name and column, one row per column; the columns of a table in order.
    case parts
    /// Table, column and declared type, in order.
    case columns
    /// Table, index, whether it is unique, whether it is partial (0 or 1), and the column (NULL for an expression); one
    /// row per column, in order.
    case indexes
    /// Table, constraint and its comment, for constraints of this library.
    case constraints

    package func render(with renderer: inout SQLRenderer) {
        switch renderer.dialect.catalog {
        case .master: renderer.text.append(verbatim: master)
        case .catalogs: renderer.text.append(verbatim: catalogs)
        }
    }

    private var master: String {
        switch self {
        case .tableNames: "SELECT name FROM sqlite_master WHERE type = 'table'"
        case .indexAndTriggerNames:
            "SELECT name FROM sqlite_master WHERE type IN ('index', 'trigger') AND name NOT LIKE 'sqlite%'"
        case .texts: "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
        case .parts:
            "SELECT m.type, m.name, p.name FROM sqlite_master AS m LEFT JOIN pragma_table_info(m.name) AS p ON m.type = 'table' ORDER BY m.rowid, p.cid"
        case .columns:
            "SELECT m.name, p.name, p.type FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS p WHERE m.type = 'table' ORDER BY m.rowid, p.cid"
        case .indexes:
            """
            SELECT m.name, l.name, l."unique", l.partial, i.name FROM sqlite_master AS m, pragma_index_list(m.name) AS l, \
            pragma_index_info(l.name) AS i WHERE m.type = 'table' ORDER BY m.rowid, l.seq, i.seqno
            """
        case .constraints: "SELECT NULL, NULL, NULL WHERE 0"
        }
    }

    /// The schema's tables with their names; the views of `information_schema` hide tables that a role must not use.
    private static let someTables = """
        pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
        WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')
        """
    private static let someTriggers = """
        pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
        WHERE n.nspname = current_schema() AND NOT t.tgisinternal
        """
    private static let tableColumns = """
        pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
        JOIN pg_type AS y ON y.oid = a.atttypid \
        WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
        """

    private var catalogs: String {
        switch self {
        case .tableNames: "SELECT CAST(c.relname AS TEXT) FROM \(Self.someTables)"
        case .indexAndTriggerNames:
            """
            SELECT CAST(indexname AS TEXT) FROM pg_indexes WHERE schemaname = current_schema() \
            UNION SELECT CAST(t.tgname AS TEXT) FROM \(Self.someTriggers)
            """
        case .texts:
            """
            SELECT 'table', CAST(c.relname AS TEXT), CAST(c.relname AS TEXT), CAST(NULL AS TEXT) FROM \(Self.someTables) \
            UNION ALL SELECT 'index', CAST(indexname AS TEXT), CAST(tablename AS TEXT), indexdef FROM pg_indexes \
            WHERE schemaname = current_schema() UNION ALL SELECT 'trigger', CAST(t.tgname AS TEXT), \
            CAST(c.relname AS TEXT), CAST(NULL AS TEXT) FROM \(Self.someTriggers)
            """
        case .parts:
            """
            SELECT kind, name, part FROM (SELECT 'table' AS kind, CAST(c.relname AS TEXT) AS name, \
            CAST(a.attname AS TEXT) AS part, CAST(a.attnum AS INTEGER) AS place FROM \(Self.tableColumns) \
            UNION ALL SELECT 'index', CAST(indexname AS TEXT), NULL, 0 FROM pg_indexes \
            WHERE schemaname = current_schema() UNION ALL SELECT 'trigger', CAST(t.tgname AS TEXT), NULL, 0 \
            FROM \(Self.someTriggers)) AS parts ORDER BY kind, name, place
            """
        case .columns:
            """
            SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT), REPLACE(format_type( \
            CASE WHEN y.typtype = 'd' THEN y.typbasetype ELSE a.atttypid END, NULL), '"', '') FROM \(Self.tableColumns) \
            ORDER BY c.relname, a.attnum
            """
        case .indexes:
            """
            SELECT t.relname, c.relname, CAST(x.indisunique AS INTEGER), CAST(x.indpred IS NOT NULL AS INTEGER), a.attname \
            FROM pg_index AS x JOIN pg_class AS t ON t.oid = x.indrelid JOIN pg_class AS c ON c.oid = x.indexrelid \
            JOIN pg_namespace AS n ON n.oid = t.relnamespace \
            CROSS JOIN LATERAL UNNEST(x.indkey) WITH ORDINALITY AS k(number, place) \
            LEFT JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = k.number \
            WHERE n.nspname = current_schema() ORDER BY t.relname, c.relname, k.place
            """
        case .constraints:
            """
            SELECT CAST(t.relname AS TEXT), CAST(c.conname AS TEXT), d.description FROM pg_constraint AS c \
            JOIN pg_description AS d ON d.objoid = c.oid AND d.classoid = CAST('pg_constraint' AS regclass) \
            JOIN pg_class AS t ON t.oid = c.conrelid JOIN pg_namespace AS n ON n.oid = t.relnamespace \
            WHERE n.nspname = current_schema() AND starts_with(d.description, '\(TableConstraint.mark)') ORDER BY 1, 2
            """
        }
    }
}
