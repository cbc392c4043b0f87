import CoreDataSQL

extension FetchPlanner {
    /// Returns the keys and relevance of the plan's rows that the index finds and that are not recorded as changed.
    func words(_ plan: FetchPlan, _ index: SearchIndex, _ ranking: WordTable.Ranking) throws -> SelectStatement {
        let fetch = try start(plan)
        let scope = fetch.scope
        let words = scope.join(.inner, index.name) {
            .comparison(.equal, .column($0, "rowid"), .column(scope.alias, "Z_PK"))
        }
        scope.require(.matches(.column(words, index.name), .bind(.text(ranking.query))))
        let noted = SelectStatement([.init(.column(nil, SearchIndex.keyColumn))], from: .init(index.log))
        scope.require(.not(.inSelect(.column(scope.alias, "Z_PK"), noted)))
        var statement = scope.select([
            .init(.column(scope.alias, "Z_PK")), .init(.column(scope.alias, "Z_ENT")),
            .init(ranking.relevance(of: words), as: WordTable.relevance),
        ])
        statement.orders = [
            .init(.column(nil, WordTable.relevance)), .init(.column(scope.alias, "Z_PK")),
        ]
        if plan.limit > 0 { statement.limit = plan.limit }
        if plan.offset > 0 { statement.offset = plan.offset }
        return statement
    }

    /// Returns the keys and texts of the plan's rows that are recorded as changed.
    func unindexed(
        _ plan: FetchPlan, _ index: SearchIndex, _ search: WordSearch, _ columns: WordColumns
    ) throws -> SelectStatement {
        let scope = try start(plan).scope
        let noted = SelectStatement([.init(.column(nil, SearchIndex.keyColumn))], from: .init(index.log))
        scope.require(.inSelect(.column(scope.alias, "Z_PK"), noted))
        let texts = search.slots.map { slot in
            columns.placeOfSlot[slot].map { SQLExpression.column(scope.alias, columns.names[$0]) } ?? .null
        }
        return scope.select([.column(scope.alias, "Z_PK"), .column(scope.alias, "Z_ENT")] + texts)
    }
}
