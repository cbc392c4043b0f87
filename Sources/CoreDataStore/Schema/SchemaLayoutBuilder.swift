import CoreDataModel

/// Names tables and columns; used by ``SchemaLayout`` only.
struct SchemaLayoutBuilder {
    let model: CompiledModel
    let entities: [Int]
    let numbers: [Int64?]
    private(set) var tables: [SchemaTable] = []
    private(set) var joinTables: [SchemaJoinTable] = []

    private var usedTableNames: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
    /// Column names by root entity; those of join tables count to the table of their master.
    private var usedColumnNames: [Int: Set<String>] = [:]
    private var subtrees: [Int: [Int]] = [:]
    /// One-way to-many relationships by the entity they point to.
    private var oneWay: [Int: [StoreLayout.Relationship]] = [:]

    init(model: CompiledModel, entities: [Int], numbers: [Int64?]) {
        self.model = model
        self.entities = entities
        self.numbers = numbers
    }

    mutating func build() {
        for ordinal in entities { subtrees[model.entities[ordinal].root, default: []].append(ordinal) }
        collectOneWayRelationships()
        for ordinal in entities where model.entities[ordinal].root == ordinal {
            usedColumnNames[ordinal] = Set(SchemaTable.fixedColumns)
            let name = Self.unique("Z" + model.entities[ordinal].name.uppercased(), in: &usedTableNames)
            tables.append(SchemaTable(name: name, root: ordinal, columns: columns(ofRoot: ordinal)))
        }
        nameJoinTables()
    }

    /// The name itself, or with the smallest number that makes it free: `ZACCOUNT`, `ZACCOUNT1`, `ZACCOUNT2`.
    private static func unique(_ name: String, in used: inout Set<String>) -> String {
        var candidate = name
        var suffix = 0
        while !used.insert(candidate).inserted {
            suffix += 1
            candidate = name + String(suffix)
        }
        return candidate
    }

    private func isStored(_ ordinal: Int) -> Bool { numbers[ordinal] != nil }

    /// Whether rows that a relationship points to can be of several entities.
    private func isPolymorphic(_ destination: Int) -> Bool {
        isStored(destination) && model.entities[destination].subtree.contains { $0 != destination && isStored($0) }
    }

    // MARK: - Columns

    /// Apple's order: by group of types; in a group by entity, in an entity by name (store-format §3).
    private mutating func columns(ofRoot root: Int) -> [SchemaColumn] {
        let own = (subtrees[root] ?? []).map { ordinal in
            let properties = model.entities[ordinal].properties
                .filter { $0.declaringEntity == ordinal && !$0.isTransient }
                .sorted { NameOrder.byCodeUnits($0.name, $1.name) }
            return (ordinal, properties, groups: properties.map { $0.attribute?.type.columnGroup })
        }
        var columns: [SchemaColumn] = []
        for group in 0...7 {
            for (ordinal, properties, groups) in own {
                for index in properties.indices where groups[index] == group {
                    let property = properties[index]
                    guard let type = property.attribute?.type else { continue }
                    columns.append(
                        column(
                            "Z" + property.name.uppercased(), type.columnType, .attribute(slot: property.slot),
                            declaredBy: ordinal, in: root))
                }
                guard group == 0 else { continue }
                columns += foreignKeys(of: properties, entity: ordinal, root: root)
                columns += ownerKeys(of: ordinal, root: root)
            }
        }
        return columns
    }

    /// To-ones with their companions, then the order values of those that are in an ordered to-many.
    private mutating func foreignKeys(
        of properties: [CompiledProperty], entity: Int, root: Int
    ) -> [SchemaColumn] {
        var columns: [SchemaColumn] = []
        var ordered: [(slot: Int, name: String)] = []
        for property in properties {
            guard let relationship = property.relationship, !relationship.isToMany else { continue }
            let key = column(
                "Z" + property.name.uppercased(), "INTEGER", .destinationKey(slot: property.slot),
                declaredBy: entity, in: root)
            columns.append(key)
            if isPolymorphic(relationship.destination), let number = numbers[relationship.destination] {
                columns.append(
                    column(
                        "Z\(number)_" + key.name.dropFirst(), "INTEGER",
                        .destinationEntity(slot: property.slot), declaredBy: entity, in: root))
            }
            if model.inverse(of: relationship)?.relationship?.isOrdered == true {
                ordered.append((property.slot, String(key.name.dropFirst())))
            }
        }
        for (slot, name) in ordered {
            columns.append(
                column("Z_FOK_" + name, "INTEGER", .order(slot: slot), declaredBy: entity, in: root))
        }
        return columns
    }

