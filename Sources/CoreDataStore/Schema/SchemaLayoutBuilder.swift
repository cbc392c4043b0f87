import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// Names tables and columns, for ``SchemaLayout`` only.
struct SchemaLayoutBuilder {
    let model: CompiledModel
    let entities: [Int]
    let numbers: [Int64?]
    /// The naming of tables and columns.
    let naming: SQLDialect.Naming
    let elementNaming: ElementNaming
    private(set) var tables: [SchemaTable] = []
    private(set) var joinTables: [SchemaJoinTable] = []

    private var usedTableNames: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
    /// Names that the database reserves.
    private let reservedNames: Set<String>
    /// The column names of the root table that is being built.
    private var usedColumnNames: Set<String> = []
    private var subtrees: [Int: [Int]] = [:]

    init(
        model: CompiledModel, entities: [Int], numbers: [Int64?], naming: SQLDialect.Naming,
        elementNaming: ElementNaming = .apples
    ) {
        self.model = model
        self.entities = entities
        self.numbers = numbers
        self.naming = naming
        self.elementNaming = elementNaming
        reservedNames = naming == .models ? Set(SQLNames.readable.reserved.map { $0.lowercased() }) : []
        usedTableNames.formUnion(reservedNames)
        if naming == .models { usedTableNames.formUnion(SQLNames.wordsOfTriggers) }
    }

    mutating func build() {
        for ordinal in entities { subtrees[model.entities[ordinal].root, default: []].append(ordinal) }
        let visits = ToManyPass(model: model, entities: entities, isStored: numbers.map { $0 != nil }).visits()
        // The columns that the pass adds to tables of rows, by root.
        var traces: [Int: [ToManyPass.Visit]] = [:]
        for visit in visits {
            if let root = rootOfTrace(visit) { traces[root, default: []].append(visit) }
        }
        for ordinal in entities where model.entities[ordinal].root == ordinal {
            let name = Self.unique(
                naming == .models
                    ? SQLNames.tableName(model.entities[ordinal].name)
                    : "Z" + model.entities[ordinal].name.uppercased(),
                naming, in: &usedTableNames)
            tables.append(
                SchemaTable(name: name, root: ordinal, columns: columns(ofRoot: ordinal, traces[ordinal] ?? [])))
        }
        nameJoinTables(visits)
    }

    /// Returns the name, with the smallest number that makes it unique: `ZACCOUNT`, `ZACCOUNT1`, `ZACCOUNT2`.
    ///
    /// The model's names must differ in more than case, for tools that ignore it.
    private static func unique(
        _ name: String, _ naming: SQLDialect.Naming, in used: inout Set<String>
    ) -> String {
        func stored(_ name: String) -> String { naming == .models ? SQLNames.readable.shortened(name) : name }
        func key(_ name: String) -> String { naming == .models ? name.lowercased() : name }
        var candidate = stored(name)
        var suffix = 0
        while !used.insert(key(candidate)).inserted {
            suffix += 1
            candidate = stored(name + String(suffix))
        }
        return candidate
    }

    private func isStored(_ ordinal: Int) -> Bool { numbers[ordinal] != nil }

    /// Returns whether the destination rows of a relationship can have several entities.
    private func isPolymorphic(_ destination: Int) -> Bool {
        isStored(destination) && model.entities[destination].subtree.contains { $0 != destination && isStored($0) }
    }

    private func property(_ relationship: StoreLayout.Relationship) -> CompiledProperty {
        model.entities[relationship.entity].properties[relationship.slot]
    }

    // MARK: - Columns

