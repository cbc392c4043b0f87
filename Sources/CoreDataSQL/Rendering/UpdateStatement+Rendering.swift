extension UpdateStatement: SQLRenderable {
    package func render(with renderer: inout SQLRenderer) { renderer.update(self) }
}

extension SQLRenderer {
    mutating func update(_ statement: UpdateStatement) {
        text.append("UPDATE ")
        table(statement.table, as: statement.alias)
        text.append(" SET ")
        assignments(statement.assignments)
        if let source = statement.source {
            text.append(" FROM ")
            self.source(source)
        }
        condition(statement.condition)
        returning(statement.returning)
    }

    mutating func assignments(_ assignments: [UpdateStatement.Assignment]) {
        for (index, assignment) in assignments.enumerated() {
            if index > 0 { text.append(", ") }
            text.append(identifier: assignment.column)
            text.append(" = ")
            expression(assignment.value)
        }
    }
}
