import CoreDataModel
import CoreDataSQL

extension SchemaLayout {
    /// Returns the layout of an existing store: numbers from `Z_PRIMARYKEY`, and the existing columns and join tables.
    ///
    /// Migrated and old stores differ from new ones in order and in numbers inside names. Order values and companion
    /// columns may be missing (their names are then `nil`); everything else must exist.
    ///
    /// - Throws: ``StoreFailure`` of kind `.incompleteSchema` with everything that is missing.
    package static func existing(
        model: CompiledModel, entities: [Int], connection: any SQLConnection
    ) throws -> SchemaLayout {
        let numbers = try EntityNumber.all(in: connection)
        if let usual = usual(model: model, entities: entities, numbers: numbers, connection) { return usual }
        return try existing(
            model: model, entities: entities, numbers: numbers, catalog: StoreCatalog.read(connection),
            naming: connection.dialect.naming)
    }

    /// Returns the model's own layout, if the connection knows that the file has all its tables and columns, as nearly
    /// every file does: that takes a tenth of the time of reading the catalog.
    private static func usual(
        model: CompiledModel, entities: [Int], numbers rows: [EntityNumber], _ connection: any SQLConnection
    ) -> SchemaLayout? {
        let closed = closure(of: entities, in: model)
        let (numbers, unnumbered) = numbers(of: closed, in: model, rows: rows)
        guard unnumbered.isEmpty else { return nil }
        let expected = SchemaLayout(model: model, entities: closed, numbers: numbers, naming: connection.dialect.naming)
        return expected.hasAllTables(in: connection) ? expected : nil
    }

    private func hasAllTables(in connection: any SQLConnection) -> Bool {
        tables.allSatisfy { table in
            connection.knowsTable(table.name, columns: SchemaTable.fixedColumns + table.columns.map(\.name)) == true
        }
            && joinTables.allSatisfy { table in
                connection.knowsTable(table.name, columns: table.join.columns) == true
            }
    }

    package static func existing(
        model: CompiledModel, entities: [Int], numbers rows: [EntityNumber], catalog: StoreCatalog,
        naming: SQLDialect.Naming = .apples
    ) throws -> SchemaLayout {
        let closed = closure(of: entities, in: model)
        let (numbers, unnumbered) = numbers(of: closed, in: model, rows: rows)
        var binder = SchemaBinder(
            expected: SchemaLayout(model: model, entities: closed, numbers: numbers, naming: naming), catalog: catalog)
        binder.bind()
        if !binder.missing.isEmpty, naming == .apples,
            closed.contains(where: { model.entities[$0].hasStoredComposites })
        {
            // Earlier versions of this framework named the columns of elements differently.
            let former = SchemaLayout(
                model: model, entities: closed, numbers: numbers, naming: naming, elementNaming: .former)
            var formerBinder = SchemaBinder(expected: former, catalog: catalog)
            formerBinder.bind()
            if formerBinder.missing.isEmpty { binder = formerBinder }
        }
        binder.missing += unnumbered.map {
            .init(entity: model.entities[$0].name, table: BookkeepingSchema.primaryKeyTable, column: "Z_ENT")
        }
        guard binder.missing.isEmpty else {
            let names = naming == .models ? SQLNames.readable : nil
            throw failure(
                binder.missing.map { part in
                    var part = part
                    part.names = names
                    return part
                })
        }
        return SchemaLayout(binding: binder)
    }

    private static func failure(_ missing: [StoreFailure.MissingPart]) -> StoreFailure {
        let shown = missing.prefix(10).map(\.description).joined(separator: "; ")
        let rest = missing.count > 10 ? " and \(missing.count - 10) more" : ""
        var failure = StoreFailure(
            .incompleteSchema,
            "The store lacks what the model expects: \(shown)\(rest). The store is damaged, or its tables were changed by something other than Core Data.",
            entity: missing.first?.entity, property: missing.first?.property)
        failure.missing = missing
        return failure
    }

