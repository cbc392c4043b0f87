import CoreDataModel
import CoreDataStore

/// The names of a model's tables and columns in a store.
package struct ModelStoreNames: Sendable {
    /// The table of each entity by name; subentities share their root's.
    package var tables: [String: String] = [:]
    /// By `Book.title`: the column; the columns of a composite attribute's elements; the join table of a many-to-many
    /// relationship.
    package var columns: [String: String] = [:]

    package init() {}

    /// The names of tables and columns in a new store of the whole model.
    package init(of model: CompiledModel) {
        let schema = SchemaLayout.fresh(model: model, entities: Array(model.entities.indices))
        for entity in model.entities {
            tables[entity.name] = schema.table(ofRoot: entity.root)?.name
            for property in entity.properties where property.isStored {
                columns["\(entity.name).\(property.name)"] = Self.place(of: property, in: entity, schema)
            }
        }
    }

    private static func place(
        of property: CompiledProperty, in entity: CompiledEntity, _ schema: SchemaLayout
    ) -> String? {
        switch property.kind {
        case .attribute(let attribute) where property.isComposite:
            attribute.elements.compactMap { place(of: entity.properties[$0], in: entity, schema) }.joined(
                separator: ", ")
        case .attribute: schema.columnName(entity: entity.ordinal, role: .attribute(slot: property.slot))
        case .relationship(let relationship) where relationship.isToMany:
            schema.layout.joinTables[.init(entity: property.declaringEntity, slot: property.slot)]?.name
        case .relationship:
            schema.columnName(entity: entity.ordinal, role: .destinationKey(slot: property.slot))
        case .fetched: nil
        }
    }
}
