import CoreDataModel
import CoreDataStore
import Foundation

/// What the model tools ask of stores and of the SQL that stores are made of.
package enum ModelInspection {
    /// The model that a store keeps a copy of, as it is written there.
    package static func cachedModel(ofStoreAt url: URL) throws -> ModelDocument {
        try StoreTools.run(url) { options in
            try StoreEngine.cachedModelDocument(options: options, makeDatabase: { try SQLStore.makeDatabase($0) })
        }
    }

    /// A model that fits the tables of a store, for looking into stores whose model nobody has.
    ///
    /// Its version hashes are not the store's: it opens for whoever asks to ignore them.
    ///
    /// - Returns: the model, and the columns of which nothing tells what they lead to.
    package static func inferredModel(ofStoreAt url: URL) throws -> (document: ModelDocument, doubts: [String]) {
        let inference = try StoreTools.run(url) { options in
            try StoreEngine.inferredModel(options: options, makeDatabase: { try SQLStore.makeDatabase($0) })
        }
        return (inference.document, inference.doubts)
    }

    /// The names that a fresh store of the whole model gives its tables and columns.
    package static func storeNames(of model: CompiledModel) -> ModelStoreNames {
        let schema = SchemaLayout.fresh(model: model, entities: Array(model.entities.indices))
        var names = ModelStoreNames()
        for entity in model.entities {
            names.tables[entity.name] = schema.table(ofRoot: entity.root)?.name
            for property in entity.properties where !property.isTransient {
                let place: String?
                switch property.kind {
                case .attribute:
                    place = schema.columnName(entity: entity.ordinal, role: .attribute(slot: property.slot))
                case .relationship(let relationship) where relationship.isToMany:
                    let end = StoreLayout.Relationship(entity: property.declaringEntity, slot: property.slot)
                    place = schema.layout.joinTables[end]?.name
                case .relationship:
                    place = schema.columnName(entity: entity.ordinal, role: .destinationKey(slot: property.slot))
                case .fetched: place = nil
                }
                names.columns["\(entity.name).\(property.name)"] = place
            }
        }
        return names
    }
}
