import CoreDataPrimitives
import CoreDataSQL

/// The queries on a word table.
struct WordTable {
    static let relevance = "relevance"
    /// The number of keys per statement.
    private static let portion = 256

    let name: String
    let columns: WordColumns

    struct Ranking {
        let table: String
        let query: String
        let weights: [Double]

        /// `bm25(alias.table, weight, …)`
        func relevance(of alias: String?) -> SQLExpression {
            .function(.relevance, [.column(alias, table)] + weights.map { .bind(.real($0)) })
        }
    }

    func ranking(_ search: WordSearch) -> Ranking {
        var weights = columns.names.map { _ in 1.0 }
        for (slot, weight) in zip(search.slots, search.weights) {
            if let place = columns.placeOfSlot[slot] { weights[place] = weight }
        }
        return Ranking(table: name, query: search.query(in: columns), weights: weights)
    }

    /// Returns the excerpts of the searched columns for each row.
    func excerpts(
        of keys: [Int64], _ search: WordSearch, _ connection: any SQLConnection
    ) throws -> [Int64: [String?]] {
        var result: [Int64: [String?]] = [:]
        var rest = keys[...]
        while !rest.isEmpty {
            var rows = select(search, [])
            rows.condition = .and([
                rows.condition ?? .and([]),
                .inList(.column(nil, "rowid"), rest.prefix(Self.portion).map { .bind(.integer($0)) }),
            ])
            rest = rest.dropFirst(Self.portion)
            for row in try connection.rows(rows) {
                guard case .integer(let key) = row[0] else { continue }
                result[key] = row.dropFirst().map(\.string)
            }
        }
        return result
    }

    /// Returns a query for every matching row, with the additional columns and the excerpts.
    func select(_ search: WordSearch, _ further: [SelectStatement.ResultColumn]) -> SelectStatement {
        let excerpts = search.slots.map { slot -> SQLExpression in
            guard let place = columns.placeOfSlot[slot] else { return .null }
            // An excerpt of NULL is a text; without an excerpt, the column shows whether it is NULL.
            let arguments: [SQLExpression] = [
                .column(nil, name), .integer(Int64(place)), .bind(.text(WordSearch.marks.before)),
                .bind(.text(WordSearch.marks.behind)), .bind(.text(WordSearch.ellipsis)),
                .integer(Int64(search.excerptLength)),
            ]
            return .caseWhen(
                [.init(.isNotNull(.column(nil, columns.names[place])), .function(.excerpt, arguments))],
                otherwise: .null)
        }
        var rows = SelectStatement(
            [.init(.column(nil, "rowid"))] + further + excerpts.map { .init($0) }, from: .init(name))
        rows.condition = .matches(.column(nil, name), .bind(.text(search.query(in: columns))))
        return rows
    }
}

/// A word table in memory, for texts that are not in a store's index: unsaved ones, and those of stores without an
/// index.
package final class ScratchWords {
    private static let name = "OCD_WORDS"
    private let database: any SQLDatabase
    private let columns: WordColumns

    package init(_ columns: WordColumns, makeDatabase: DatabaseFactory) throws {
        self.columns = columns
        database = try makeDatabase(DatabaseOptions(path: nil))
        let table = CreateSearchTable(Self.name, columns: columns.names, by: .words)
        try database.write { connection in
            for text in try SchemaRenderer.texts(of: .searchTable(table), in: connection.dialect) {
                try connection.execute(text)
            }
        }
    }

    deinit { database.close() }

    /// Adds texts of the `slots`.
    package func add(_ texts: [(id: Int64, texts: [String?])], slots: [Int]) throws {
        guard !texts.isEmpty else { return }
        let places = slots.compactMap { columns.placeOfSlot[$0] }
        let insertion = InsertStatement(
            into: Self.name, columns: ["rowid"] + places.map { columns.names[$0] },
            rows: [[.parameter] + places.map { _ in .parameter }])
        try database.write { connection in
            let statement = try connection.statement(insertion)
            defer { statement.reset() }
            for (id, texts) in texts {
                try statement.bind([.integer(id)] + texts.map { $0.map { .text($0) } ?? .null }, at: 0)
                try statement.run()
            }
        }
    }

    /// - Throws: ``SQLFailure`` for an invalid expression.
    package func check(_ expression: String) throws {
        var rows = SelectStatement([.init(.integer(1))], from: .init(Self.name))
        rows.condition = .matches(.column(nil, Self.name), .bind(.text(expression)))
        _ = try database.read { try $0.rows(rows) }
    }

    /// Returns the matches, best first; among equals, the smaller ID first.
    package func matches(_ search: WordSearch) throws -> [(id: Int64, relevance: Double, excerpts: [String?])] {
        let table = WordTable(name: Self.name, columns: columns)
        let relevance = table.ranking(search).relevance(of: nil)
        var rows = table.select(search, [.init(relevance, as: WordTable.relevance)])
        rows.orders = [.init(.column(nil, WordTable.relevance)), .init(.column(nil, "rowid"))]
        return try database.read { connection in
            try connection.rows(rows).compactMap { row in
                guard case .integer(let id) = row[0] else { return nil }
                let relevance = if case .real(let value) = row[1] { value } else { 0.0 }
                return (id, relevance, row.dropFirst(2).map(\.string))
            }
        }
    }
}
