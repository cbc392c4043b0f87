/// Writes the statements of a schema as PostgreSQL reads them: values as constants, the body of a trigger as a function.
struct StandardSchemaRenderer {
    let dialect: SQLDialect

    func texts(of statement: SchemaStatement) throws(SQLFailure) -> [String] {
        switch statement {
        case .table(let table): return [self.table(table)]
        case .index(let index): return [try self.index(index)]
        case .trigger(let trigger): return try self.trigger(trigger)
        }
    }

    /// The collations that conditions and sorts ask for by name.
    var collations: [String] {
        let equality = SQLDialect.textCollations.map { collation, locale in
            "CREATE COLLATION IF NOT EXISTS \(name(collation)) (provider = icu, locale = '\(locale)', deterministic = false)"
        }
        let order = SQLDialect.sortCollations.compactMap { collation, locale in
            dialect.name(of: collation).map {
                "CREATE COLLATION IF NOT EXISTS \(name($0)) (provider = icu, locale = '\(locale)')"
            }
        }
        return equality + order
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

    /// Nobody on a server can be told by a function which rows changed, so that is left out.
    private func trigger(_ trigger: CreateTrigger) throws(SQLFailure) -> [String] {
        var steps = ""
        for step in trigger.steps {
            switch step {
            case .update(let table, let column, let value, let condition):
                steps +=
                    "UPDATE \(name(table)) SET \(name(column)) = \(try expression(value)) WHERE \(try expression(condition)); "
            case .select(.function(.derivedAttributeUpdated, _), _, _),
                .select(.function(.derivedAttributeInserted, _), _, _):
                break
            case .select(let value, let table, let condition):
                steps +=
                    "PERFORM \(try expression(value)) FROM \(name(table)) WHERE \(try expression(condition)); "
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
            "CREATE FUNCTION \(named)() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(steps)RETURN NULL; END $$",
            """
            CREATE TRIGGER \(named) AFTER \(event) ON \(name(trigger.table)) FOR EACH ROW\(required ?? "") \
            EXECUTE FUNCTION \(named)()
            """,
        ]
    }

    private func expression(_ expression: SQLExpression) throws(SQLFailure) -> String {
        if let gap = expression.gap(in: dialect) {
            throw SQLFailure(kind: .other, code: 0, message: "the database cannot compute \(gap) in its schema")
        }
        var renderer = SQLRenderer(dialect)
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
