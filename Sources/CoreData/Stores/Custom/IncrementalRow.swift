import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Makes rows of nodes.
struct IncrementalRow {
    let source: IncrementalSource
    let store: NSIncrementalStore
    let context: NSManagedObjectContext

    func row(of node: NSIncrementalStoreNode, key: Int64, version: Int32) throws -> RowSnapshot {
        let entity = source.runtime.entities[node.objectID.runtime.ordinal]
        let layout = entity.compiled.rowLayout
        let builder = RowBuilder(columnCount: layout.columns.count)
        for (index, slot) in entity.slots.enumerated() where !slot.property.isTransient && slot.column >= 0 {
            if slot.attribute != nil {
                let given = CompositeValues.element(slot, in: entity) { name in
                    entity.entity.propertiesByName[name].flatMap { node.value(for: $0) }
                }
                if let value = given {
                    try CustomValues.set(value, slot: index, of: entity, to: builder)
                }
            } else if let relationship = entity.entity.relationshipsByName[slot.name],
                let destination = slot.relationship?.destination
            {
                let given = node.value(for: relationship)
                let value =
                    try given
                    ?? store.newValue(forRelationship: relationship, forObjectWith: node.objectID, with: context)
                let target = source.runtime.entities[destination]
                guard let id = try Self.ids(value, of: relationship, to: target, in: store).first else { continue }
                builder.setInteger(id.primaryKey, at: slot.column)
                let column = layout.entityColumnOfSlot[index]
                if column >= 0 { builder.setInteger(source.number(ofEntity: id.runtime.ordinal), at: column) }
            }
        }
        return builder.finish(primaryKey: key, version: version, entity: entity.ordinal)
    }

    /// The IDs that a relationship leads to.
    static func ids(
        _ value: Any, of relationship: NSRelationshipDescription, to destination: EntityRuntime,
        in store: NSIncrementalStore
    ) throws -> [NSManagedObjectID] {
        let found: [Any] =
            switch value {
            case is NSNull: []
            case let one as NSManagedObjectID: [one]
            case let ids as NSOrderedSet where relationship.isToMany: ids.array
            case let ids as NSSet where relationship.isToMany: ids.allObjects
            case let ids as Set<NSManagedObjectID> where relationship.isToMany: Array(ids)
            case let ids as [Any] where relationship.isToMany: ids
            case let ids as NSArray where relationship.isToMany: ids.map { $0 }
            default: [value]
            }
        return try found.map { member in
            if let id = member as? NSManagedObjectID, destination.includes(id) { return id }
            let given =
                (member as? NSManagedObjectID).map { "the ID of a '\($0.runtime.name)'" } ?? "a \(type(of: member))"
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError,
                """
                \(type(of: store)) has \(given) for the relationship '\(relationship.name)' of \
                '\(relationship.entity.name ?? "")', which leads to \(relationship.isToMany ? "IDs" : "an ID") of \
                '\(destination.name)'.
                """)
        }
    }
}

extension EntityRuntime {
    /// Whether the ID is of an object of this entity, in whatever coordinator it was made.
    func isEntity(of id: NSManagedObjectID) -> Bool {
        id.runtime === self || id.runtime.ordinal == ordinal && id.runtime.name == name
    }

    /// Whether the ID is of an object of this entity or of one below it.
    func includes(_ id: NSManagedObjectID) -> Bool {
        isEntity(of: id) || compiled.subtree.contains(id.runtime.ordinal) && id.runtime.rootName == rootName
    }
}