    /// Returns the columns in Apple's order: by group of types, then by entity, then by name. The columns of to-many
    /// relationships are at the end of the first group. Names are assigned entity by entity.
    private mutating func columns(ofRoot root: Int, _ traces: [ToManyPass.Visit]) -> [SchemaColumn] {
        usedColumnNames.removeAll(keepingCapacity: true)
        usedColumnNames.formUnion(SchemaTable.fixedColumns)
        usedColumnNames.formUnion(reservedNames)
        if naming == .models { usedColumnNames.formUnion(SQLNames.systemColumns) }
        var groups = [[SchemaColumn]](repeating: [], count: 8)
        for ordinal in subtrees[root] ?? [] {
            let properties = model.entities[ordinal].properties
            var attributes = [[(slot: Int, type: SQLType)]](repeating: [], count: groups.count)
            var relationships: [Int] = []
            for slot in storedSlots(declaredBy: ordinal) {
                if let type = properties[slot].attribute?.type {
                    attributes[type.kind.columnGroup].append((slot, type.columnType))
                } else {
                    relationships.append(slot)
                }
            }
            for group in groups.indices {
                for (slot, type) in attributes[group] {
                    groups[group].append(
                        column(attributeColumn(properties[slot]), type, .attribute(slot: slot), declaredBy: ordinal))
                }
                if group == 0 {
                    groups[0] += foreignKeys(of: relationships.map { properties[$0] }, entity: ordinal)
                }
            }
        }
        for visit in traces { groups[0] += columns(of: visit, beside: groups[0]) }
        return groups.flatMap { $0 }
    }

    /// Returns the columns of to-ones, each with its companion.
    private mutating func foreignKeys(of properties: [CompiledProperty], entity: Int) -> [SchemaColumn] {
        var columns: [SchemaColumn] = []
        for property in properties {
            guard let relationship = property.relationship, !relationship.isToMany else { continue }
            let key = column(
                naming == .models ? property.name : "Z" + property.name.uppercased(), .integer,
                .destinationKey(slot: property.slot), declaredBy: entity)
            columns.append(key)
            if isPolymorphic(relationship.destination), let number = numbers[relationship.destination] {
                columns.append(
                    column(
                        naming == .models ? key.name + "_entity" : "Z\(number)_" + key.name.dropFirst(), .integer,
                        .destinationEntity(slot: property.slot), declaredBy: entity))
            }
        }
        return columns
    }

    /// Returns the root whose table has the columns of a relationship.
    private func rootOfTrace(_ visit: ToManyPass.Visit) -> Int? {
        switch visit.trace {
        case .ownerKey:
            // Without a closure: the optimiser of Swift 6.3 crashes on one here.
            guard let relationship = property(visit.relationship).relationship else { return nil }
            return model.entities[relationship.destination].root
        case .order(let inverse): return model.entities[inverse.entity].root
        case .joinTable: return nil
        }
    }

    /// Returns the order columns of to-ones in ordered to-manys, or the owner keys of rows in this entity's one-way
    /// to-manys.
    private mutating func columns(
        of visit: ToManyPass.Visit, beside others: [SchemaColumn]
    ) -> [SchemaColumn] {
        switch visit.trace {
        case .joinTable: return []
        case .order(let inverse):
            let role = SchemaColumn.Key(
                declaringEntity: inverse.entity, role: .destinationKey(slot: inverse.slot))
            guard let key = others.first(where: { $0.key == role }) else { return [] }
            return [
                column(
                    naming == .models ? key.name + "_order" : "Z_FOK_" + key.name.dropFirst(), .integer,
                    .order(slot: inverse.slot),
                    declaredBy: inverse.entity)
            ]
        case .ownerKey:
            let (source, property) = (visit.relationship, property(visit.relationship))
            guard let relationship = property.relationship, let number = numbers[source.entity] else { return [] }
            var columns = [
                column(
                    naming == .models
                        ? "\(model.entities[source.entity].name)_\(property.name)"
                        : "Z\(number)" + property.name.uppercased(), .integer,
                    .ownerKey(entity: source.entity, slot: source.slot), declaredBy: source.entity)
            ]
            if relationship.isOrdered {
                columns.append(
                    column(
                        naming == .models ? columns[0].name + "_order" : "Z_FOK_" + columns[0].name.dropFirst(),
                        .integer,
                        .ownerOrder(entity: source.entity, slot: source.slot), declaredBy: source.entity))
            }
            for index in columns.indices { columns[index].entity = relationship.destination }
            return columns
        }
    }

