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
        case .dropIndex(let name):
            text.append("DROP INDEX ")
            text.append(identifier: name)
        case .dropTrigger(let name, let table):
            text.append("DROP TRIGGER ")
            text.append(identifier: name)
            // In the standard a trigger belongs to its table.
            if dialect.schema == .standard {
                text.append(" ON ")
                text.append(identifier: table)
            }
        }
    }
}
