/// Writes the statements of a schema as PostgreSQL reads them: values as constants, the body of a trigger as a function.
struct StandardSchemaRenderer {
    let dialect: SQLDialect

    func texts(of statement: SchemaStatement) throws(SQLFailure) -> [String] {
        switch statement {
        case .table(let table): return [self.table(table)]
        case .index(let index): return [try self.index(index)]
        case .trigger(let trigger): return try self.trigger(trigger)
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

    /// Ascending columns have NULL first, as fetches sort them.
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

    /// Which rows it changed the server tells the session by notices, where that asks for them.
    private func trigger(_ trigger: CreateTrigger) throws(SQLFailure) -> [String] {
        var steps = ""
        for step in trigger.steps {
            switch step {
            case .update(let table, let column, let value, let condition):
                steps +=
                    "UPDATE \(name(table)) SET \(name(column)) = \(try expression(value)) WHERE \(try expression(condition)); "
            case .select(.function(.derivedAttributeUpdated, let arguments), let table, let condition):
                steps += try report(arguments, table, condition, isInsertion: false)
            case .select(.function(.derivedAttributeInserted, let arguments), let table, let condition):
                steps += try report(arguments, table, condition, isInsertion: true)
            case .select(let value, let table, let condition):
                steps +=
                    "PERFORM \(try expression(value)) FROM \(name(table)) WHERE \(try expression(condition)); "
            case .note(let value, let table, let column):
                let value = try expression(value)
                steps +=
                    """
                    INSERT INTO \(name(table)) (\(name(column))) SELECT \(value) WHERE NOT EXISTS \
                    (SELECT 1 FROM \(name(table)) WHERE \(name(column)) = \(value)); 
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
        return [
            """
            CREATE FUNCTION \(named)() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE changed record; \
            BEGIN \(steps)RETURN NULL; END $$
            """,
            """
            CREATE TRIGGER \(named) AFTER \(event) ON \(name(trigger.table)) FOR EACH ROW\(required ?? "") \
            EXECUTE FUNCTION \(named)()
            """,
        ]
    }

    /// Tells of each row; see ``ServerText/report(_:)``.
    private func report(
        _ arguments: [SQLExpression], _ table: String, _ condition: SQLExpression, isInsertion: Bool
    ) throws(SQLFailure) -> String {
        guard arguments.count > 3 else { return "" }
        let parts = [
            try expression(arguments[1]), "' '", try expression(arguments[2]), "' \(isInsertion ? 1 : 0) '",
            try expression(arguments[3]),
        ]
        return """
            IF current_setting('coredata.reports', true) = 'on' THEN \
            FOR changed IN SELECT CONCAT(\(parts.joined(separator: ", "))) AS report FROM \(name(table)) \
            WHERE \(try expression(condition)) LOOP \
            RAISE NOTICE USING ERRCODE = '\(ServerText.reportState)', MESSAGE = changed.report; \
            END LOOP; END IF; 
            """
    }

    private func expression(_ expression: SQLExpression) throws(SQLFailure) -> String {
        if let gap = expression.gap(in: dialect.inSchemas) {
            throw SQLFailure(kind: .other, code: 0, message: "the database cannot compute \(gap) in its schema")
        }
        var renderer = SQLRenderer(dialect.inSchemas)
        renderer.writesConstants = true
        renderer.expression(expression)
        return renderer.text.sql
    }

    private func name(_ name: String) -> String {
        var text = SQLText(in: dialect)
        text.append(identifier: name)
        return text.sql
    }

    private func names(_ names: [String]) -> String { names.map(name).joined(separator: ", ") }
}
