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
            } else if let relationship = entity.entity.relationshipsByName[slot.name] {
                if let value = node.value(for: relationship) {
                    set(try destination(value, of: relationship, slot), slot, builder)
                } else {
                    // Asked for when the relationship is read.
                    builder.setUnasked(at: slot.column)
                    if slot.entityColumn >= 0 { builder.setUnasked(at: slot.entityColumn) }
                }
            }
        }
        return builder.finish(primaryKey: key, version: version, entity: entity.ordinal)
    }

    // MARK: To-ones

    /// Asks the store for the destination of a to-one that the node of the object left out.
    func newDestination(of slot: EntityRuntime.Slot, _ object: NSManagedObjectID) throws -> NSManagedObjectID? {
        let entity = source.runtime.entities[object.runtime.ordinal].entity
        guard let relationship = entity.relationshipsByName[slot.name] else { return nil }
        do {
            let value = try store.newValue(forRelationship: relationship, forObjectWith: object, with: context)
            return try destination(value, of: relationship, slot)
        } catch let error as CocoaError where error.errorCode == NSManagedObjectReferentialIntegrityError {
            // A deleted object has no destination.
            return nil
        }
    }

    /// The row with that destination.
    func row(_ row: RowSnapshot, _ slot: EntityRuntime.Slot, leadingTo id: NSManagedObjectID?) -> RowSnapshot {
        let layout = source.runtime.entities[row.entity].layout
        let builder = RowBuilder(columnCount: layout.columns.count)
        for (column, kind) in layout.kinds.enumerated() { builder.copy(column, kind: kind, from: row) }
        set(id, slot, builder)
        return builder.finish(primaryKey: row.primaryKey, version: row.version, entity: row.entity)
    }

    func destination(
        _ value: Any, of relationship: NSRelationshipDescription, _ slot: EntityRuntime.Slot
    ) throws -> NSManagedObjectID? {
        guard let destination = slot.relationship?.destination else { return nil }
        return try Self.ids(value, of: relationship, to: source.runtime.entities[destination], in: store).first
    }

    private func set(_ id: NSManagedObjectID?, _ slot: EntityRuntime.Slot, _ builder: RowBuilder) {
        if let id {
            builder.setInteger(id.primaryKey, at: slot.column)
        } else {
            builder.setNull(at: slot.column)
        }
        guard slot.entityColumn >= 0 else { return }
        if let id {
            builder.setInteger(source.number(ofEntity: id.runtime.ordinal), at: slot.entityColumn)
        } else {
            builder.setNull(at: slot.entityColumn)
        }
    }

    /// Returns the IDs of a relationship's destinations.
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
