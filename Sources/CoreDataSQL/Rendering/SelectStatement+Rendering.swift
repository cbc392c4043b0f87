extension SelectStatement {
    /// The statement as text with its bound values.
    ///
    ///     let text = statement.text
    ///     let prepared = try connection.statement(text.sql)
    ///     try prepared.bind(text.bindings, at: 0)
    package var text: SQLText {
        var renderer = SQLRenderer()
        renderer.select(self)
        return renderer.text
    }
}

extension SQLRenderer {
    /// The limit and the offset are bound, so that pages share one prepared statement.
    package mutating func select(_ statement: SelectStatement) {
        text.append(statement.isDistinct ? "SELECT DISTINCT " : "SELECT ")
        results(statement.columns)
        text.append(" FROM ")
        source(statement.source)
        for join in statement.joins {
            text.append(verbatim: " \(join.kind.rawValue) ")
            source(join.source)
            text.append(" ON ")
            expression(join.condition)
        }
        condition(statement.condition)
        if !statement.groups.isEmpty {
            text.append(" GROUP BY ")
            for (index, group) in statement.groups.enumerated() {
                if index > 0 { text.append(", ") }
                expression(group)
            }
        }
        if let having = statement.having {
            text.append(" HAVING ")
            expression(having)
        }
        orders(statement.orders)
        if let limit = statement.limit {
            text.append(" LIMIT ")
            text.append(.integer(Int64(limit)))
        }
        if let offset = statement.offset, offset > 0 {
            // OFFSET alone is no SQLite.
            if statement.limit == nil { text.append(" LIMIT -1") }
            text.append(" OFFSET ")
            text.append(.integer(Int64(offset)))
        }
    }

    mutating func condition(_ condition: SQLExpression?) {
        guard let condition else { return }
        text.append(" WHERE ")
        expression(condition)
    }

    mutating func returning(_ columns: [SelectStatement.ResultColumn]) {
        guard !columns.isEmpty else { return }
        text.append(" RETURNING ")
        results(columns)
    }

    /// `ZITEM AS t0`; without the alias where it says nothing.
    mutating func table(_ name: String, as alias: String?) {
        text.append(identifier: name)
        guard let alias, !alias.isEmpty, alias != name else { return }
        text.append(" AS ")
        text.append(identifier: alias)
    }

    private mutating func source(_ source: SelectStatement.Source) {
        if source.rows.isEmpty {
            text.append(identifier: source.table)
        } else {
            text.append("(")
            values(source.rows)
            text.append(")")
        }
        if !source.arguments.isEmpty { list(source.arguments) }
        guard !source.alias.isEmpty, source.alias != source.table else { return }
        text.append(" ")
        text.append(identifier: source.alias)
    }

    private mutating func results(_ columns: [SelectStatement.ResultColumn]) {
        for (index, column) in columns.enumerated() {
            if index > 0 { text.append(", ") }
            expression(column.expression)
            if let alias = column.alias {
                text.append(" AS ")
                text.append(identifier: alias)
            }
        }
    }

    private mutating func orders(_ orders: [SelectStatement.Order]) {
        guard !orders.isEmpty else { return }
        text.append(" ORDER BY ")
        for (index, order) in orders.enumerated() {
            if index > 0 { text.append(", ") }
            expression(order.expression)
            if !order.isAscending { text.append(" DESC") }
        }
    }
}
