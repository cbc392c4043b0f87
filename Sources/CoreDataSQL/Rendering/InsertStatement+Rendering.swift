extension InsertStatement: SQLRenderable {
    package func render(with renderer: inout SQLRenderer) { renderer.insert(self) }

    fileprivate var hasConflictClause: Bool { conflict != .fail && conflict != .stop }
}

extension SQLRenderer {
    mutating func insert(_ statement: InsertStatement) {
        text.append(
            statement.conflict == .stop && dialect.insertsUpToFailure ? "INSERT OR FAIL INTO " : "INSERT INTO ")
        text.append(identifier: statement.table)
        if !statement.columns.isEmpty {
            text.append(" (")
            text.append(identifiers: statement.columns)
            text.append(")")
        }
        switch statement.source {
        case .rows(let rows) where statement.columns.isEmpty && rows.allSatisfy(\.isEmpty):
            text.append(" DEFAULT VALUES")
        case .rows(let rows):
            text.append(" ")
            values(rows)
        case .select(let select):
            text.append(" ")
            var select = select
            // Without a WHERE, the parser would read ON CONFLICT as a join condition.
            if dialect.selectHidesConflict, statement.hasConflictClause, select.condition == nil {
                select.condition = .and([])
            }
            self.select(select)
        }
        switch statement.conflict {
        case .fail, .stop: break
        case .ignore: text.append(" ON CONFLICT DO NOTHING")
        case .update(let target, let assignments, let condition):
            text.append(" ON CONFLICT (")
            text.append(identifiers: target)
            text.append(") DO UPDATE SET ")
            self.assignments(assignments)
            self.condition(condition)
        }
        returning(statement.returning)
    }

    /// `VALUES (…), (…)`.
    mutating func values(_ rows: [[SQLExpression]]) {
        text.append("VALUES ")
        for (index, row) in rows.enumerated() {
            if index > 0 { text.append(", ") }
            list(row)
        }
    }
}
