import CoreDataSQL

/// The content of a database file: tables with their columns, indexes, triggers. Names are found ignoring case, as in
/// SQLite.
package struct StoreCatalog: Sendable {
    package struct Table: Sendable {
        package var name: String
        package var columns: [String]
        private let columnByKey: [String: String]

        package init(name: String, columns: [String]) {
            self.name = name
            self.columns = columns
            columnByKey = Dictionary(
                columns.map { ($0.uppercased(), $0) }, uniquingKeysWith: { first, _ in first })
        }

        /// Returns the column's spelling in the file.
        package func column(_ name: String) -> String? { columnByKey[name.uppercased()] }
    }

    private var tableByKey: [String: Table] = [:]
    private var otherKeys: Set<String> = []

    package init(tables: [Table]) {
        for table in tables { tableByKey[table.name.uppercased()] = table }
    }

    package static func read(_ connection: any SQLConnection) throws -> StoreCatalog {
        var catalog = StoreCatalog(tables: [])
        var columns: [String: [String]] = [:]
        let rows = try connection.rows(CatalogQuery.parts)
        let names = connection.dialect.names
        for row in rows {
            guard case .text(let type) = row[0], case .text(let stored) = row[1] else { continue }
            let name = names?.original(stored) ?? stored
            if type == "table" {
                if case .text(let column) = row[2] {
                    columns[name, default: []].append(names?.originalColumn(column, of: stored) ?? column)
                }
            } else {
                catalog.otherKeys.insert(name.uppercased())
            }
        }
        for (name, columns) in columns { catalog.tableByKey[name.uppercased()] = Table(name: name, columns: columns) }
        return catalog
    }

    package var tables: [Table] { tableByKey.values.sorted { $0.name < $1.name } }

    package func table(_ name: String) -> Table? { tableByKey[name.uppercased()] }

    /// Returns whether there is an index or trigger with the name.
    package func hasIndexOrTrigger(_ name: String) -> Bool { otherKeys.contains(name.uppercased()) }

    package var isEmpty: Bool { tableByKey.isEmpty }

    /// Whether the store records its history.
    package var hasHistory: Bool {
        table(BookkeepingSchema.changeTable) != nil && table(BookkeepingSchema.transactionTable) != nil
    }

    /// The missing tables among the bookkeeping tables that every store has.
    package var missingBookkeeping: [String] {
        [BookkeepingSchema.primaryKeyTable, BookkeepingSchema.metadataTable].filter { table($0) == nil }
    }
}

/// The indexes of a database file, found by their columns: their names differ between versions, and migrations keep old
/// ones. A constraint in a CREATE TABLE statement has an index too.
struct StoreIndexes {
    private struct Index: Hashable {
        var table: String
        var columns: [String]
        var isPartial: Bool

        init(_ table: String, _ columns: [String], isPartial: Bool) {
            self.table = table.uppercased()
            self.columns = columns.map { $0.uppercased() }
            self.isPartial = isPartial
        }
    }

    private var indexes: Set<Index> = []
    /// The column sets of unique indexes, in any order.
    private var constraints: Set<Index> = []

    static func read(_ connection: any SQLConnection) throws -> StoreIndexes {
        struct Found {
            var table: String
            var name: String
            var columns: [String]
            var isUnique: Bool
            var isPartial: Bool
        }
        var found: [Found] = []
        let rows = try connection.rows(CatalogQuery.indexes)
        let names = connection.dialect.names
        for row in rows {
            guard case .text(let stored) = row[0], case .text(let name) = row[1] else { continue }
            let table = names?.original(stored) ?? stored
            if found.last?.name != name {
                found.append(
                    Found(
                        table: table, name: name, columns: [], isUnique: row[2] == .integer(1),
                        isPartial: row[3] == .integer(1)))
            }
            // An expression has no column name.
            if case .text(let column) = row[4] {
                found[found.count - 1].columns.append(names?.originalColumn(column, of: stored) ?? column)
            }
        }
        var result = StoreIndexes()
        for index in found {
            result.indexes.insert(Index(index.table, index.columns, isPartial: index.isPartial))
            guard index.isUnique else { continue }
            result.constraints.insert(Index(index.table, index.columns.sorted(), isPartial: index.isPartial))
        }
        return result
    }

