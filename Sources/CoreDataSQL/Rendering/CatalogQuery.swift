/// A question about the schema of a database, in the words that its dialect has for it.
package enum CatalogQuery: Hashable, Sendable, CaseIterable, SQLRenderable {
    /// The names of the tables.
    case tableNames
    /// The names of the indexes and triggers that somebody made.
    case indexAndTriggerNames
    /// Kind (`table`, `index`, `trigger`), name, table, and the text that made it where the database keeps that.
    case texts
    /// Kind (`table`, `index`, `trigger`), name and, a row for each, column; the columns of a table in order.
    case parts
    /// Table, column and declared type, in order.
    case columns
    /// Table, index, whether it is unique, whether it is partial (0 or 1), and the column: NULL for an expression. A row for
    /// each column, in order.
    case indexes
    /// Table, constraint, and what it says of itself: those of ours.
    case constraints

    package func render(with renderer: inout SQLRenderer) {
        switch renderer.dialect.catalog {
        case .master: renderer.text.append(verbatim: master)
        case .informationSchema: renderer.text.append(verbatim: informationSchema)
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

    private var informationSchema: String {
        switch self {
        case .tableNames:
            "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'"
        case .indexAndTriggerNames:
            """
            SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() UNION SELECT trigger_name FROM \
            information_schema.triggers WHERE trigger_schema = current_schema()
            """
        case .texts:
            """
            SELECT 'table', table_name, table_name, CAST(NULL AS TEXT) FROM information_schema.tables \
            WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' \
            UNION ALL SELECT 'index', indexname, tablename, indexdef FROM pg_indexes WHERE schemaname = current_schema() \
            UNION ALL SELECT 'trigger', trigger_name, event_object_table, CAST(NULL AS TEXT) FROM \
            information_schema.triggers WHERE trigger_schema = current_schema()
            """
        case .parts:
            """
            SELECT kind, name, part FROM (SELECT 'table' AS kind, table_name AS name, column_name AS part, \
            ordinal_position AS place FROM information_schema.columns JOIN information_schema.tables \
            USING (table_catalog, table_schema, table_name) WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' \
            UNION ALL SELECT 'index', indexname, NULL, 0 FROM pg_indexes WHERE schemaname = current_schema() \
            UNION ALL SELECT 'trigger', trigger_name, NULL, 0 FROM information_schema.triggers \
            WHERE trigger_schema = current_schema()) AS parts ORDER BY kind, name, place
            """
        case .columns:
            """
            SELECT table_name, column_name, REPLACE(CAST(data_type AS TEXT), '"', '') FROM information_schema.columns \
            WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position
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
