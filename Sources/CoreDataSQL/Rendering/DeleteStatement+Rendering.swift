extension DeleteStatement: SQLRenderable {
    package func render(with renderer: inout SQLRenderer) { renderer.delete(self) }
}

extension SQLRenderer {
    mutating func delete(_ statement: DeleteStatement) {
        text.append("DELETE FROM ")
        table(statement.table, as: statement.alias)
        condition(statement.condition)
        returning(statement.returning)
    }
}