    /// Returns whether there is an index on exactly these columns, in this order.
    func hasIndex(on table: String, _ columns: [String], isPartial: Bool) -> Bool {
        indexes.contains(Index(table, columns, isPartial: isPartial))
    }

    /// Returns whether the file ensures that these columns are unique together.
    func hasConstraint(on table: String, _ columns: [String]) -> Bool {
        constraints.contains(Index(table, columns.sorted(), isPartial: false))
    }
}

/// The tables of a database file, without their columns.
struct TableNames {
    private let keys: Set<String>

    static func read(_ connection: any SQLConnection) throws -> TableNames {
        let names = connection.dialect.names
        let rows = try connection.rows(CatalogQuery.tableNames)
        return TableNames(
            keys: Set(
                rows.compactMap { row in
                    if case .text(let name) = row[0] { return (names?.original(name) ?? name).uppercased() }
                    return nil
                }))
    }

    /// Returns whether the tables exist. It does not read all names if the connection already knows the answer.
    private static func areThere(_ names: [String], in connection: any SQLConnection) throws -> Bool {
        for name in names {
            switch connection.knowsTable(name, columns: []) {
            case true?: continue
            case false?: return false
            case nil: return try read(connection).keys.isSuperset(of: names)
            }
        }
        return true
    }

    private static let history = [BookkeepingSchema.changeTable, BookkeepingSchema.transactionTable]
    private static let bookkeeping = [BookkeepingSchema.primaryKeyTable, BookkeepingSchema.metadataTable]

    /// Returns whether the store records its history. The connection must have run a statement in its transaction, and
    /// so have read the current schema.
    static func haveHistory(in connection: any SQLConnection) throws -> Bool { try areThere(history, in: connection) }

    /// Returns whether transactions can record their commit in the store.
    static func haveCommits(in connection: any SQLConnection) throws -> Bool {
        try areThere([BookkeepingSchema.commitsTable], in: connection)
    }

    /// Returns whether the file may be a store, as far as the connection knows.
    static func haveBookkeeping(in connection: any SQLConnection) throws -> Bool {
        try areThere(bookkeeping, in: connection)
    }

    var isEmpty: Bool { keys.isEmpty }

    var haveHistory: Bool { keys.isSuperset(of: Self.history) }

    /// The missing tables among the bookkeeping tables that every store has.
    var missingBookkeeping: [String] { Self.bookkeeping.filter { !keys.contains($0) } }
}

/// A row of `Z_PRIMARYKEY`.
package struct EntityNumber: Hashable, Sendable {
    package var number: Int64
    package var name: String
    /// The parent's number, 0 for a root.
    package var parent: Int64
    /// The highest assigned primary key, in the root's row.
    package var maximum: Int64

    package init(number: Int64, name: String, parent: Int64, maximum: Int64) {
        self.number = number
        self.name = name
        self.parent = parent
        self.maximum = maximum
    }

    /// Returns the model's entities, without the framework's own.
    package static func all(in connection: any SQLConnection) throws -> [EntityNumber] {
        // The table has a few rows and is read whenever a store is opened: filtering and sorting here is faster than in
        // SQL.
        return try connection.rows(query).compactMap { row in
            guard case .integer(let number) = row[0], number < BookkeepingSchema.firstFrameworkNumber,
                case .text(let name) = row[1], let parent = integer(row[2]), let maximum = integer(row[3])
            else { return nil }
            return EntityNumber(number: number, name: name, parent: parent, maximum: maximum)
        }.sorted { $0.number < $1.number }
    }

    private static let query = SelectStatement(
        ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"].map { .init(.column(nil, $0)) },
        from: .init(BookkeepingSchema.primaryKeyTable))

    /// Returns 0 for NULL, `nil` for a value that is not an integer.
    private static func integer(_ value: SQLValue) -> Int64? {
        switch value {
        case .integer(let integer): integer
        case .null: 0
        default: nil
        }
    }
}
