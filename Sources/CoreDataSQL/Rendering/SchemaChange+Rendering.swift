extension SchemaChange: SQLRenderable {
    package func render(with renderer: inout SQLRenderer) { renderer.change(self) }
}

extension SQLRenderer {
    mutating func change(_ change: SchemaChange) {
        switch change {
        case .dropTable(let name):
            text.append("DROP TABLE ")
            text.append(identifier: name)
        case .renameTable(let name, let other):
            text.append("ALTER TABLE ")
            text.append(identifier: name)
            text.append(" RENAME TO ")
            text.append(identifier: other)
        case .addColumn(let column, let table):
            text.append("ALTER TABLE ")
            text.append(identifier: table)
            text.append(" ADD COLUMN ")
            text.append(identifier: column.name)
            text.append(" ")
            text.append(verbatim: dialect.columnTypes[column.type] ?? "")
        case .dropColumn(let column, let table):
            text.append("ALTER TABLE ")
            text.append(identifier: table)
            text.append(" DROP COLUMN ")
            text.append(identifier: column)
        case .dropIndex(let name):
            text.append(dialect.altersTables ? "DROP INDEX IF EXISTS " : "DROP INDEX ")
            text.append(identifier: name)
        case .dropTrigger(let name, _) where dialect.schema == .standard:
            // The trigger's body is a function with the same name; dropping it also drops the trigger.
            text.append("DROP FUNCTION ")
            text.append(identifier: name)
            text.append("() CASCADE")
        case .dropTrigger(let name, _):
            text.append("DROP TRIGGER ")
            text.append(identifier: name)
        case .addConstraint(let constraint): add(constraint)
        case .describeConstraint(let constraint):
            text.append("COMMENT ON CONSTRAINT ")
            text.append(identifier: constraint.name)
            text.append(" ON ")
            text.append(identifier: constraint.table)
            text.append(" IS ")
            text.append(quoted: TableConstraint.mark + constraint.words)
        case .validateConstraint(let name, let table): alter(table, " VALIDATE CONSTRAINT ", name)
        case .dropConstraint(let name, let table): alter(table, " DROP CONSTRAINT IF EXISTS ", name)
        case .moveTable(let name, let schema, let other): move("ALTER TABLE ", name, "", schema, other)
        case .moveFunction(let name, let schema, let other): move("ALTER FUNCTION ", name, "()", schema, other)
        case .dropFunction(let name):
            text.append("DROP FUNCTION IF EXISTS ")
            text.append(identifier: name)
            text.append("()")
        }
    }

    private mutating func alter(_ table: String, _ words: StaticString, _ name: String) {
        text.append("ALTER TABLE ")
        text.append(identifier: table)
        text.append(words)
        text.append(identifier: name)
    }

    /// Adds a constraint. References are checked at the end of the transaction, because rows are written in any order.
    private mutating func add(_ constraint: TableConstraint) {
        alter(constraint.table, " ADD CONSTRAINT ", constraint.name)
        switch constraint.rule {
        case .reference(let column, let other, let key):
            text.append(" FOREIGN KEY (")
            text.append(identifier: column)
            text.append(") REFERENCES ")
            text.append(identifier: other)
            text.append(" (")
            text.append(identifier: key)
            text.append(") DEFERRABLE INITIALLY DEFERRED")
        case .check(let condition):
            var values = SQLRenderer(dialect.inSchemas)
            values.writesConstants = true
            values.expression(condition)
            text.append(" CHECK (")
            text.append(verbatim: values.text.sql)
            text.append(")")
        }
        text.append(" NOT VALID")
    }

    private mutating func move(
        _ words: StaticString, _ name: String, _ parameters: StaticString, _ schema: String, _ other: String
    ) {
        text.append(words)
        text.append(quoted: schema, ".")
        text.append(identifier: name)
        text.append(parameters)
        text.append(" SET SCHEMA ")
        text.append(quoted: other, "")
    }
}