    /// Returns the numbers by ordinal, and the entities without one.
    ///
    /// An entity that a migration renamed may still have its old name: it then gets the row with the same parent that
    /// no entity of the model has.
    static func numbers(
        of entities: [Int], in model: CompiledModel, rows: [EntityNumber]
    ) -> (numbers: [Int64?], unnumbered: [Int]) {
        var numbers = [Int64?](repeating: nil, count: model.entities.count)
        let byName = Dictionary(rows.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
        for ordinal in entities { numbers[ordinal] = byName[model.entities[ordinal].name] }
        var unclaimed = rows.filter { model.ordinalByName[$0.name] == nil }
        var unnumbered: [Int] = []
        for (position, ordinal) in entities.enumerated() where numbers[ordinal] == nil {
            let parent = model.entities[ordinal].parent.map { numbers[$0] ?? -1 } ?? 0
            let candidates = unclaimed.filter { $0.parent == parent }
            let renamed = candidates.first { $0.number == Int64(position + 1) } ?? candidates.first
            let rivals = entities.filter {
                numbers[$0] == nil && model.entities[$0].parent == model.entities[ordinal].parent
            }
            guard let renamed, renamed.number == Int64(position + 1) || (candidates.count == 1 && rivals.count == 1)
            else {
                unnumbered.append(ordinal)
                continue
            }
            numbers[ordinal] = renamed.number
            unclaimed.removeAll { $0.number == renamed.number }
        }
        return (numbers, unnumbered)
    }

    private init(binding binder: SchemaBinder) {
        self.init(
            model: binder.expected.model, entities: binder.expected.entities, numbers: binder.expected.numbers,
            tables: binder.expected.tables, joinTables: binder.joinTables, layout: binder.layout,
            naming: binder.expected.naming)
    }
}

/// Finds the tables and columns of a layout in a file.
struct SchemaBinder {
    let expected: SchemaLayout
    let catalog: StoreCatalog
    var missing: [StoreFailure.MissingPart] = []
    private(set) var joinTables: [SchemaJoinTable] = []
    private(set) var layout: StoreLayout
    private var columns: [SchemaColumn.Key: String] = [:]

    init(expected: SchemaLayout, catalog: StoreCatalog) {
        self.expected = expected
        self.catalog = catalog
        layout = expected.layout
    }

    mutating func bind() {
        for table in expected.tables { bindColumns(of: table) }
        for ordinal in expected.entities {
            let entity = expected.model.entities[ordinal]
            guard var bound = layout.entities[ordinal] else { continue }
            bound.table = catalog.table(bound.table)?.name ?? bound.table
            bound.columnNames = entity.rowLayout.columns.map { columns[SchemaColumn.Key($0.role, in: entity)] }
            layout.entities[ordinal] = bound
        }
        layout.joinTables = [:]
        for table in expected.joinTables { bindJoinTable(table) }
    }

    // MARK: - Tables of rows

    private mutating func bindColumns(of table: SchemaTable) {
        let root = expected.model.entities[table.root]
        guard let actual = catalog.table(table.name) else {
            missing.append(.init(entity: root.name, table: table.name))
            return
        }
        missing += SchemaTable.fixedColumns.filter { actual.column($0) == nil }
            .map { .init(entity: root.name, table: actual.name, column: $0) }
        let names = Set(table.columns.map { $0.name.uppercased() })
        let spare = actual.columns.filter { !names.contains($0.uppercased()) }
        for column in table.columns {
            let found = actual.column(column.name) ?? renumbered(column, among: spare)
            columns[column.key] = found
            if found == nil, let property = requiredProperty(of: column) {
                missing.append(
                    .init(
                        entity: expected.model.entities[column.key.declaringEntity].name, property: property,
                        table: actual.name, column: column.name))
            }
        }
    }

    /// Returns the column whose name contains another entity's number: `Z3_UNIT` for `Z2_UNIT`.
    private func renumbered(_ column: SchemaColumn, among spare: [String]) -> String? {
        switch column.key.role {
        case .destinationEntity, .ownerKey:
            let rest = column.name.dropFirst().drop(while: \.isNumber)
            let matches = spare.filter { name in
                let number = name.dropFirst().prefix(while: \.isNumber)
                return name.first == "Z" && !number.isEmpty
                    && name.dropFirst(1 + number.count).uppercased() == rest.uppercased()
            }
            return matches.count == 1 ? matches[0] : nil
        case .ownerOrder:
            let rest = column.name.dropFirst("Z_FOK_".count).drop(while: \.isNumber)
            let matches = spare.filter { name in
                name.uppercased().hasPrefix("Z_FOK_")
                    && name.dropFirst("Z_FOK_".count).drop(while: \.isNumber).uppercased() == rest.uppercased()
            }
            return matches.count == 1 ? matches[0] : nil
        case .attribute, .destinationKey, .order: return nil
        }
    }

