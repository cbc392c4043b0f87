import CoreDataModel
import CoreDataSQL
import Foundation

/// Reads the outline of a store: the schema, one pass over each table, and for each possible foreign key a query of its
/// possible destination tables.
struct StoreOutlineReader {
    let connection: any SQLConnection
    private var indexNames: Set<String> = []

    init(_ connection: any SQLConnection) { self.connection = connection }

    mutating func read() throws -> StoreOutline {
        let columns = try columnsByTable()
        let names = try connection.rows(CatalogQuery.indexAndTriggerNames).compactMap { Self.text($0.first) }
        indexNames = Set(names.map { $0.uppercased() })
        let hashes = try MetadataRow.found(connection)?.metadata.versionHashes
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

    /// Returns the rows with the names in the store's metadata: a row that a migration left with an old name gets the
    /// name that no other row has.
    private static func renamed(
        _ rows: [EntityNumber], _ modelNames: Set<String>, tables: [String]
    ) -> [EntityNumber] {
        let unclaimed = modelNames.subtracting(rows.map(\.name))
        let old = rows.indices.filter { !modelNames.contains(rows[$0].name) }
        guard old.count == 1, unclaimed.count == 1, let name = unclaimed.first else { return rows }
        var rows = rows
        // A root's table is named after it.
        let isRoot = rows[old[0]].parent == 0
        if !isRoot || tables.contains(where: { $0.uppercased() == "Z" + name.uppercased() }) {
            rows[old[0]].name = name
        }
        return rows
    }

    private func columnsByTable() throws -> [(name: String, columns: [StoreOutline.Column])] {
        let rows = try connection.rows(CatalogQuery.columns)
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

    /// Finds in one pass which entities have values in which columns, and the values' common form.
    private func fill(_ table: inout StoreOutline.Table) throws {
        let number = SQLExpression.column(nil, "Z_ENT")
        var query = SelectStatement([.init(number)], from: .init(table.name))
        for column in table.columns {
            let count = SQLExpression.aggregate(.count, .column(nil, column.name), distinct: false)
            query.columns += ([count] + Self.facts(of: column)).map { .init($0) }
        }
        query.groups = [number]
        var misfits = [[Int64]](repeating: [0, 0], count: table.columns.count)
        for row in try connection.rows(query) {
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

    /// Returns two counts of values that do not have the form in question.
    private static func facts(of column: StoreOutline.Column) -> [SQLExpression] {
        let value = SQLExpression.column(nil, column.name)
        switch column.type {
        case "INTEGER": return [number(where: .not(.inList(value, [.integer(0), .integer(1)]))), .integer(0)]
        case "BLOB":
            let isBlob = SQLExpression.comparison(.equal, .function(.storageClass, [value]), .bind(.text("blob")))
            let length = SQLExpression.function(.byteLength, [value])
            let mark = SQLExpression.function(.substring, [value, .integer(1), .integer(1)])
            func starts(with byte: UInt8) -> SQLExpression { .comparison(.equal, mark, .bind(.blob(Data([byte])))) }
            let isMarked = SQLExpression.or([
                starts(with: 1), .and([starts(with: 2), .comparison(.equal, length, .integer(38))]),
            ])
            return [
                number(where: .or([.not(isBlob), .comparison(.notEqual, length, .integer(16))])),
                number(where: .not(.and([isBlob, isMarked]))),
            ]
        default: return [.integer(0), .integer(0)]
        }
    }

    /// Returns the number of rows for which the condition is true, not NULL.
    private static func number(where condition: SQLExpression) -> SQLExpression {
        .aggregate(.sum, .caseWhen([.init(condition, .integer(1))], otherwise: .integer(0)), distinct: false)
    }

    // MARK: Foreign keys

    /// Finds the destinations of possible foreign keys: columns with a foreign key's index, or with an entity's name in
    /// theirs.
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
                let pairs = Self.pairs(of: table.name, column.name, with: target.name)
                let hits = try count(pairs)
                guard hits > 0 else { continue }
                let values = SQLExpression.aggregate(.count, .column(nil, column.name), distinct: false)
                let all = try count(SelectStatement([.init(values)], from: .init(table.name)))
                var numbers = pairs
                numbers.isDistinct = true
                numbers.columns = [.init(.column("b", "Z_ENT"))]
                let entities = try connection.rows(numbers).map { Self.integer($0[0]) }
                table.columns[index].targets.append(
                    .init(
                        table: target.name, hits: hits, misses: all - hits,
                        rowCount: try count(SelectStatement([.init(.countAll)], from: .init(target.name))),
                        entities: Set(entities)))
            }
        }
    }

    /// Finds pairs of columns whose rows refer to each other.
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
                        var strays = Self.pairs(of: tables[table].name, own.name, with: other.name)
                        strays.condition = .comparison(
                            .notIdentical, .column("b", candidate.name), .column("a", "Z_PK"))
                        if try count(strays) == 0 {
                            tables[table].columns[column].targets[place].mirrors.insert(candidate.name)
                        }
                    }
                }
            }
        }
    }

    /// Returns a query that pairs each row `a` of a table with the row `b` that its column refers to.
    private static func pairs(of table: String, _ column: String, with other: String) -> SelectStatement {
        var select = SelectStatement([.init(.countAll)], from: .init(table, as: "a"))
        select.joins = [
            .init(
                .inner, .init(other, as: "b"), on: .comparison(.equal, .column("b", "Z_PK"), .column("a", column)))
        ]
        return select
    }

    private func count(_ query: SelectStatement) throws -> Int {
        Int(Self.integer(try connection.rows(query).first?.first))
    }

    private static func integer(_ value: SQLValue?) -> Int64 {
        if case .integer(let value)? = value { return value }
        return 0
    }

    private static func text(_ value: SQLValue?) -> String? {
        if case .text(let value)? = value { return value }
        return nil
    }
}