    private mutating func column(
        _ name: String, _ type: SQLType, _ role: RowLayout.Role, declaredBy entity: Int
    ) -> SchemaColumn {
        SchemaColumn(
            name: Self.unique(name, naming, in: &usedColumnNames), type: type,
            key: .init(declaringEntity: entity, role: role), entity: entity)
    }

    // MARK: - Join tables

    /// Names the columns in the order of the pass, in one namespace. Then it sorts the tables in the order of creation:
    /// by entity, and within an entity in the order of a dictionary.
    private mutating func nameJoinTables(_ visits: [ToManyPass.Visit]) {
        var found: [Int: [SchemaJoinTable]] = [:]
        var used: Set<String> = []
        for visit in visits {
            guard case .joinTable(let inverse) = visit.trace,
                let table = joinTable(visit.relationship, inverse, used: &used)
            else { continue }
            found[visit.relationship.entity, default: []].append(table)
        }
        for ordinal in entities {
            guard var own = found[ordinal] else { continue }
            if own.count > 1 {
                let places = placesInDictionary(of: model.entities[ordinal])
                func place(_ table: SchemaJoinTable) -> Int { places[property(table.master).name] ?? 0 }
                own.sort { place($0) < place($1) }
            }
            for var table in own {
                table.name = Self.unique(table.name, naming, in: &usedTableNames)
                table.join.name = table.name
                joinTables.append(table)
            }
        }
    }

