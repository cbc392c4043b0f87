import CoreDataModel
import CoreDataSQL

/// The tables, columns and join tables that a model has in a store, by Apple's rules.
///
/// A pure function of the model, the entities of the store's configuration and their numbers. ``layout`` is what
/// fetching and saving need of it; the rest is for making and checking schemas.
///
///     let schema = SchemaLayout.fresh(model: model, entities: [0, 1, 2])
///     SchemaRenderer.texts(of: schema.statements()[0], in: dialect)     // CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, …
package struct SchemaLayout: Sendable {
    package let model: CompiledModel
    /// Ordinals of the store's entities, ascending; with an entity come its ancestors, whose table it shares.
    package let entities: [Int]
    /// `Z_ENT` by ordinal; `nil` for entities that are not in the store.
    package let numbers: [Int64?]
    /// One for each root entity, in the order of the entities.
    package let tables: [SchemaTable]
    /// In the order in which the tables are created.
    package let joinTables: [SchemaJoinTable]
    package let layout: StoreLayout
    let naming: SQLDialect.Naming
    /// Statements that fit the layout.
    package let fetchTexts: FetchTexts

    /// The layout of a store that is created now: numbers count from 1 in the order of the entities.
    package static func fresh(
        model: CompiledModel, entities: [Int], naming: SQLDialect.Naming = .apples
    ) -> SchemaLayout {
        let closed = closure(of: entities, in: model)
        var numbers = [Int64?](repeating: nil, count: model.entities.count)
        for (index, ordinal) in closed.enumerated() { numbers[ordinal] = Int64(index + 1) }
        return SchemaLayout(model: model, entities: closed, numbers: numbers, naming: naming)
    }

    /// The layout with given numbers, as an existing store's rows of `Z_PRIMARYKEY` have them.
    package init(
        model: CompiledModel, entities: [Int], numbers: [Int64?], naming: SQLDialect.Naming = .apples,
        elementNaming: ElementNaming = .apples
    ) {
        let closed = Self.closure(of: entities, in: model)
        if elementNaming == .apples, let kept = model.companions.value(of: KeptLayout.self), kept.entities == closed,
            kept.numbers == numbers,
            kept.naming == naming
        {
            self.init(
                model: model, entities: closed, numbers: numbers, tables: kept.tables, joinTables: kept.joinTables,
                layout: kept.layout, naming: naming, fetchTexts: kept.fetchTexts)
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
            KeptLayout(
                entities: closed, numbers: numbers, naming: naming, tables: tables, joinTables: joinTables,
                layout: layout, fetchTexts: fetchTexts))
    }

    /// The layout that was made last, kept with its model: most programs open stores of one layout, many of them often.
    private struct KeptLayout: Sendable {
        let entities: [Int]
        let numbers: [Int64?]
        let naming: SQLDialect.Naming
        let tables: [SchemaTable]
        let joinTables: [SchemaJoinTable]
        let layout: StoreLayout
        let fetchTexts: FetchTexts
    }

    init(
        model: CompiledModel, entities: [Int], numbers: [Int64?], tables: [SchemaTable],
        joinTables: [SchemaJoinTable], layout: StoreLayout, naming: SQLDialect.Naming,
        fetchTexts: FetchTexts = FetchTexts()
    ) {
        self.model = model
        self.entities = entities
        self.numbers = numbers
        self.tables = tables
        self.joinTables = joinTables
        self.layout = layout
        self.naming = naming
        self.fetchTexts = fetchTexts
    }

    /// The entities and all their ancestors, ascending.
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

    /// The table column of a property that the entity declares or inherits, as created in a fresh store.
    package func columnName(entity: Int, role: RowLayout.Role) -> String? {
        let key = SchemaColumn.Key(role, in: model.entities[entity])
        return table(ofRoot: model.entities[entity].root)?.columns.first { $0.key == key }?.name
    }
}

/// The table of a root entity and all its subentities.
package struct SchemaTable: Sendable {
    package var name: String
    package var root: Int
    /// Behind `Z_PK`, `Z_ENT` and `Z_OPT`, in order.
    package var columns: [SchemaColumn]

    /// What comes first in every table of rows.
    package static let fixedColumns = ["Z_PK", "Z_ENT", "Z_OPT"]
}

package struct SchemaColumn: Sendable {
    /// Which value a column holds. Columns are shared by the subentities that inherit the property.
    package struct Key: Hashable, Sendable {
        /// The entity that declares the property.
        package var declaringEntity: Int
        package var role: RowLayout.Role

        package init(declaringEntity: Int, role: RowLayout.Role) {
            self.declaringEntity = declaringEntity
            self.role = role
        }

        /// The key of a column in an entity's ``RowLayout``.
        package init(_ role: RowLayout.Role, in entity: CompiledEntity) {
            self.role = role
            switch role {
            case .attribute(let slot), .destinationKey(let slot), .destinationEntity(let slot), .order(let slot):
                declaringEntity = entity.properties[slot].declaringEntity
            case .ownerKey(let source, _), .ownerOrder(let source, _):
                declaringEntity = source
            }
        }

        /// One number of the entity and the slot: the roles that a property has are few.
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
    /// The entity at whose place in the table the column stands: the declaring one, or a one-way to-many's destination.
    package var entity: Int
}

/// The table of a many-to-many relationship.
package struct SchemaJoinTable: Sendable {
    package var name: String
    /// The table is created behind that of this root entity.
    package var root: Int
    /// The relationship that names the table, by declaring entity and slot.
    package var master: StoreLayout.Relationship
    package var inverse: StoreLayout.Relationship
    /// Seen from the master's side.
    package var join: StoreLayout.JoinTable

    /// A relationship that is its own inverse: each pair stands in the table once in either direction.
    package var isSelfInverse: Bool { master == inverse }
}