    /// The keys of rows whose one-way to-many has this entity's rows.
    private mutating func ownerKeys(of entity: Int, root: Int) -> [SchemaColumn] {
        var columns: [SchemaColumn] = []
        for source in oneWay[entity] ?? [] {
            let property = model.entities[source.entity].properties[source.slot]
            guard let number = numbers[source.entity] else { continue }
            let roles = (
                RowLayout.Role.ownerKey(entity: source.entity, slot: source.slot),
                RowLayout.Role.ownerOrder(entity: source.entity, slot: source.slot)
            )
            var key = column(
                "Z\(number)" + property.name.uppercased(), "INTEGER", roles.0, declaredBy: source.entity, in: root)
            key.entity = entity
            columns.append(key)
            guard property.relationship?.isOrdered == true else { continue }
            var order = column(
                "Z_FOK_" + key.name.dropFirst(), "INTEGER", roles.1, declaredBy: source.entity, in: root)
            order.entity = entity
            columns.append(order)
        }
        return columns
    }

    private mutating func column(
        _ name: String, _ type: String, _ role: RowLayout.Role, declaredBy entity: Int, in root: Int
    ) -> SchemaColumn {
        SchemaColumn(
            name: Self.unique(name, in: &usedColumnNames[root, default: []]), type: type,
            key: .init(declaringEntity: entity, role: role), entity: entity)
    }

    private mutating func collectOneWayRelationships() {
        let sources = entities.sorted {
            NameOrder.byCodeUnits(model.entities[$0].name, model.entities[$1].name)
        }
        for ordinal in sources {
            let entity = model.entities[ordinal]
            let candidates = entity.properties.filter { property in
                guard property.declaringEntity == ordinal, !property.isTransient,
                    let relationship = property.relationship
                else { return false }
                return relationship.isToMany && relationship.inverseSlot == nil && isStored(relationship.destination)
            }
            if candidates.isEmpty { continue }
            let names = Set(candidates.map(\.name))
            for name in DictionaryOrder.current(entity.properties.map(\.name)) where names.contains(name) {
                guard let property = entity.property(named: name), let relationship = property.relationship
                else { continue }
                oneWay[relationship.destination, default: []].append(
                    .init(entity: ordinal, slot: property.slot))
            }
        }
    }

    // MARK: - Join tables

    private mutating func nameJoinTables() {
        let masters = chooseMasters()
        if masters.isEmpty { return }
        for root in tables.map(\.root) {
            for ordinal in subtrees[root] ?? [] {
                let entity = model.entities[ordinal]
                guard entity.properties.contains(where: { masters[.init(entity: ordinal, slot: $0.slot)] != nil })
                else { continue }
                for name in DictionaryOrder.current(entity.properties.map(\.name)) {
                    guard let property = entity.property(named: name), property.declaringEntity == ordinal,
                        let inverse = masters[.init(entity: ordinal, slot: property.slot)]
                    else { continue }
                    addJoinTable(of: property, inverse: inverse, root: root)
                }
            }
        }
    }

    /// Of each pair the side that Apple meets first: entities by name, in each all its relationships in the order
    /// of an old dictionary (store-format §4.2). The inverse by the master.
    private func chooseMasters() -> [StoreLayout.Relationship: StoreLayout.Relationship] {
        var masters: [StoreLayout.Relationship: StoreLayout.Relationship] = [:]
        var seen: Set<StoreLayout.Relationship> = []
        let byName = entities.map { model.entities[$0] }
            .sorted { NameOrder.byCodeUnits($0.name, $1.name) }
        for entity in byName {
            guard entity.properties.contains(where: { manyToManyInverse(of: $0) != nil }) else { continue }
            for name in DictionaryOrder.leopard(entity.properties.map(\.name)) {
                guard let property = entity.property(named: name), let inverse = manyToManyInverse(of: property)
                else { continue }
                let relationship = StoreLayout.Relationship(entity: property.declaringEntity, slot: property.slot)
                guard seen.insert(relationship).inserted else { continue }
                let other = StoreLayout.Relationship(entity: inverse.declaringEntity, slot: inverse.slot)
                seen.insert(other)
                masters[relationship] = other
            }
        }
        return masters
    }

    /// The inverse, where both are to-many, stored and between entities of the store.
    private func manyToManyInverse(of property: CompiledProperty) -> CompiledProperty? {
        guard let relationship = property.relationship, relationship.isToMany, !property.isTransient,
            let inverse = model.inverse(of: relationship), !inverse.isTransient,
            let back = inverse.relationship, back.isToMany,
            isStored(relationship.destination), isStored(back.destination), isStored(property.declaringEntity)
        else { return nil }
        return inverse
    }