    /// Returns the property of a required column.
    private func requiredProperty(of column: SchemaColumn) -> String? {
        let properties = expected.model.entities[column.key.declaringEntity].properties
        switch column.key.role {
        case .attribute(let slot), .destinationKey(let slot), .ownerKey(_, let slot): return properties[slot].name
        case .destinationEntity, .order, .ownerOrder: return nil
        }
    }

    // MARK: - Join tables

    private mutating func bindJoinTable(_ table: SchemaJoinTable) {
        let exact = catalog.table(table.name).flatMap { bound(table, to: $0) }
        guard let found = exact ?? renumberedJoinTable(table) else {
            let entity = expected.model.entities[table.master.entity]
            missing.append(
                .init(entity: entity.name, property: entity.properties[table.master.slot].name, table: table.name))
            return
        }
        joinTables.append(found)
        layout.joinTables[found.inverse] = found.join.reversed
        layout.joinTables[found.master] = found.join
    }

    /// Returns a table with other numbers in its name, or named by the other side, as in migrated and old stores.
    private func renumberedJoinTable(_ table: SchemaJoinTable) -> SchemaJoinTable? {
        let taken = Set(expected.joinTables.map { $0.name.uppercased() })
        let stems = [name(of: table.master), name(of: table.inverse)]
        let candidates = catalog.tables.filter { candidate in
            guard !taken.contains(candidate.name.uppercased()) || candidate.name == table.name,
                let stem = Self.stem(candidate.name)
            else { return false }
            return stems.contains(stem)
        }.compactMap { bound(table, to: $0) }
        return candidates.count == 1 ? candidates[0] : nil
    }

    /// Returns the join table with the columns of an actual table, if it has them with any numbers.
    private func bound(_ table: SchemaJoinTable, to actual: StoreCatalog.Table) -> SchemaJoinTable? {
        let keys = actual.columns.filter { !$0.uppercased().hasPrefix("Z_FOK_") }
        var owner = actual.column(table.join.ownerColumn)
        var destination = actual.column(table.join.destinationColumn)
        if keys.count == 2, owner == nil || destination == nil {
            let names = (name(of: table.inverse), name(of: table.master))
            owner = owner ?? keys.first { $0 != destination && Self.matches($0, names.0) }
            destination = destination ?? keys.first { $0 != owner && Self.matches($0, names.1) }
            // If one of two columns is known, the remaining one is the other.
            if table.isSelfInverse, destination == nil { destination = keys.first { $0 != owner } }
        }
        guard let owner, let destination, owner != destination else { return nil }
        var result = table
        result.name = actual.name
        result.join.name = actual.name
        result.join.ownerColumn = owner
        result.join.destinationColumn = destination
        result.join.orderColumn = table.join.orderColumn.flatMap { orderColumn($0, of: destination, in: actual) }
        result.join.inverseOrderColumn = table.join.inverseOrderColumn.flatMap {
            orderColumn($0, of: owner, in: actual)
        }
        return result
    }

    private func orderColumn(_ name: String, of key: String, in actual: StoreCatalog.Table) -> String? {
        actual.column(name) ?? actual.column("Z_FOK_" + key.dropFirst(2))
    }

    private func name(of relationship: StoreLayout.Relationship) -> String {
        expected.model.entities[relationship.entity].properties[relationship.slot].name.uppercased()
    }

    /// Returns `FOLLOWEDTAGS` for `Z_8FOLLOWEDTAGS`.
    private static func stem(_ name: String) -> String? {
        let name = name.uppercased()
        guard name.hasPrefix("Z_") else { return nil }
        let rest = name.dropFirst(2)
        let stem = rest.drop(while: \.isNumber)
        return stem.count < rest.count && !stem.isEmpty ? String(stem) : nil
    }

    /// Returns whether a column belongs to the relationship, with any number before its name and possibly one after it.
    private static func matches(_ column: String, _ name: String) -> Bool {
        guard let stem = stem(column), stem.hasPrefix(name) else { return false }
        return stem.dropFirst(name.count).allSatisfy(\.isNumber)
    }
}
