import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

// Full-text search.
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

    /// Returns the rows of the plan in which the index finds the words, best first; the plan's order is ignored.
    ///
    ///     // SELECT t0.Z_PK, t0.Z_ENT, bm25(t1.OCD_WORDS_ZNOTE, ?) AS relevance FROM ZNOTE t0
    ///     // JOIN OCD_WORDS_ZNOTE t1 ON t1.rowid = t0.Z_PK WHERE … AND t1.OCD_WORDS_ZNOTE MATCH ? ORDER BY relevance, t0.Z_PK LIMIT ?
    ///     // SELECT rowid, snippet(OCD_WORDS_ZNOTE, 0, ?, ?, ?, ?) FROM OCD_WORDS_ZNOTE WHERE OCD_WORDS_ZNOTE MATCH ? AND rowid IN (…)
    ///
    /// The result is `nil` if the texts have no such index.
    package func wordMatches(_ plan: FetchPlan, _ search: WordSearch) throws -> WordMatches? {
        guard let index = wordIndex(ofEntity: plan.entity) else { return nil }
        let columns = columns(of: index, entity: plan.entity)
        guard search.slots.allSatisfy({ columns.placeOfSlot[$0] != nil }) else { return nil }
        if let found = try wordMatches(plan, search, index, columns, lacksNothing: !isReadOnly) { return found }
        try bringUpToDate(index)
        return try wordMatches(plan, search, index, columns, lacksNothing: false)
    }

    /// Searches the current index; `nil` if it is incomplete although `lacksNothing` requires a complete one.
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

    /// Updates the index with other programs' changes if possible; otherwise these rows are searched separately.
    private func bringUpToDate(_ index: SearchIndex) throws {
        do {
            try database.write { try SearchIndexes.update([index], in: $0) }
        } catch let failure as SQLFailure where failure.kind == .busy || failure.kind == .readOnly {
            return
        }
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