    /// Returns the position of each stored property in the order in which join tables are created.
    private func placesInDictionary(of entity: CompiledEntity) -> [String: Int] {
        let properties = entity.properties.filter { $0.composite == nil }
        let left = properties.filter { !$0.isStored }.map(\.name)
        let foreignKeys = properties.count { !$0.isTransient && $0.relationship?.isToMany == false }
        let order = DictionaryOrder.grown(
            properties.map(\.name), without: Set(left), foreignKeyCount: foreignKeys)
        return Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Names the columns of the destination before those of the owner.
    private func joinTable(
        _ master: StoreLayout.Relationship, _ inverse: StoreLayout.Relationship, used: inout Set<String>
    ) -> SchemaJoinTable? {
        let (property, back) = (property(master), property(inverse))
        guard let relationship = property.relationship, let backRelationship = back.relationship,
            let number = numbers[master.entity], let ownerNumber = numbers[backRelationship.destination],
            let destinationNumber = numbers[relationship.destination]
        else { return nil }
        if naming == .models { return readableJoinTable(master, inverse) }
        let name = "Z_\(number)" + property.name.uppercased()
        var join = StoreLayout.JoinTable(name: name, ownerColumn: "", destinationColumn: "")
        if master == inverse {
            // Both columns would have the same name; the second gets another one.
            join.ownerColumn = Self.unique(name, naming, in: &used)
            join.destinationColumn = SchemaJoinTable.selfInverseColumn
            if relationship.isOrdered { join.orderColumn = "Z_FOK_" + join.ownerColumn.dropFirst(2) }
        } else {
            join.destinationColumn = Self.unique(
                "Z_\(destinationNumber)" + property.name.uppercased(), naming, in: &used)
            join.ownerColumn = Self.unique("Z_\(ownerNumber)" + back.name.uppercased(), naming, in: &used)
            if relationship.isOrdered { join.orderColumn = "Z_FOK_" + join.destinationColumn.dropFirst(2) }
            if backRelationship.isOrdered { join.inverseOrderColumn = "Z_FOK_" + join.ownerColumn.dropFirst(2) }
        }
        return SchemaJoinTable(
            name: name, root: model.entities[master.entity].root, master: master, inverse: inverse, join: join)
    }

    /// Returns `Book_tags`, with the columns `Book` and `tags`, and `tags_order` if the tags of a book are ordered.
    private func readableJoinTable(
        _ master: StoreLayout.Relationship, _ inverse: StoreLayout.Relationship
    ) -> SchemaJoinTable? {
        let (property, back) = (property(master), property(inverse))
        guard let relationship = property.relationship, let backRelationship = back.relationship else { return nil }
        let owner = model.entities[master.entity].name
        let name = SQLNames.tableName("\(owner)_\(property.name)")
        var used = reservedNames.union(SQLNames.systemColumns)
        var join = StoreLayout.JoinTable(name: name, ownerColumn: "", destinationColumn: "")
        join.destinationColumn = Self.unique(property.name, naming, in: &used)
        join.ownerColumn = Self.unique(owner, naming, in: &used)
        if relationship.isOrdered {
            join.orderColumn = Self.unique(join.destinationColumn + "_order", naming, in: &used)
        }
        if backRelationship.isOrdered, master != inverse {
            join.inverseOrderColumn = Self.unique(join.ownerColumn + "_order", naming, in: &used)
        }
        return SchemaJoinTable(
            name: name, root: model.entities[master.entity].root, master: master, inverse: inverse, join: join)
    }

    // MARK: - Layout for fetching and saving

    func storeLayout() -> StoreLayout {
        // The attributes, the most numerous columns, by declaring entity and slot.
        var attributes = [[String?]](repeating: [], count: model.entities.count)
        var others: [SchemaColumn.Key: String] = [:]
        for table in tables {
            for column in table.columns {
                guard case .attribute(let slot) = column.key.role else {
                    others[column.key] = column.name
                    continue
                }
                let entity = column.key.declaringEntity
                if attributes[entity].isEmpty {
                    attributes[entity] = Array(repeating: nil, count: model.entities[entity].properties.count)
                }
                attributes[entity][slot] = column.name
            }
        }
        func name(_ role: RowLayout.Role, in entity: CompiledEntity) -> String? {
            guard case .attribute(let slot) = role else { return others[SchemaColumn.Key(role, in: entity)] }
            let declared = attributes[entity.properties[slot].declaringEntity]
            return declared.indices.contains(slot) ? declared[slot] : nil
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
                columnNames: entity.rowLayout.columns.map { name($0.role, in: entity) })
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
    package static let selfInverseColumn = "REFLEXIVE"
}

extension StoreLayout.JoinTable {
    /// The same table, seen from the other side.
    package var reversed: Self {
        .init(
            name: name, ownerColumn: destinationColumn, destinationColumn: ownerColumn,
            orderColumn: inverseOrderColumn, inverseOrderColumn: orderColumn)
    }
}

extension CompiledModel {
    /// Returns the inverse of a relationship.
    package func inverse(of relationship: CompiledRelationship) -> CompiledProperty? {
        relationship.inverseSlot.map { entities[relationship.destination].properties[$0] }
    }
}

extension ValueKind {
    /// The group of columns of this kind in their table.
    var columnGroup: Int {
        switch self {
        case .integer, .boolean, .reference: 0
        case .real, .single, .date: 1
        case .decimal: 2
        case .text: 3
        case .link: 4
        case .identifier: 5
        case .object, .composite: 6
        case .bytes: 7
        }
    }

    /// The SQL type of columns of this kind.
    package var columnType: SQLType {
        switch self {
        case .integer, .reference: .integer
        case .boolean: .boolean
        case .real, .single: .real
        case .date: .date
        case .decimal: .decimal
        case .text, .link: .text
        case .identifier: .identifier
        case .object, .composite, .bytes: .bytes
        }
    }
}

extension AttributeType {
    /// The SQL type of columns of this attribute type.
    package var columnType: SQLType {
        switch self {
        case .integer16: .smallInteger
        case .integer32: .mediumInteger
        default: kind.columnType
        }
    }
}
