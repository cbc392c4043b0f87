// The descriptions in a server's store for other programs: comments, and a view of its history.
extension ServerText {
    /// Returns one statement that writes all comments.
    package static func describe(_ comments: [SchemaComment], in dialect: SQLDialect) -> String {
        block(comments.map { text(of: $0, in: dialect) }.joined(), in: dialect)
    }

    private static func text(of comment: SchemaComment, in dialect: SQLDialect) -> String {
        var text = SQLText(in: dialect)
        text.append(comment.column == nil ? "COMMENT ON TABLE " : "COMMENT ON COLUMN ")
        text.append(identifier: comment.table)
        if let column = comment.column {
            text.append(".")
            text.append(identifier: column)
        }
        text.append(" IS ")
        text.append(quoted: comment.words)
        text.append("; ")
        return text.sql
    }

    private static func block(_ statements: String, in dialect: SQLDialect) -> String {
        let quote = StandardSchemaRenderer.quote(around: statements)
        return "DO \(quote) BEGIN \(statements)END \(quote)"
    }

    // MARK: View of the history

    /// The view with one row per change of the history, with its time as a `TIMESTAMPTZ` and with names instead of
    /// numbers.
    package static let historyView = "Z_HISTORY"

    /// Returns a row if no object has the view's name and the role may create objects in the schema.
    package static let lacksHistoryView = """
        SELECT 1 WHERE to_regclass('\(readable(historyView))') IS NULL AND has_schema_privilege(current_schema(), 'CREATE')
        """

    /// Makes the view unless an object has its name, and describes the history's tables.
    package static func makeHistoryView(in dialect: SQLDialect) -> String {
        let comments = [
            SchemaComment(
                on: "ATRANSACTION", "OpenCoreData: a row for each save that the history has; _history is easier to read"
            ),
            SchemaComment(on: "ATRANSACTION", "ZTIMESTAMP", "seconds since 2001-01-01 00:00 UTC"),
            SchemaComment(
                on: "ACHANGE", "OpenCoreData: the objects that a save has changed; _history is easier to read"),
            SchemaComment(on: "ACHANGE", "ZCHANGETYPE", "0 insertion, 1 update, 2 deletion"),
            SchemaComment(on: "ATRANSACTIONSTRING", "OpenCoreData: names of authors, contexts, processes and bundles"),
        ]
        return block(
            """
            IF to_regclass('\(readable(historyView))') IS NULL THEN CREATE VIEW \(readable(historyView)) AS \(selectHistory); \
            COMMENT ON VIEW \(readable(historyView)) IS '\(mark)the history, a row for each change'; END IF; \
            \(comments.map { text(of: $0, in: dialect) }.joined())
            """, in: dialect)
    }

    /// Drops the view, unless a user made it.
    package static let dropHistoryView = """
        DO $$ BEGIN IF starts_with(obj_description(to_regclass('\(readable(historyView))'), 'pg_class'), '\(mark)') \
        THEN DROP VIEW \(readable(historyView)); END IF; END $$
        """

    private static let mark = "OpenCoreData: "

    private static var selectHistory: String {
        func column(_ table: String, _ name: String) -> String { "\(table).\(readable(name))" }
        let names = [("ZAUTHOR", "a"), ("ZCONTEXTNAME", "x"), ("ZPROCESSID", "p"), ("ZBUNDLEID", "b")]
        let kinds =
            "CASE \(column("c", "ZCHANGETYPE")) WHEN 0 THEN 'insert' WHEN 1 THEN 'update' WHEN 2 THEN 'delete' END"
        let columns =
            [
                "\(column("t", "Z_PK")) AS \(readable("ZTRANSACTIONID"))",
                "TO_TIMESTAMP(\(column("t", "ZTIMESTAMP")) + 978307200) AS saved_at",
            ]
            + names.map { "COALESCE(\(column("t", $0)), \(column($1, "ZNAME"))) AS \(readable($0))" } + [
                "\(kinds) AS change", "\(column("e", "Z_NAME")) AS \(readable("ZENTITY"))", column("c", "ZENTITYPK"),
            ]
        let joins =
            [
                "JOIN \(readable("ACHANGE")) AS c ON \(column("c", "ZTRANSACTIONID")) = \(column("t", "Z_PK"))",
                "LEFT JOIN \(readable("Z_PRIMARYKEY")) AS e ON \(column("e", "Z_ENT")) = \(column("c", "ZENTITY"))",
            ]
            + names.map {
                "LEFT JOIN \(readable("ATRANSACTIONSTRING")) AS \($1) ON \(column($1, "Z_PK")) = \(column("t", $0 + "TS"))"
            }
        return
            "SELECT \(columns.joined(separator: ", ")) FROM \(readable("ATRANSACTION")) AS t \(joins.joined(separator: " "))"
    }

    private static func readable(_ name: String) -> String { SQLIdentifier.quoted(SQLNames.readable.stored(name)) }
}
