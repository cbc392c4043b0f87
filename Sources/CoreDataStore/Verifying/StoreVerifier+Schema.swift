import CoreDataModel
import CoreDataSQL

extension StoreVerifier {
    /// Reports optional parts of the schema that are missing, and additional ones; required parts were checked before.
    mutating func checkSchema() {
        for ordinal in schema.entities {
            let entity = model.entities[ordinal]
            guard let bound = schema.layout.entities[ordinal] else { continue }
            for (column, name) in zip(entity.rowLayout.columns, bound.columnNames) where name == nil {
                guard let (property, what) = optionalColumn(column.role, of: entity) else { continue }
                report(.warning, ordinal, property, "table \(bound.table) has no column for \(what)")
            }
        }
        checkExtraColumns()
        for joinTable in schema.joinTables {
            let entity = model.entities[joinTable.master.entity]
            let property = entity.properties[joinTable.master.slot]
            if property.relationship?.isOrdered == true, joinTable.join.orderColumn == nil {
                report(
                    .warning, entity.ordinal, property.name,
                    "table \(joinTable.name) has no column for the order of its rows")
            }
        }
        checkIndexesAndTriggers()
    }

    /// Returns the property and purpose of a column that old stores may lack.
    private func optionalColumn(_ role: RowLayout.Role, of entity: CompiledEntity) -> (String, String)? {
        switch role {
        case .destinationEntity(let slot):
            guard let destination = entity.properties[slot].relationship?.destination,
                schema.numbers[destination] != nil
            else { return nil }
            return (entity.properties[slot].name, "the entity of its destination")
        case .order(let slot): return (entity.properties[slot].name, "its order")
        case .ownerOrder(let source, let slot):
            guard schema.numbers[source] != nil else { return nil }
            let property = model.entities[source].properties[slot].name
            return (model.entities[source].name + "." + property, "its order")
        case .attribute, .destinationKey, .ownerKey: return nil
        }
    }

    private mutating func checkExtraColumns() {
        let bound = Dictionary(grouping: schema.entities, by: { schema.layout.entities[$0]?.table ?? "" })
        for table in schema.tables {
            guard let name = schema.layout.entities[table.root]?.table, let actual = catalog.table(name) else {
                continue
            }
            var known = Set(SchemaTable.fixedColumns)
            for ordinal in bound[name] ?? [] {
                for case let column? in schema.layout.entities[ordinal]?.columnNames ?? [] {
                    known.insert(column.uppercased())
                }
            }
            known.formUnion(table.columns.map { $0.name.uppercased() })
            for column in actual.columns where !known.contains(column.uppercased()) {
                report(
                    .note, table.root, nil, "table \(name) has a column \(column) that the model does not know",
                    hint: "a migration may have left it")
            }
        }
    }

    /// Checks indexes and triggers. Most indexes affect only speed, and stores keep their original ones; triggers and
    /// unique indexes keep data correct.
    private mutating func checkIndexesAndTriggers() {
        for case .index(let index) in (try? schema.indexStatements()) ?? [] where !isPresent(index) {
            if index.isUnique {
                report(
                    .warning, nil, nil, "table \(index.table) has no unique index \(index.name)",
                    hint: "the store does not enforce the constraint; save checks it nevertheless")
            } else {
                report(.note, nil, nil, "table \(index.table) has no index \(index.name)")
            }
        }
        for statement in (try? schema.triggerStatements()) ?? [] where !catalog.hasIndexOrTrigger(statement.name) {
            report(
                .warning, nil, nil, "table \(statement.tableName) has no trigger \(statement.name)",
                hint: "a derived attribute is not kept up to date")
        }
    }

    /// Returns whether the file has the index under any name, or as a constraint of its table.
    func isPresent(_ index: CreateIndex) -> Bool {
        if catalog.hasIndexOrTrigger(index.name) { return true }
        let columns = index.columns.map { actualName(ofColumn: $0.name, in: index.table) }
        return index.isUnique
            ? indexes.hasConstraint(on: index.table, columns)
            : indexes.hasIndex(on: index.table, columns, isPartial: index.condition != nil)
    }

    /// Returns the file's name of a column of the expected schema.
    private func actualName(ofColumn name: String, in table: String) -> String {
        guard let expected = schema.tables.first(where: { $0.name == table })?.columns.first(where: { $0.name == name })
        else { return name }
        let entity = model.entities[expected.entity]
        let column = entity.rowLayout.columns.firstIndex { SchemaColumn.Key($0.role, in: entity) == expected.key }
        return column.flatMap { schema.layout.entities[expected.entity]?.columnNames[$0] } ?? name
    }

    /// Checks `Z_PRIMARYKEY` against the model.
    mutating func checkNumbers() {
        let known = Set(schema.entities.map { model.entities[$0].name })
        let entityTable = connection.dialect.stored("Z_PRIMARYKEY")
        for row in numbers where !known.contains(row.name) {
            let taken = schema.entities.first { schema.numbers[$0] == row.number }
            if let taken {
                report(
                    .note, taken, nil, "stands in \(entityTable) under its old name '\(row.name)'",
                    hint: "a migration renamed it")
            } else {
                report(.warning, nil, nil, "\(entityTable) has an entity '\(row.name)' that the model does not know")
            }
        }
        let byNumber = Dictionary(numbers.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        for ordinal in schema.entities {
            guard let number = schema.numbers[ordinal], let row = byNumber[number] else { continue }
            let parent = model.entities[ordinal].parent.flatMap { schema.numbers[$0] } ?? 0
            if row.parent != parent {
                report(
                    .warning, ordinal, nil, "\(entityTable) says that its parent is number \(row.parent), not \(parent)"
                )
            }
        }
    }
}
