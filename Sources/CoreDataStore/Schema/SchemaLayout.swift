import CoreDataModel
import CoreDataSQL

/// The tables, columns and join tables of a model in a store, by Apple's rules.
///
/// It is a pure function of the model, the entities of the store's configuration and their numbers. ``layout`` is the
/// part for fetching and saving; the rest is for creating and checking schemas.
///
///     let schema = SchemaLayout.fresh(model: model, entities: [0, 1, 2])
///     SchemaRenderer.texts(of: schema.statements()[0], in: dialect)     // CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, …
package struct SchemaLayout: Sendable {
    package let model: CompiledModel
    /// The ordinals of the store's entities, ascending, including their ancestors, whose tables they share.
    package let entities: [Int]
    /// `Z_ENT` by ordinal; `nil` for entities that are not in the store.
    package let numbers: [Int64?]
    /// One table for each root entity, in the order of the entities.
    package let tables: [SchemaTable]
    /// The join tables in the order of creation.
    package let joinTables: [SchemaJoinTable]
    package let layout: StoreLayout
    let naming: SQLDialect.Naming
    /// Values that higher rooms cache with the layout, such as its statements.
    package let companions: ModelCompanions

    /// Returns the layout of a new store: numbers count from 1 in the order of the entities.
    package static func fresh(
        model: CompiledModel, entities: [Int], naming: SQLDialect.Naming = .apples
    ) -> SchemaLayout {
        let closed = closure(of: entities, in: model)
        var numbers = [Int64?](repeating: nil, count: model.entities.count)
        for (index, ordinal) in closed.enumerated() { numbers[ordinal] = Int64(index + 1) }
        return SchemaLayout(model: model, entities: closed, numbers: numbers, naming: naming)
    }

    /// Makes the layout with the numbers of an existing store's `Z_PRIMARYKEY`.
    package init(
        model: CompiledModel, entities: [Int], numbers: [Int64?], naming: SQLDialect.Naming = .apples,
        elementNaming: ElementNaming = .apples
    ) {
        let closed = Self.closure(of: entities, in: model)
        if elementNaming == .apples, let kept = model.companions.value(of: CachedLayout.self), kept.entities == closed,
            kept.numbers == numbers,
            kept.naming == naming
        {
            self.init(
                model: model, entities: closed, numbers: numbers, tables: kept.tables, joinTables: kept.joinTables,
                layout: kept.layout, naming: naming, companions: kept.companions)
            return
        }
        var builder = SchemaLayoutBuilder(
            model: model, entities: closed, numbers: numbers, naming: naming, elementNaming: elementNaming)
        builder.build()
        self.init(
            model: model, entities: closed, numbers: numbers, tables: builder.tables, joinTables: builder.joinTables,
            layout: builder.storeLayout(), naming: naming)
        guard elementNaming == .apples else { return }
        model.companions.keep(
            CachedLayout(
                entities: closed, numbers: numbers, naming: naming, tables: tables, joinTables: joinTables,
                layout: layout, companions: companions))
    }

    /// The last layout, cached with its model: most programs open stores with one layout, many of them often.
    private struct CachedLayout: Sendable {
        let entities: [Int]
        let numbers: [Int64?]
        let naming: SQLDialect.Naming
        let tables: [SchemaTable]
        let joinTables: [SchemaJoinTable]
        let layout: StoreLayout
        let companions: ModelCompanions
    }

    init(
        model: CompiledModel, entities: [Int], numbers: [Int64?], tables: [SchemaTable],
        joinTables: [SchemaJoinTable], layout: StoreLayout, naming: SQLDialect.Naming,
        companions: ModelCompanions = ModelCompanions()
    ) {
        self.model = model
        self.entities = entities
        self.numbers = numbers
        self.tables = tables
        self.joinTables = joinTables
        self.layout = layout
        self.naming = naming
        self.companions = companions
    }

    /// Returns the entities and all their ancestors, ascending.
    static func closure(of entities: [Int], in model: CompiledModel) -> [Int] {
        var isIncluded = [Bool](repeating: false, count: model.entities.count)
        for ordinal in entities {
            var next: Int? = ordinal
            while let current = next, !isIncluded[current] {
                isIncluded[current] = true
                next = model.entities[current].parent
            }
        }
        return isIncluded.indices.filter { isIncluded[$0] }
    }

    package func table(ofRoot root: Int) -> SchemaTable? { tables.first { $0.root == root } }

    /// Returns the table column of a property that the entity declares or inherits, in a new store.
    package func columnName(entity: Int, role: RowLayout.Role) -> String? {
        let key = SchemaColumn.Key(role, in: model.entities[entity])
        return table(ofRoot: model.entities[entity].root)?.columns.first { $0.key == key }?.name
    }
}

/// The table of a root entity and all its subentities.
package struct SchemaTable: Sendable {
    package var name: String
    package var root: Int
    /// The columns after `Z_PK`, `Z_ENT` and `Z_OPT`, in order.
    package var columns: [SchemaColumn]

    /// The first columns of every table of rows.
    package static let fixedColumns = ["Z_PK", "Z_ENT", "Z_OPT"]
}

package struct SchemaColumn: Sendable {
    /// Identifies the value of a column. Subentities that inherit the property share the column.
    package struct Key: Hashable, Sendable {
        /// The entity that declares the property.
        package var declaringEntity: Int
        package var role: RowLayout.Role

        package init(declaringEntity: Int, role: RowLayout.Role) {
            self.declaringEntity = declaringEntity
            self.role = role
        }

        /// Makes the key of a column in an entity's ``RowLayout``.
        package init(_ role: RowLayout.Role, in entity: CompiledEntity) {
            self.role = role
            switch role {
            case .attribute(let slot), .destinationKey(let slot), .destinationEntity(let slot), .order(let slot):
                declaringEntity = entity.properties[slot].declaringEntity
            case .ownerKey(let source, _), .ownerOrder(let source, _):
                declaringEntity = source
            }
        }

        /// Hashes only a number of entity and slot: a property has few roles.
        package func hash(into hasher: inout Hasher) {
            let slot =
                switch role {
                case .attribute(let slot), .destinationKey(let slot), .destinationEntity(let slot), .order(let slot),
                    .ownerKey(_, let slot), .ownerOrder(_, let slot):
                    slot
                }
            hasher.combine(declaringEntity << 20 ^ slot)
        }
    }

    package var name: String
    package var type: SQLType
    package var key: Key
    /// The entity that determines the column's position in the table: the declaring one, or a one-way to-many's
    /// destination.
    package var entity: Int
}

/// The table of a many-to-many relationship.
package struct SchemaJoinTable: Sendable {
    package var name: String
    /// The root entity whose table is created before this one.
    package var root: Int
    /// The relationship that names the table, by declaring entity and slot.
    package var master: StoreLayout.Relationship
    package var inverse: StoreLayout.Relationship
    /// The table, seen from the master's side.
    package var join: StoreLayout.JoinTable

    /// Whether the relationship is its own inverse: the table contains each pair in both directions.
    package var isSelfInverse: Bool { master == inverse }
}