    private mutating func addJoinTable(
        of property: CompiledProperty, inverse: StoreLayout.Relationship, root: Int
    ) {
        let back = model.entities[inverse.entity].properties[inverse.slot]
        guard let relationship = property.relationship, let backRelationship = back.relationship,
            let number = numbers[property.declaringEntity], let ownerNumber = numbers[backRelationship.destination],
            let destinationNumber = numbers[relationship.destination]
        else { return }
        let master = StoreLayout.Relationship(entity: property.declaringEntity, slot: property.slot)
        var used = usedColumnNames[root] ?? []
        let owner = Self.unique("Z_\(ownerNumber)" + back.name.uppercased(), in: &used)
        // A relationship that is its own inverse would give both columns one name; the second gets this.
        let destination =
            master == inverse
            ? SchemaJoinTable.selfInverseColumn
            : Self.unique("Z_\(destinationNumber)" + property.name.uppercased(), in: &used)
        usedColumnNames[root] = used
        let name = Self.unique("Z_\(number)" + property.name.uppercased(), in: &usedTableNames)
        let isSelfInverse = master == inverse
        joinTables.append(
            SchemaJoinTable(
                name: name, root: root, master: master, inverse: inverse,
                join: .init(
                    name: name, ownerColumn: owner, destinationColumn: destination,
                    orderColumn: relationship.isOrdered
                        ? "Z_FOK_" + (isSelfInverse ? owner : destination).dropFirst(2) : nil,
                    inverseOrderColumn: backRelationship.isOrdered && !isSelfInverse
                        ? "Z_FOK_" + owner.dropFirst(2) : nil)))
    }

    // MARK: - What fetching and saving need

    func storeLayout() -> StoreLayout {
        var names: [SchemaColumn.Key: String] = [:]
        for table in tables {
            for column in table.columns { names[column.key] = column.name }
        }
        var tableNames: [Int: String] = [:]
        for table in tables { tableNames[table.root] = table.name }
        var result = [StoreLayout.Entity?](repeating: nil, count: model.entities.count)
        var ordinals: [Int64: Int] = [:]
        for ordinal in entities {
            let entity = model.entities[ordinal]
            guard let number = numbers[ordinal], let table = tableNames[entity.root] else { continue }
            ordinals[number] = ordinal
            result[ordinal] = StoreLayout.Entity(
                table: table, number: number,
                columnNames: entity.rowLayout.columns.map { names[SchemaColumn.Key($0.role, in: entity)] })
        }
        var joins: [StoreLayout.Relationship: StoreLayout.JoinTable] = [:]
        for table in joinTables {
            joins[table.inverse] = table.join.reversed
            joins[table.master] = table.join
        }
        return StoreLayout(entities: result, ordinalByNumber: ordinals, joinTables: joins)
    }
}

extension SchemaJoinTable {
    /// The second column of a relationship that is its own inverse.
    static let selfInverseColumn = "REFLEXIVE"
}

extension StoreLayout.JoinTable {
    /// The same table seen from the other side.
    package var reversed: Self {
        .init(
            name: name, ownerColumn: destinationColumn, destinationColumn: ownerColumn,
            orderColumn: inverseOrderColumn, inverseOrderColumn: orderColumn)
    }
}

extension CompiledModel {
    /// The property at the other end of a relationship.
    package func inverse(of relationship: CompiledRelationship) -> CompiledProperty? {
        relationship.inverseSlot.map { entities[relationship.destination].properties[$0] }
    }
}

extension AttributeType {
    /// The place of a column of this type in its table (store-format §3).
    var columnGroup: Int {
        switch self {
        case .integer16, .integer32, .integer64, .boolean, .objectID: 0
        case .double, .float, .date: 1
        case .decimal: 2
        case .string: 3
        case .uri: 4
        case .uuid: 5
        case .transformable, .undefined, .composite: 6
        case .binaryData: 7
        }
    }

    /// The declared type of a column.
    package var columnType: String {
        switch self {
        case .integer16, .integer32, .integer64, .boolean, .objectID: "INTEGER"
        case .double, .float: "FLOAT"
        case .date: "TIMESTAMP"
        case .decimal: "DECIMAL"
        case .string, .uri: "VARCHAR"
        case .uuid, .transformable, .undefined, .composite, .binaryData: "BLOB"
        }
    }
}
