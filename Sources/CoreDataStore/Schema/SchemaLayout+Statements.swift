import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

extension SchemaLayout {
    /// Returns the statements for the schema of an empty store, in Apple's order: tables, indexes, triggers, R-trees,
    /// bookkeeping.
    ///
    /// - Throws: ``StoreFailure`` if no store supports the expression of a derived attribute or a partial index.
    package func statements() throws -> [SchemaStatement] {
        try tableStatements() + indexStatements() + triggerStatements() + rTrees().map(SchemaStatement.rTree)
            + BookkeepingSchema.tables.map(SchemaStatement.table)
    }

    package func tableStatements() -> [SchemaStatement] {
        tables.flatMap { table in
            [.table(createTable(table))]
                + joinTables.filter { $0.root == table.root }.map { .table(createTable($0)) }
        }
    }

    package func createTable(_ table: SchemaTable) -> CreateTable {
        CreateTable(
            table.name,
            columns: [
                .init("Z_PK", .rowKey), .init("Z_ENT", .integer), .init("Z_OPT", .integer),
            ] + table.columns.map { .init($0.name, $0.type) })
    }

    package func createTable(_ table: SchemaJoinTable) -> CreateTable {
        let join = table.join
        return CreateTable(
            join.name, columns: join.columns.map { .init($0, .integer) },
            primaryKey: [join.ownerColumn, join.destinationColumn])
    }

    // MARK: - Indexes

    /// Returns all indexes except R-trees.
    package func indexStatements() throws -> [SchemaStatement] {
        let replaced = Set(try rTrees().map(\.substitute.name))
        // SQLite's index names are unique in a file, ignoring case; Apple's framework would fail on the second one.
        var used: Set<String> = []
        return try tables.flatMap { try indexes(of: $0) }
            .filter { !replaced.contains($0.name) && used.insert($0.name.lowercased()).inserted }
            .map(SchemaStatement.index)
    }

    /// Returns the indexes: those of foreign keys first; then, by entity, those of join tables, of fetch indexes and of
    /// constraints.
    private func indexes(of table: SchemaTable) throws -> [CreateIndex] {
        let members = entities.filter { model.entities[$0].root == table.root }
        var indexes: [CreateIndex] = []
        var keys: [Int: [SchemaColumn]] = [:]
        for column in table.columns {
            // Those of an entity's own to-ones precede those of one-way relationships that refer to it.
            switch column.key.role {
            case .destinationKey, .ownerKey: keys[column.entity, default: []].append(column)
            default: break
            }
        }
        for column in members.flatMap({ keys[$0] ?? [] }) {
            indexes.append(CreateIndex("\(table.name)_\(column.name)_INDEX", on: table.name, [.init(column.name)]))
        }
        let names = Dictionary(
            table.columns.map { ($0.key, $0.name) }, uniquingKeysWith: { first, _ in first })
        let joins = Dictionary(grouping: joinTables.filter { $0.root == table.root }, by: \.master.entity)
        for ordinal in members {
            let entity = model.entities[ordinal]
            for join in (joins[ordinal] ?? []).map(\.join) {
                indexes.append(
                    CreateIndex(
                        "\(join.name)_\(join.destinationColumn)_INDEX", on: join.name,
                        [.init(join.destinationColumn), .init(join.ownerColumn)]))
            }
            if ordinal == table.root, members.count > 1, !entity.omitsEntityIndex {
                indexes.append(CreateIndex("\(table.name)_Z_ENT_INDEX", on: table.name, [.init("Z_ENT")]))
            }
            indexes += try entity.fetchIndexes.compactMap {
                try fetchIndex($0, of: entity, table: table, columns: names)
            }
            indexes += entity.uniquenessConstraints.compactMap {
                uniqueIndex(of: entity, $0, table: table, columns: names)
            }
        }
        return indexes
    }

    /// Returns the statement of a fetch index as an ordinary index; `nil` if the store is created without it.
    func fetchIndex(
        _ index: CompiledFetchIndex, of entity: CompiledEntity, table: SchemaTable,
        columns: [SchemaColumn.Key: String]
    ) throws -> CreateIndex? {
        // The foreign key's own index suffices.
        if index.elements.count == 1, let slot = index.elements[0].slot,
            entity.properties[slot].relationship != nil
        {
            return nil
        }
        var parts: [CreateIndex.Column] = []
        for element in index.elements {
            guard let column = columnName(of: element, in: entity, columns) else { break }
            parts.append(.init(column, isAscending: element.isAscending))
        }
        // An index on an element without a column (an expression, a to-many, a transient property) is omitted: it
        // affects only speed.
        guard !parts.isEmpty, parts.count == index.elements.count else { return nil }
        var statement = CreateIndex("Z_\(entity.name)_\(index.name)", on: table.name, parts)
        if let predicate = index.predicate {
            do {
                statement.condition = try PartialIndexCondition(
                    entity: entity, index: index.name,
                    column: { name in
                        entity.slotByName[name].flatMap { self.columnName(of: $0, in: entity, columns) }
                    }
                ).condition(of: predicate)
            } catch  where model.isAccepted {
                return nil
            }
        }
        return statement
    }

    private func uniqueIndex(
        of entity: CompiledEntity, _ slots: [Int], table: SchemaTable, columns: [SchemaColumn.Key: String]
    ) -> CreateIndex? {
        let parts = slots.compactMap { columnName(of: $0, in: entity, columns) }
        guard !parts.isEmpty, parts.count == slots.count else { return nil }
        let names = slots.map { entity.properties[$0].name }.joined(separator: "_")
        return CreateIndex(
            "Z_\(entity.name)_UNIQUE_\(names)", on: table.name, parts.map { .init($0, isAscending: true) },
            isUnique: true)
    }

    /// Returns the column of an index element: an attribute, a to-one, or the key or the entity of the row.
    private func columnName(
        of element: CompiledFetchIndex.Element, in entity: CompiledEntity, _ columns: [SchemaColumn.Key: String]
    ) -> String? {
        if let slot = element.slot ?? element.expression.flatMap({ entity.slotByName[$0] }) {
            return columnName(of: slot, in: entity, columns)
        }
        switch element.expression.flatMap(IndexedRowPart.init(expression:)) {
        case .key?: return "Z_PK"
        case .entity?: return "Z_ENT"
        case nil: return nil
        }
    }

    /// Returns the column of an attribute or a to-one.
    private func columnName(
        of slot: Int, in entity: CompiledEntity, _ columns: [SchemaColumn.Key: String]
    ) -> String? {
        let property = entity.properties[slot]
        let role: RowLayout.Role = property.attribute != nil ? .attribute(slot: slot) : .destinationKey(slot: slot)
        return columns[.init(declaringEntity: property.declaringEntity, role: role)]
    }

    // MARK: - Triggers

    /// Returns the triggers of derived attributes, grouped by the entity that they read from.
    package func triggerStatements() throws -> [SchemaStatement] {
        var found: [(entity: Int, triggers: [CreateTrigger])] = []
        for ordinal in entities {
            for property in model.entities[ordinal].properties where property.declaringEntity == ordinal {
                guard let expression = property.attribute?.derivationExpression, !property.isTransient else { continue }
                let derivation = try DerivedAttribute(
                    schema: self, entity: model.entities[ordinal], property: property, expression: expression)
                found.append((derivation.sourceEntity, derivation.triggers()))
            }
        }
        // A stable sort, so that attributes that read from the same entity keep their order.
        return found.enumerated().sorted { ($0.element.entity, $0.offset) < ($1.element.entity, $1.offset) }
            .flatMap { $0.element.triggers.map(SchemaStatement.trigger) }
    }
}
