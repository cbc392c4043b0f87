import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

// Searching by words.
extension StoreEngine {
    package func wordColumns(ofEntity entity: Int) -> WordColumns? {
        wordIndex(ofEntity: entity).map { columns(of: $0, entity: entity) }
    }

    private func wordIndex(ofEntity entity: Int) -> SearchIndex? {
        guard let table = layout.entities[entity]?.table else { return nil }
        return layout.searchIndexes.first { $0.tokens == .words && $0.table == table }
    }

    private func columns(of index: SearchIndex, entity: Int) -> WordColumns {
        var places: [Int: Int] = [:]
        for property in model.entities[entity].properties where property.attribute != nil {
            let column = model.entities[entity].rowLayout.columnOfSlot[property.slot]
            guard column >= 0, let name = layout.entities[entity]?.columnNames[column] else { continue }
            places[property.slot] = index.columns.firstIndex(of: name)
        }
        return WordColumns(names: index.columns, placeOfSlot: places)
    }

    /// The rows of the plan in which the index finds the words, the best first; the plan's order does not count.
    ///
    ///     // SELECT t0.Z_PK, t0.Z_ENT, bm25(t1.OCD_WORDS_ZNOTE, ?) AS relevance FROM ZNOTE t0
    ///     // JOIN OCD_WORDS_ZNOTE t1 ON t1.rowid = t0.Z_PK WHERE … AND t1.OCD_WORDS_ZNOTE MATCH ? ORDER BY relevance, t0.Z_PK LIMIT ?
    ///     // SELECT rowid, snippet(OCD_WORDS_ZNOTE, 0, ?, ?, ?, ?) FROM OCD_WORDS_ZNOTE WHERE OCD_WORDS_ZNOTE MATCH ? AND rowid IN (…)
    ///
    /// `nil` where the texts are in no such index.
    package func wordMatches(_ plan: FetchPlan, _ search: WordSearch) throws -> WordMatches? {
        guard let index = wordIndex(ofEntity: plan.entity) else { return nil }
        let columns = columns(of: index, entity: plan.entity)
        guard search.slots.allSatisfy({ columns.placeOfSlot[$0] != nil }) else { return nil }
        if let found = try wordMatches(plan, search, index, columns, lacksNothing: !isReadOnly) { return found }
        try bringUpToDate(index)
        return try wordMatches(plan, search, index, columns, lacksNothing: false)
    }

    /// As the index is now; `nil` where it lacks something and `lacksNothing` says that it must not.
    private func wordMatches(
        _ plan: FetchPlan, _ search: WordSearch, _ index: SearchIndex, _ columns: WordColumns, lacksNothing: Bool
    ) throws -> WordMatches? {
        let table = WordTable(name: index.name, columns: columns)
        return try database.read { connection in
            let isBehind = try index.isBehind(connection)
            if isBehind, lacksNothing { return nil }
            var result = WordMatches()
            let ranked = try planner.words(plan, index, table.ranking(search))
            for row in try connection.rows(ranked) {
                guard case .integer(let primaryKey) = row[0], case .integer(let number) = row[1] else { continue }
                let key = RowKey(entity: layout.ordinalByNumber[number] ?? plan.entity, primaryKey: primaryKey)
                result.matches.append(.init(key: key, relevance: row[2].real, excerpts: []))
            }
            let excerpts = try table.excerpts(of: result.matches.map(\.key.primaryKey), search, connection)
            for place in result.matches.indices {
                result.matches[place].excerpts = excerpts[result.matches[place].key.primaryKey] ?? []
            }
            guard isBehind else { return result }
            for row in try connection.rows(planner.unindexed(plan, index, search, columns)) {
                guard case .integer(let primaryKey) = row[0], case .integer(let number) = row[1] else { continue }
                let key = RowKey(entity: layout.ordinalByNumber[number] ?? plan.entity, primaryKey: primaryKey)
                result.unindexed.append((key, row.dropFirst(2).map(\.string)))
            }
            return result
        }
    }

    /// What others wrote comes into the index where that can be; where it cannot it is looked at apart.
    private func bringUpToDate(_ index: SearchIndex) throws {
        do {
            try database.write { try SearchIndexes.update([index], in: $0) }
        } catch let failure as SQLFailure where failure.kind == .busy || failure.kind == .readOnly {
            return
        }
    }
}

extension FetchPlanner {
    /// Keys and relevance of the plan's rows that the index finds and that are not noted as changed since.
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

    /// Keys and texts of the plan's rows that are noted as changed since.
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

extension SQLValue {
    fileprivate var real: Double {
        switch self {
        case .real(let value): value
        case .integer(let value): Double(value)
        default: 0
        }
    }

    var string: String? { if case .text(let text) = self { text } else { nil } }
}
