import CoreDataSQL

/// What a database file has: tables with their columns, indexes, triggers. Names are found without regard to case,
/// as SQLite finds them.
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

        /// The column as the file spells it.
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

    /// Whether there is an index or trigger of that name.
    package func hasIndexOrTrigger(_ name: String) -> Bool { otherKeys.contains(name.uppercased()) }

    package var isEmpty: Bool { tableByKey.isEmpty }

    /// Whether the store records its history.
    package var hasHistory: Bool {
        table(BookkeepingSchema.changeTable) != nil && table(BookkeepingSchema.transactionTable) != nil
    }

    /// The bookkeeping tables without which a file is no store.
    package var missingBookkeeping: [String] {
        [BookkeepingSchema.primaryKeyTable, BookkeepingSchema.metadataTable].filter { table($0) == nil }
    }
}

/// The indexes of a database file by what they are on: their names have changed from version to version, and migrations
/// keep old ones. A constraint that is written into its table has one too.
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
    /// The columns of unique ones in any order.
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
            // An expression has no name.
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

    /// Whether there is an index on just these columns, in this order.
    func hasIndex(on table: String, _ columns: [String], isPartial: Bool) -> Bool {
        indexes.contains(Index(table, columns, isPartial: isPartial))
    }

    /// Whether the file sees to it that no two rows agree in these columns.
    func hasConstraint(on table: String, _ columns: [String]) -> Bool {
        constraints.contains(Index(table, columns.sorted(), isPartial: false))
    }
}

/// The tables of a database file, without their columns.
struct TableNames {
    private let keys: Set<String>

    init(_ names: some Sequence<String>) { keys = Set(names.map { $0.uppercased() }) }

    static func read(_ connection: any SQLConnection) throws -> TableNames {
        let rows = try connection.rows(CatalogQuery.tableNames)
        let names = connection.dialect.names
        return TableNames(
            rows.compactMap { row in
                if case .text(let name) = row[0] { return names?.original(name) ?? name }
                return nil
            })
    }

    var isEmpty: Bool { keys.isEmpty }

    /// Whether the store records its history.
    var hasHistory: Bool {
        keys.isSuperset(of: [BookkeepingSchema.changeTable, BookkeepingSchema.transactionTable])
    }

    /// The bookkeeping tables without which a file is no store.
    var missingBookkeeping: [String] {
        [BookkeepingSchema.primaryKeyTable, BookkeepingSchema.metadataTable].filter { !keys.contains($0) }
    }
}

/// A row of `Z_PRIMARYKEY`.
package struct EntityNumber: Hashable, Sendable {
    package var number: Int64
    package var name: String
    /// The parent's number, 0 for a root.
    package var parent: Int64
    /// The highest primary key handed out, on the root's row.
    package var maximum: Int64

    package init(number: Int64, name: String, parent: Int64, maximum: Int64) {
        self.number = number
        self.name = name
        self.parent = parent
        self.maximum = maximum
    }

    /// The model's entities; those of the framework itself have numbers of their own.
    package static func all(in connection: any SQLConnection) throws -> [EntityNumber] {
        let number = SQLExpression.column(nil, "Z_ENT")
        var query = SelectStatement(
            [
                .init(number), .init(.column(nil, "Z_NAME")),
                .init(.function(.ifNull, [.column(nil, "Z_SUPER"), .integer(0)])),
                .init(.function(.ifNull, [.column(nil, "Z_MAX"), .integer(0)])),
            ], from: .init(BookkeepingSchema.primaryKeyTable))
        query.condition = .comparison(.less, number, .integer(BookkeepingSchema.firstFrameworkNumber))
        query.orders = [.init(number)]
        return try connection.rows(query).compactMap { row in
            guard case .integer(let number) = row[0], case .text(let name) = row[1], case .integer(let parent) = row[2],
                case .integer(let maximum) = row[3]
            else { return nil }
            return EntityNumber(number: number, name: name, parent: parent, maximum: maximum)
        }
    }
}
