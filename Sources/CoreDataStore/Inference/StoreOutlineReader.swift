import CoreDataModel
import CoreDataSQL

/// Reads the outline of a store: the schema, one pass over each table, and for each column that may be a foreign key a
/// look at the tables that it may lead to.
struct StoreOutlineReader {
    let connection: any SQLConnection
    private var indexNames: Set<String> = []

    init(_ connection: any SQLConnection) { self.connection = connection }

    mutating func read() throws -> StoreOutline {
        let columns = try columnsByTable()
        let names = try connection.rows(
            "SELECT name FROM sqlite_master WHERE type IN ('index', 'trigger') AND name NOT LIKE 'sqlite%'"
        ).compactMap { Self.text($0.first) }
        indexNames = Set(names.map { $0.uppercased() })
        let hashes = try MetadataRow.read(connection).metadata.versionHashes
        let modelNames = Set(hashes.map { Array($0.keys) } ?? [])
        let numbers = Self.renamed(try EntityNumber.all(in: connection), modelNames, tables: columns.map(\.name))
        let byNumber = Dictionary(numbers.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        var tables: [StoreOutline.Table] = []
        for entity in numbers where byNumber[entity.parent] == nil {
            guard let found = columns.first(where: { $0.name.uppercased() == "Z" + entity.name.uppercased() }) else {
                continue
            }
            tables.append(.init(name: found.name, root: entity.number, columns: found.columns))
        }
        for index in tables.indices { try fill(&tables[index]) }
        let entityNames = numbers.map { $0.name.uppercased() }
        for index in tables.indices { try findTargets(&tables[index], among: tables, entityNames: entityNames) }
        try findMirrors(&tables)
        return StoreOutline(
            entities: numbers, tables: tables,
            joinTables: columns.filter { StoreOutline.numbered($0.name.uppercased()) != nil }
                .map { ($0.name, $0.columns.map(\.name)) },
            schemaNames: names)
    }

    /// The rows with the names that the store's metadata have for them: one that a migration left under an old name takes the
    /// name that no other row has.
    private static func renamed(
        _ rows: [EntityNumber], _ modelNames: Set<String>, tables: [String]
    ) -> [EntityNumber] {
        let unclaimed = modelNames.subtracting(rows.map(\.name))
        let old = rows.indices.filter { !modelNames.contains(rows[$0].name) }
        guard old.count == 1, unclaimed.count == 1, let name = unclaimed.first else { return rows }
        var rows = rows
        // A root's table has its name.
        let isRoot = rows[old[0]].parent == 0
        if !isRoot || tables.contains(where: { $0.uppercased() == "Z" + name.uppercased() }) {
            rows[old[0]].name = name
        }
        return rows
    }

    private func columnsByTable() throws -> [(name: String, columns: [StoreOutline.Column])] {
        let rows = try connection.rows(
            "SELECT m.name, p.name, p.type FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS p WHERE m.type = 'table' ORDER BY m.rowid, p.cid"
        )
        var result: [(name: String, columns: [StoreOutline.Column])] = []
        for row in rows {
            guard let table = Self.text(row[0]), let column = Self.text(row[1]) else { continue }
            if result.last?.name != table { result.append((table, [])) }
            result[result.count - 1].columns.append(
                .init(name: column, type: (Self.text(row[2]) ?? "").uppercased()))
        }
        return result
    }

    // MARK: Values

    /// One pass: which entities have values in which columns, and what these have in common.
    private func fill(_ table: inout StoreOutline.Table) throws {
        var sql: SQLText = "SELECT Z_ENT"
        for column in table.columns {
            sql.append(contentsOf: ", COUNT(\(identifier: column.name)), \(Self.facts(of: column))")
        }
        sql.append(contentsOf: " FROM \(identifier: table.name) GROUP BY Z_ENT")
        var misfits = [[Int64]](repeating: [0, 0], count: table.columns.count)
        for row in try connection.rows(sql) {
            guard case .integer(let entity) = row[0] else { continue }
            table.occupants.insert(entity)
            for index in table.columns.indices {
                let first = 1 + index * 3
                guard Self.integer(row[first]) > 0 else { continue }
                table.columns[index].holders.insert(entity)
                misfits[index][0] += Self.integer(row[first + 1])
                misfits[index][1] += Self.integer(row[first + 2])
            }
        }
        for index in table.columns.indices where !table.columns[index].holders.isEmpty {
            switch table.columns[index].type {
            case "INTEGER" where misfits[index][0] == 0: table.columns[index].content = .truth
            case "BLOB" where misfits[index][0] == 0: table.columns[index].content = .sixteenBytes
            case "BLOB" where misfits[index][1] == 0: table.columns[index].content = .markedBytes
            default: break
            }
        }
    }

    /// Two numbers of values that are not as one kind of them are.
    private static func facts(of column: StoreOutline.Column) -> SQLText {
        let name: SQLText = "\(identifier: column.name)"
        switch column.type {
        case "INTEGER": return "SUM(\(name) NOT IN (0, 1)), 0"
        case "BLOB":
            return """
                SUM(typeof(\(name)) <> 'blob' OR length(\(name)) <> 16), \
                SUM(NOT (typeof(\(name)) = 'blob' AND (substr(\(name), 1, 1) = x'01' \
                OR (substr(\(name), 1, 1) = x'02' AND length(\(name)) = 38))))
                """
        default: return "0, 0"
        }
    }

    // MARK: Foreign keys

    /// What the values of columns lead to, of those that may be foreign keys: they have an index as those have, or the
    /// name of an entity in theirs.
    private func findTargets(
        _ table: inout StoreOutline.Table, among tables: [StoreOutline.Table], entityNames: [String]
    ) throws {
        for index in table.columns.indices where table.columns[index].type == "INTEGER" {
            let column = table.columns[index]
            guard case .property(let stem) = StoreOutline.ColumnName(column.name), !column.holders.isEmpty else {
                continue
            }
            let hasIndex = indexNames.contains("\(table.name)_\(column.name)_INDEX".uppercased())
            guard hasIndex || entityNames.contains(where: { $0.hasSuffix(stem) || stem.hasSuffix($0) }) else {
                continue
            }
            for target in tables {
                let hits = try count(
                    """
                    SELECT COUNT(*) FROM \(identifier: table.name) AS a \
                    JOIN \(identifier: target.name) AS b ON b.Z_PK = a.\(identifier: column.name)
                    """)
                guard hits > 0 else { continue }
                let all = try count(
                    "SELECT COUNT(\(identifier: column.name)) FROM \(identifier: table.name)")
                let entities = try connection.rows(
                    """
                    SELECT DISTINCT b.Z_ENT FROM \(identifier: table.name) AS a \
                    JOIN \(identifier: target.name) AS b ON b.Z_PK = a.\(identifier: column.name)
                    """
                ).map { Self.integer($0[0]) }
                table.columns[index].targets.append(
                    .init(
                        table: target.name, hits: hits, misses: all - hits,
                        rowCount: try count("SELECT COUNT(*) FROM \(identifier: target.name)"),
                        entities: Set(entities)))
            }
        }
    }

    /// Pairs of columns of which each row's leads to the row whose own leads back.
    private func findMirrors(_ tables: inout [StoreOutline.Table]) throws {
        for table in tables.indices {
            for column in tables[table].columns.indices {
                let own = tables[table].columns[column]
                for (place, target) in own.targets.enumerated() where target.misses == 0 {
                    guard let other = tables.first(where: { $0.name == target.table }) else { continue }
                    let candidates = other.columns.filter { candidate in
                        (other.name != tables[table].name || candidate.name != own.name)
                            && candidate.targets.contains { $0.table == tables[table].name && $0.misses == 0 }
                    }
                    for candidate in candidates {
                        let strays = try count(
                            """
                            SELECT COUNT(*) FROM \(identifier: tables[table].name) AS a \
                            JOIN \(identifier: other.name) AS b ON b.Z_PK = a.\(identifier: own.name) \
                            WHERE b.\(identifier: candidate.name) IS NOT a.Z_PK
                            """)
                        if strays == 0 { tables[table].columns[column].targets[place].mirrors.insert(candidate.name) }
                    }
                }
            }
        }
    }

    private func count(_ sql: SQLText) throws -> Int { Int(Self.integer(try connection.rows(sql).first?.first)) }

    private static func integer(_ value: SQLValue?) -> Int64 {
        if case .integer(let value)? = value { return value }
        return 0
    }

    private static func text(_ value: SQLValue?) -> String? {
        if case .text(let value)? = value { return value }
        return nil
    }
}
