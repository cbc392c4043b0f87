import CoreDataModel
import CoreDataSQL

/// A full-text table that finds the rows of another table: by parts of the texts of one column, or by words of several
/// columns.
///
/// ```
///  ZITEM.ZNAME ── triggers ──▶ OCD_TRIGRAM_ZITEM_ZNAME_LOG ── saves of this library ──▶ OCD_TRIGRAM_ZITEM_ZNAME
///                              (keys of rows that changed)                  (rowid = Z_PK, text)
/// ```
/// The triggers only record keys in an ordinary table and use no optional SQLite features. So other programs can write
/// to the store, and their changes are recorded. If no key is recorded, the full-text table equals the column. A query
/// returns the rows that the table finds *and* the recorded rows, so it is always correct, also in a read-only store.
/// Saves of this library update the recorded rows in their own transaction, which keeps queries fast.
package struct SearchIndex: Hashable, Sendable {
    /// The table of rows, and its indexed columns: one for trigrams, all searched ones for words.
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

    /// The columns of the full-text table.
    var textColumns: [String] { tokens == .trigrams ? ["text"] : columns }

    /// The table of recorded keys.
    package var log: String { name + Self.suffixOfLog }

    // MARK: Creating

    /// Returns the statements that create it, empty.
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

    /// Returns the changes that drop all its existing parts.
    func removals(from catalog: SearchCatalog) -> [SchemaChange] {
        triggers.filter { catalog.has($0.name) }.map { .dropTrigger($0.name, on: table) }
            + [name, log].filter(catalog.has).map { .dropTable($0) }
    }

    // MARK: Filling

    /// The texts of a row in the full-text table.
    var texts: [SQLExpression] {
        let values = columns.map { SQLExpression.column("t", $0) }
        return tokens == .trigrams ? values.map { .function(.searchText, [$0]) } : values
    }

    /// Whether a row has any text.
    var hasText: SQLExpression { .any(columns.map { .isNotNull(.column("t", $0)) }) }

    private func insertion(_ rows: SelectStatement) -> InsertStatement {
        InsertStatement(into: name, columns: ["rowid"] + textColumns, from: rows)
    }

    /// Returns the insertion of every row that has a text.
    func filling() -> InsertStatement {
        var rows = SelectStatement(
            ([.column("t", "Z_PK")] + texts).map { .init($0) }, from: .init(table, as: "t"))
        rows.condition = hasText
        return insertion(rows)
    }

    /// Returns the statements that update the rows with recorded keys, in order.
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

    /// Returns whether keys are recorded.
    func isBehind(_ connection: any SQLConnection) throws -> Bool {
        var query = SelectStatement([.init(.integer(1))], from: .init(log))
        query.limit = 1
        return try !connection.rows(query).isEmpty
    }

    // MARK: Querying

    /// Returns the keys of possible matches: the rows that the trigram table finds, and the recorded ones.
    func candidates(_ query: String) -> SelectStatement {
        var found = SelectStatement([.init(.column(nil, "rowid"))], from: .init(name))
        found.condition = .matches(.column(nil, textColumns[0]), .bind(.text(query)))
        found.others = [SelectStatement([.init(.column(nil, Self.keyColumn))], from: .init(log))]
        return found
    }
}

/// The parts of a file that belong to search indexes, by name, with their statements in the file.
struct SearchCatalog {
    private(set) var texts: [String: String] = [:]
    private(set) var triggers: [String: String] = [:]

    init(_ parts: [CatalogPart]) {
        for part in parts where part.name.hasPrefix(SearchIndex.prefix) {
            texts[part.name] = part.text
            if part.kind == .trigger { triggers[part.name] = part.text }
        }
    }

    static func read(_ connection: any SQLConnection) throws -> SearchCatalog {
        SearchCatalog(try CatalogPart.all(in: connection))
    }

    func has(_ name: String) -> Bool { texts[name] != nil }

    /// Returns whether the index is complete. If another program's migration recreated its table, its triggers are
    /// missing, and its content may be stale.
    func isWhole(_ index: SearchIndex, in dialect: SQLDialect) throws -> Bool {
        try index.statements().allSatisfy { statement in
            try SchemaRenderer.texts(of: statement, in: dialect) == [texts[statement.name] ?? ""]
        }
    }

    /// The full-text tables of all existing indexes; FTS5 stores the texts of each in a separate table.
    var searchTables: [String] { texts.keys.filter { has($0 + "_content") }.sorted() }

    /// The full-text tables and their tables of recorded keys.
    var tables: [String] { searchTables + searchTables.map { $0 + SearchIndex.suffixOfLog }.filter(has) }
}
