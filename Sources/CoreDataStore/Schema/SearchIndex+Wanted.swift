import CoreDataModel

extension SearchIndex {
    /// Returns the search indexes that a model requests: a trigram index per column, and a word index per table.
    package static func wanted(model: CompiledModel, layout: StoreLayout) -> [SearchIndex] {
        var indexes: [SearchIndex] = []
        var tables: [String] = []
        var words: [String: [String]] = [:]
        for (ordinal, entity) in model.entities.enumerated() {
            guard let stored = layout.entities[ordinal] else { continue }
            for property in entity.properties where property.declaringEntity == ordinal {
                guard let kinds = property.attribute?.searchIndexes, !kinds.isEmpty else { continue }
                let place = entity.rowLayout.columnOfSlot[property.slot]
                guard place >= 0, let column = stored.columnNames[place] else { continue }
                if kinds.contains(.trigram) { indexes.append(SearchIndex(trigramsOf: column, in: stored.table)) }
                guard kinds.contains(.words) else { continue }
                if words[stored.table] == nil { tables.append(stored.table) }
                words[stored.table, default: []].append(column)
            }
        }
        return indexes + tables.map { SearchIndex(wordsOf: words[$0] ?? [], in: $0) }
    }
}
