import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

extension SchemaLayout {
    /// Everything that makes an empty store's schema, in Apple's order (store-format §5): tables, indexes,
    /// triggers, bookkeeping.
    ///
    /// - Throws: ``StoreFailure`` where a derived attribute or a partial index has an expression that no store
    ///   can keep.
    package func statements() throws -> [SchemaStatement] {
        try tableStatements() + indexStatements() + triggerStatements()
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
                .init("Z_PK", "INTEGER PRIMARY KEY"), .init("Z_ENT", "INTEGER"), .init("Z_OPT", "INTEGER"),
            ] + table.columns.map { .init($0.name, $0.type) })
    }

    package func createTable(_ table: SchemaJoinTable) -> CreateTable {
        let join = table.join
        let orders = [join.orderColumn, join.inverseOrderColumn].compactMap { $0 }
        return CreateTable(
            join.name,
            columns: ([join.ownerColumn, join.destinationColumn] + orders).map { .init($0, "INTEGER") },
            primaryKey: [join.ownerColumn, join.destinationColumn])
    }

    // MARK: - Indexes

    package func indexStatements() throws -> [SchemaStatement] {
        // SQLite's index names are unique in a file, without regard to case; Apple would fail on the second.
        var used: Set<String> = []
        return try tables.flatMap { try indexes(of: $0) }
            .filter { used.insert($0.name.lowercased()).inserted }
            .map(SchemaStatement.index)
    }

    private func indexes(of table: SchemaTable) throws -> [CreateIndex] {
        let keys = table.columns.filter { if case .destinationKey = $0.key.role { true } else { false } }
        let ownerKeys = table.columns.filter { if case .ownerKey = $0.key.role { true } else { false } }
        var indexes = (keys + ownerKeys).map {
            CreateIndex("\(table.name)_\($0.name)_INDEX", on: table.name, [.init($0.name)])
        }
        for joinTable in joinTables where joinTable.root == table.root {
            let join = joinTable.join
            indexes.append(
                CreateIndex(
                    "\(join.name)_\(join.destinationColumn)_INDEX", on: join.name,
                    [.init(join.destinationColumn), .init(join.ownerColumn)]))
        }
        let members = entities.filter { model.entities[$0].root == table.root }
        if members.count > 1 {
            indexes.append(CreateIndex("\(table.name)_Z_ENT_INDEX", on: table.name, [.init("Z_ENT")]))
        }
        let names = Dictionary(
            table.columns.map { ($0.key, $0.name) }, uniquingKeysWith: { first, _ in first })
        for ordinal in members {
            let entity = model.entities[ordinal]
            indexes += try fetchIndexes(of: entity, table: table, columns: names)
            indexes += entity.uniquenessConstraints.compactMap {
                uniqueIndex(of: entity, $0, table: table, columns: names)
            }
        }
        return indexes
    }

    /// Those that attributes have by themselves, then those of the entity's list.
    private func fetchIndexes(
        of entity: CompiledEntity, table: SchemaTable, columns: [SchemaColumn.Key: String]
    ) throws -> [CreateIndex] {
        var indexes: [CreateIndex] = attributeIndexes(of: entity)
        for index in entity.fetchIndexes {
            // The foreign key's own index serves.
            if index.elements.count == 1, let slot = index.elements[0].slot,
                entity.properties[slot].relationship != nil
            {
                continue
            }
            var parts: [CreateIndex.Column] = []
            for element in index.elements {
                let slot = element.slot ?? element.expression.flatMap { entity.slotByName[$0] }
                guard let slot, let column = columnName(of: slot, in: entity, columns) else { break }
                parts.append(.init(column, isAscending: element.isAscending))
            }
            // An index on something that has no column (an expression, a to-many, a transient property) is left
            // out: it is about speed, not about what the store holds.
            guard !parts.isEmpty, parts.count == index.elements.count else { continue }
            var statement = CreateIndex("Z_\(entity.name)_\(index.name)", on: table.name, parts)
            if let predicate = index.predicate {
                statement.condition = try PartialIndexCondition(
                    entity: entity, index: index.name,
                    column: { name in entity.slotByName[name].flatMap { self.columnName(of: $0, in: entity, columns) } }
                ).condition(of: predicate)
            }
            indexes.append(statement)
        }
        return indexes

        /// An attribute that is marked as indexed has an index of its name, in front of the listed ones. Compiled
        /// models mark each attribute that is an index's only, ascending element (store-format §5).
        func attributeIndexes(of entity: CompiledEntity) -> [CreateIndex] {
            let listed = Set(entity.fetchIndexes.map(\.name))
            var marked: Set<String> = []
            for property in entity.properties where property.declaringEntity == entity.ordinal && property.isIndexed {
                marked.insert(property.name)
            }
            if model.appliesIndexDecodingQuirk {
                for index in entity.fetchIndexes where index.elements.count == 1 {
                    guard let slot = index.elements[0].slot, index.elements[0].isAscending,
                        !index.elements[0].isRTree, entity.properties[slot].declaringEntity == entity.ordinal
                    else { continue }
                    marked.insert(entity.properties[slot].name)
                }
            }
            if marked.isEmpty { return [] }
            return DictionaryOrder.current(entity.properties.map(\.name)).compactMap { name in
                guard marked.contains(name), !listed.contains(name), let property = entity.property(named: name),
                    property.attribute != nil, let column = columnName(of: property.slot, in: entity, columns)
                else { return nil }
                return CreateIndex("Z_\(entity.name)_\(name)", on: table.name, [.init(column, isAscending: true)])
            }
        }
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

    /// The column of an attribute or a to-one.
    private func columnName(
        of slot: Int, in entity: CompiledEntity, _ columns: [SchemaColumn.Key: String]
    ) -> String? {
        let property = entity.properties[slot]
        let role: RowLayout.Role = property.attribute != nil ? .attribute(slot: slot) : .destinationKey(slot: slot)
        return columns[.init(declaringEntity: property.declaringEntity, role: role)]
    }

    // MARK: - Triggers

    /// Those that keep derived attributes, grouped by the entity that they read from.
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
        // Stable, so attributes that read from one entity stay in the order of their own.
        return found.enumerated().sorted { ($0.element.entity, $0.offset) < ($1.element.entity, $1.offset) }
            .flatMap { $0.element.triggers.map(SchemaStatement.trigger) }
    }
}
