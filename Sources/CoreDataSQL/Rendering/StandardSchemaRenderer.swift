/// Writes the statements of a schema for PostgreSQL: values as constants, the body of a trigger as a function.
struct StandardSchemaRenderer {
    let dialect: SQLDialect

    func texts(of statement: SchemaStatement) throws(SQLFailure) -> [String] {
        switch statement {
        case .table(let table): return [self.table(table)]
        case .index(let index): return [try self.index(index)]
        case .trigger(let trigger): return try self.trigger(trigger)
        case .rTree(let tree): return [try index(tree.substitute)]
        case .searchTable(let table):
            throw SQLFailure(
                kind: .other, code: 0, message: "the database has no table of searched texts, as \(table.name) is to be"
            )
        }
    }

    private func table(_ table: CreateTable) -> String {
        var parts = table.columns.map { "\(name($0.name)) \(dialect.columnTypes[$0.type] ?? "")" }
        if !table.primaryKey.isEmpty { parts.append("PRIMARY KEY (\(names(table.primaryKey)))") }
        return "CREATE TABLE \(name(table.name)) (\(parts.joined(separator: ", ")))"
    }

    /// Writes an index. Ascending columns sort NULL first, as fetches do.
    private func index(_ index: CreateIndex) throws(SQLFailure) -> String {
        let nulls = dialect.sortsNullFirst ? ("", "") : (" NULLS FIRST", " NULLS LAST")
        let columns = index.columns.map { column in
            switch column.isAscending {
            case nil: name(column.name)
            case true?: "\(name(column.name)) ASC\(nulls.0)"
            case false?: "\(name(column.name)) DESC\(nulls.1)"
            }
        }
        let kind = index.isUnique ? "CREATE UNIQUE INDEX" : "CREATE INDEX"
        var text = "\(kind) \(name(index.name)) ON \(name(index.table)) (\(columns.joined(separator: ", ")))"
        if let condition = index.condition { text += " WHERE \(try expression(condition))" }
        return text
    }

    /// Writes a trigger. If the session enables it, the server reports the changed rows in notices.
    private func trigger(_ trigger: CreateTrigger) throws(SQLFailure) -> [String] {
        var steps = ""
        for step in trigger.steps {
            switch step {
            case .update(let table, let column, let value, let condition):
                steps +=
                    "UPDATE \(name(table)) SET \(name(column)) = \(try expression(value, of: table)) WHERE \(try expression(condition, of: table)); "
            case .select(.function(.derivedAttributeUpdated, let arguments), let table, let condition):
                steps += try report(arguments, table, condition, isInsertion: false)
            case .select(.function(.derivedAttributeInserted, let arguments), let table, let condition):
                steps += try report(arguments, table, condition, isInsertion: true)
            case .select(let value, let table, let condition):
                steps +=
                    "PERFORM \(try expression(value, of: table)) FROM \(name(table)) WHERE \(try expression(condition, of: table)); "
            case .note(let value, let table, let column):
                let value = try expression(value)
                steps +=
                    """
                    INSERT INTO \(name(table)) (\(name(column))) SELECT \(value) WHERE NOT EXISTS \
                    (SELECT 1 FROM \(name(table)) WHERE \(name(table)).\(name(column)) = \(value)); 
                    """
            }
        }
        let event =
            switch trigger.event {
            case .insert: "INSERT"
            case .delete: "DELETE"
            case .update(let columns): columns.isEmpty ? "UPDATE" : "UPDATE OF \(names(columns))"
            }
        let required = try trigger.requiredColumn.map { column throws(SQLFailure) in
            " WHEN (\(try expression(.isNotNull(column))))"
        }
        let named = name(trigger.name)
        let quote = Self.quote(around: steps)
        return [
            """
            CREATE FUNCTION \(named)() RETURNS trigger LANGUAGE plpgsql AS \(quote) DECLARE \(Self.reported) record; \
            \(Self.path) text := current_setting('search_path'); \
            BEGIN \(Self.setPath("quote_ident(TG_TABLE_SCHEMA)"))\(steps)\(Self.setPath(Self.path))RETURN NULL; END \(quote)
            """,
            """
            CREATE TRIGGER \(named) AFTER \(event) ON \(name(trigger.table)) FOR EACH ROW\(required ?? "") \
            EXECUTE FUNCTION \(named)()
            """,
        ]
    }

    /// The alias of the reported rows in the trigger; no table may have this name: ``SQLNames/wordsOfTriggers``.
    private static var reported: String { SQLIdentifier.quoted("_reported") }

    /// The variable for the search path of the writer's session. The trigger's statements use the store's schema,
    /// regardless of the writer and of the schema's current name.
    private static var path: String { SQLIdentifier.quoted("_path_of_writer") }

    private static func setPath(_ value: String) -> String {
        """
        IF \(path) <> quote_ident(TG_TABLE_SCHEMA) THEN PERFORM set_config('search_path', \(value), true); END IF; 
        """
    }

    /// Returns a dollar quote that the text does not contain: `$$`, `$1$`, …
    static func quote(around text: String) -> String {
        var number = 0
        var quote = "$$"
        while text.contains(quote) {
            number += 1
            quote = "$t\(number)$"
        }
        return quote
    }

    /// Reports each row; see ``ServerText/report(_:)``.
    private func report(
        _ arguments: [SQLExpression], _ table: String, _ condition: SQLExpression, isInsertion: Bool
    ) throws(SQLFailure) -> String {
        guard arguments.count > 3 else { return "" }
        let parts = [
            try expression(arguments[1], of: table), "' '", try expression(arguments[2], of: table),
            "' \(isInsertion ? 1 : 0) '", try expression(arguments[3], of: table),
        ]
        return """
            IF current_setting('coredata.reports', true) = 'on' THEN \
            FOR \(Self.reported) IN SELECT CONCAT(\(parts.joined(separator: ", "))) AS report FROM \(name(table)) \
            WHERE \(try expression(condition, of: table)) LOOP \
            RAISE NOTICE USING ERRCODE = '\(ServerText.reportState)', MESSAGE = \(Self.reported).report; \
            END LOOP; END IF; 
            """
    }

    /// - Parameter table: the table of unqualified columns in a trigger: keywords of its language may be column names.
    private func expression(_ expression: SQLExpression, of table: String? = nil) throws(SQLFailure) -> String {
        if let gap = expression.unsupportedFeature(in: dialect.inSchemas) {
            throw SQLFailure(kind: .other, code: 0, message: "the database cannot compute \(gap) in its schema")
        }
        var renderer = SQLRenderer(dialect.inSchemas)
        renderer.writesConstants = true
        renderer.ownTable = table
        renderer.expression(expression)
        let text = renderer.text.sql
        // The driver's text would end at a NUL.
        guard !text.utf8.contains(0) else {
            throw SQLFailure(
                kind: .other, code: 0, message: "a text in the schema has the character U+0000, which no server takes")
        }
        return text
    }

    private func name(_ name: String) -> String {
        var text = SQLText(in: dialect)
        text.append(identifier: name)
        return text.sql
    }

    private func names(_ names: [String]) -> String { names.map(name).joined(separator: ", ") }
}
