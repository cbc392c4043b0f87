import CoreDataModel
import CoreDataSQL

/// A table of texts that finds the rows of another by what is in its columns: by parts of one, or by words of several.
///
/// ```
///  ZITEM.ZNAME ── triggers ──▶ OCD_TRIGRAM_ZITEM_ZNAME_LOG ── our saves ──▶ OCD_TRIGRAM_ZITEM_ZNAME
///                              (keys of rows that changed)                  (rowid = Z_PK, text)
/// ```
/// The triggers only note keys, in a plain table and with nothing that some SQLite may lack, so that whoever else writes to the
/// store can, and is not missed. Where nothing is noted the table of texts has what the column has. A query asks for what the
/// table finds *and* for what is noted, so it is right at any time, in a store that cannot be written to as well; our saves put
/// right what is noted in their own transaction, which keeps it fast.
package struct SearchIndex: Hashable, Sendable {
    /// The table of rows, and its columns: by parts of a text one, by words all that are searched.
    package let table: String
    package let columns: [String]
    package let tokens: CreateSearchTable.Tokens

    package static let prefix = "OCD_"
    static let keyColumn = "Z_PK"
    static let suffixOfLog = "_LOG"

    package init(trigramsOf column: String, in table: String) {
        self.table = table
        columns = [column]
        tokens = .trigrams
    }

    package init(wordsOf columns: [String], in table: String) {
        self.table = table
        self.columns = columns
        tokens = .words
    }

    package var name: String {
        switch tokens {
        case .trigrams: "\(Self.prefix)TRIGRAM_\(table)_\(columns[0])"
        case .words: "\(Self.prefix)WORDS_\(table)"
        }
    }

    /// The columns of the table of texts.
    var textColumns: [String] { tokens == .trigrams ? ["text"] : columns }

    /// The table of keys that are noted.
    package var log: String { name + Self.suffixOfLog }

    /// Those that a model asks for: of each column one for parts of texts, of each table one for words.
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

    // MARK: Making

    /// What makes it, empty.
    func statements() -> [SchemaStatement] {
        [
            .searchTable(CreateSearchTable(name, columns: textColumns, by: tokens)),
            .table(CreateTable(log, columns: [.init(Self.keyColumn, .rowKey)], hasInnerSpaces: false)),
        ] + triggers.map(SchemaStatement.trigger)
    }

    var triggers: [CreateTrigger] {
        func trigger(_ word: String, _ event: CreateTrigger.Event, _ row: String) -> CreateTrigger {
            CreateTrigger(
                "\(name)_\(word)", after: event, on: table,
                [.note(.column(row, "Z_PK"), in: log, column: Self.keyColumn)])
        }
        return [
            trigger("INSERT", .insert, "NEW"), trigger("UPDATE", .update(of: columns), "NEW"),
            trigger("DELETE", .delete, "OLD"),
        ]
    }

    /// What takes away whatever there is of it.
    func removals(from catalog: SearchCatalog) -> [SchemaChange] {
        triggers.filter { catalog.has($0.name) }.map { .dropTrigger($0.name, on: table) }
            + [name, log].filter(catalog.has).map { .dropTable($0) }
    }

    // MARK: Filling

    /// What the table of texts is to have of a row.
    var texts: [SQLExpression] {
        let values = columns.map { SQLExpression.column("t", $0) }
        return tokens == .trigrams ? values.map { .function(.searchText, [$0]) } : values
    }

    /// Whether a row has anything that may be found.
    var hasText: SQLExpression { .any(columns.map { .isNotNull(.column("t", $0)) }) }

    private func insertion(_ rows: SelectStatement) -> InsertStatement {
        InsertStatement(into: name, columns: ["rowid"] + textColumns, from: rows)
    }

    /// Every row that has a text.
    func filling() -> InsertStatement {
        var rows = SelectStatement(
            ([.column("t", "Z_PK")] + texts).map { .init($0) }, from: .init(table, as: "t"))
        rows.condition = hasText
        return insertion(rows)
    }

    /// What brings the rows up to date whose keys are noted, in order.
    func updates(in dialect: SQLDialect) -> [SQLText] {
        let keys = SelectStatement([.init(.column(nil, Self.keyColumn))], from: .init(log))
        let removal = DeleteStatement(from: name, where: .inSelect(.column(nil, "rowid"), keys))
        var rows = SelectStatement(([.column("t", "Z_PK")] + texts).map { .init($0) }, from: .init(log, as: "l"))
        rows.joins = [
            .init(
                .cross, .init(table, as: "t"),
                on: .comparison(.equal, .column("t", "Z_PK"), .column("l", Self.keyColumn)))
        ]
        rows.condition = hasText
        return [
            removal.text(in: dialect), insertion(rows).text(in: dialect), DeleteStatement(from: log).text(in: dialect),
        ]
    }

    /// Whether a key is noted.
    func isBehind(_ connection: any SQLConnection) throws -> Bool {
        var query = SelectStatement([.init(.integer(1))], from: .init(log))
        query.limit = 1
        return try !connection.rows(query).isEmpty
    }

    // MARK: Asking

    /// The keys of the rows that may be meant: what the table finds of parts of texts, and what is noted.
    func candidates(_ query: String) -> SelectStatement {
        var found = SelectStatement([.init(.column(nil, "rowid"))], from: .init(name))
        found.condition = .matches(.column(nil, textColumns[0]), .bind(.text(query)))
        found.others = [SelectStatement([.init(.column(nil, Self.keyColumn))], from: .init(log))]
        return found
    }
}

/// The parts of a file that belong to search indexes, by their names, with the statements that made them as the file keeps them.
struct SearchCatalog {
    private(set) var texts: [String: String] = [:]
    private(set) var triggers: [String: String] = [:]

    init(_ parts: [MigrationSource.Part]) {
        for part in parts where part.name.hasPrefix(SearchIndex.prefix) {
            texts[part.name] = part.text
            if part.kind == .trigger { triggers[part.name] = part.text }
        }
    }

    static func read(_ connection: any SQLConnection) throws -> SearchCatalog {
        SearchCatalog(try MigrationSource.parts(connection))
    }

    func has(_ name: String) -> Bool { texts[name] != nil }

    /// Whether the index is there whole. Where its table was made anew, by a migration of others, its triggers are gone, and with
    /// them the certainty that it has what the column has.
    func isWhole(_ index: SearchIndex, in dialect: SQLDialect) throws -> Bool {
        try index.statements().allSatisfy { statement in
            try SchemaRenderer.texts(of: statement, in: dialect) == [texts[statement.name] ?? ""]
        }
    }

    /// The tables of texts of all indexes that are there; FTS5 keeps the texts of each in a table of their own.
    var searchTables: [String] { texts.keys.filter { has($0 + "_content") }.sorted() }

    /// Those and their notes.
    var tables: [String] { searchTables + searchTables.map { $0 + SearchIndex.suffixOfLog }.filter(has) }
}
