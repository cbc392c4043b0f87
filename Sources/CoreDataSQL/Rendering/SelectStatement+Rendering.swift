extension SelectStatement: SQLRenderable {
    package func render(with renderer: inout SQLRenderer) { renderer.select(self) }
}

extension SQLRenderer {
    /// Writes a SELECT. The limit and the offset are bound, so that pages share one prepared statement.
    package mutating func select(_ statement: SelectStatement) {
        text.append(statement.isDistinct ? "SELECT DISTINCT " : "SELECT ")
        results(statement.columns)
        text.append(" FROM ")
        source(statement.source)
        for join in statement.joins {
            switch join.kind {
            case .leftOuter: text.append(" LEFT OUTER JOIN ")
            case .cross where dialect.crossJoinsInOrder: text.append(" CROSS JOIN ")
            case .inner, .cross: text.append(" JOIN ")
            }
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
        for other in statement.others {
            text.append(" UNION ALL ")
            select(other)
        }
        orders(statement.orders)
        if let limit = statement.limit {
            text.append(" LIMIT ")
            text.append(.integer(Int64(limit)))
        }
        if let offset = statement.offset, offset > 0 {
            if statement.limit == nil, dialect.offsetNeedsLimit { text.append(" LIMIT -1") }
            text.append(" OFFSET ")
            text.append(.integer(Int64(offset)))
        }
        switch statement.lock {
        case .share?: text.append(" FOR SHARE")
        case .update?: text.append(" FOR UPDATE")
        case nil: break
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

    /// Writes `ZITEM AS t0`; without the alias if it equals the table's name.
    mutating func table(_ name: String, as alias: String?) {
        text.append(identifier: name)
        guard let alias, !alias.isEmpty, alias != name else { return }
        text.append(" AS ")
        text.append(identifier: alias)
    }

    mutating func source(_ source: SelectStatement.Source) {
        if !source.arrays.isEmpty { return arrays(source) }
        if let members = source.members {
            self.members(members)
        } else if source.rows.isEmpty {
            text.append(identifier: source.table)
        } else {
            text.append("(")
            values(source.rows)
            text.append(")")
        }
        guard !source.alias.isEmpty, source.alias != source.table else { return }
        text.append(" ")
        text.append(identifier: source.alias)
    }

    /// Writes `UNNEST(?::BIGINT[], ?::TEXT[]) AS v(column1, column2)`.
    private mutating func arrays(_ source: SelectStatement.Source) {
        text.append("UNNEST(")
        for (index, type) in source.arrays.enumerated() {
            if index > 0 { text.append(", ") }
            text.append(.null, as: (type == .decimal ? "VARCHAR" : dialect.castTypes[type] ?? "") + "[]")
        }
        text.append(") AS ")
        text.append(identifier: source.alias)
        text.append("(")
        text.append(identifiers: source.arrays.indices.map(SelectStatement.Source.nameOfArray))
        text.append(")")
    }

    /// Writes the members of a JSON array as rows with a column `value`.
    private mutating func members(_ members: SelectStatement.Source.Members) {
        switch dialect.jsonArrays {
        case .members?, nil:
            text.append("json_each(")
            expression(members.array)
            text.append(")")
        case .texts?:
            text.append("(SELECT ")
            expression(.cast(.column("e", "value"), to: members.type))
            text.append(" AS ")
            text.append(identifier: "value")
            text.append(" FROM jsonb_array_elements_text(CAST(")
            expression(members.array)
            text.append(" AS JSONB)) AS e(value))")
        }
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
            if !dialect.sortsNullFirst { text.append(order.isAscending ? " NULLS FIRST" : " NULLS LAST") }
        }
    }
}
