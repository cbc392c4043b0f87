import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// Destinations of relationships: the store is asked for them when they are read.
extension IncrementalSource {
    /// A to-one that the node left out is asked for once for each version of the node.
    func row(_ row: RowSnapshot, withDestinationOf slot: Int) throws -> RowSnapshot {
        let entity = runtime.entities[row.entity]
        let info = entity.slots[slot]
        guard info.column >= 0, row.isUnreadable(info.column) else { return row }
        return try ask { store, context in
            let maker = IncrementalRow(source: self, store: store, context: context)
            if let kept = keptRow(like: row), !kept.isUnreadable(info.column) {
                return maker.row(row, info, leadingTo: destination(in: kept, info))
            }
            let id = try maker.newDestination(of: info, objectID(row.primaryKey, root: entity.root))
            return keep(id, info, row, maker)
        }
    }

    /// Asks the store for all at once, if it can tell the relationship of many objects.
    func rows(_ found: [RowSnapshot], withDestinationsOf slot: Int) throws -> [RowSnapshot] {
        guard let first = found.first, store is any BatchReadingIncrementalStore else { return found }
        let entity = runtime.entities[first.entity]
        let info = entity.slots[slot]
        guard info.column >= 0, let relationship = entity.entity.relationshipsByName[info.name] else { return found }
        return try ask { store, context in
            let maker = IncrementalRow(source: self, store: store, context: context)
            var result = found
            var unknown: [Int] = []
            for (index, row) in found.enumerated() where row.isUnreadable(info.column) {
                if let kept = keptRow(like: row), !kept.isUnreadable(info.column) {
                    result[index] = maker.row(row, info, leadingTo: destination(in: kept, info))
                } else {
                    unknown.append(index)
                }
            }
            let ids = unknown.map { objectID(found[$0].primaryKey, root: entity.root) }
            guard let values = try newValues(relationship, ids, store, context) else { return result }
            for (index, value) in zip(unknown, values) {
                let id = try maker.destination(value, of: relationship, info)
                result[index] = keep(id, info, found[index], maker)
            }
            return result
        }
    }

    /// Returns the values of a relationship of many objects, if the store can read them together.
    private func newValues(
        _ relationship: NSRelationshipDescription, _ ids: [NSManagedObjectID], _ store: NSIncrementalStore,
        _ context: NSManagedObjectContext
    ) throws -> [Any]? {
        guard ids.count > 1, let reader = store as? any BatchReadingIncrementalStore,
            let values = try reader.newValues(
                forRelationship: relationship, forObjectsWith: ids, with: context)
        else { return nil }
        guard values.count == ids.count else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError,
                """
                \(storeName).newValues(forRelationship:forObjectsWith:with:) was asked for '\(relationship.name)' of \
                \(ids.count) objects, and returned \(values.count) values. Return one for each ID, in their order.
                """)
        }
        return values
    }

    /// The row that is kept of the object, if it is of the same version.
    private func keptRow(like row: RowSnapshot) -> RowSnapshot? {
        let known = rows[rootKey(RowKey(entity: row.entity, primaryKey: row.primaryKey))]?.row
        return known?.version == row.version && known?.entity == row.entity ? known : nil
    }

    /// Returns the row with the destination, and adds it to the cached row of the object.
    private func keep(
        _ id: NSManagedObjectID?, _ slot: EntityRuntime.Slot, _ row: RowSnapshot, _ maker: IncrementalRow
    ) -> RowSnapshot {
        if let kept = keptRow(like: row) {
            rows[rootKey(RowKey(entity: row.entity, primaryKey: row.primaryKey))]?.row = maker.row(
                kept, slot, leadingTo: id)
        }
        return maker.row(row, slot, leadingTo: id)
    }

    private func destination(in row: RowSnapshot, _ slot: EntityRuntime.Slot) -> NSManagedObjectID? {
        guard !row.isNull(slot.column), let destination = slot.relationship?.destination else { return nil }
        let number = slot.entityColumn >= 0 && !row.isNull(slot.entityColumn) ? row.integer(slot.entityColumn) : 0
        return NSManagedObjectID(
            runtime: runtime.entities[entity(numbered: number) ?? destination],
            primaryKey: row.integer(slot.column), store: attached)
    }

    /// Returns the row with all destinations, for readers that need complete rows.
    func whole(_ row: RowSnapshot) throws -> RowSnapshot {
        try runtime.entities[row.entity].slots.reduce(row) { row, slot in
            guard slot.relationship?.isToMany == false else { return row }
            return try self.row(row, withDestinationOf: slot.property.slot)
        }
    }

    func destinationRows(
        entity: Int, slot: Int, owners: [Int64]
    ) throws -> [(owner: Int64, rows: [RowSnapshot])] {
        let members = try members(entity: entity, slot: slot, owners: owners)
        guard let root = members.lazy.compactMap(\.keys.first).first.map({ runtime.model.entities[$0.entity].root })
        else { return members.map { ($0.owner, []) } }
        let rows = try heldRows(members.flatMap { $0.keys.map(\.primaryKey) }, root: root, staleness: -1)
        var next = 0
        return members.map { owner, keys in
            let own = next..<(next + keys.count)
            next = own.upperBound
            return (owner, own.compactMap { rows.hasRow($0) ? rows[$0] : nil })
        }
    }

    /// Returns the keys of the members of each owner's to-many relationship: members are read when they are used.
    private func members(entity: Int, slot: Int, owners: [Int64]) throws -> [(owner: Int64, keys: [RowKey])] {
        let name = runtime.entities[entity].slots[slot].name
        guard let relationship = runtime.entities[entity].entity.relationshipsByName[name],
            let destination = runtime.entities[entity].slots[slot].relationship?.destination
        else { return owners.map { ($0, []) } }
        let target = runtime.entities[destination]
        var seen: Set<Int64> = []
        let owners = owners.filter { seen.insert($0).inserted }
        let ids = owners.map { objectID($0, root: runtime.model.entities[entity].root) }
        let members = try ask { store, context -> [[NSManagedObjectID]] in
            if let values = try newValues(relationship, ids, store, context) {
                return try values.map { try IncrementalRow.ids($0, of: relationship, to: target, in: store) }
            }
            return try ids.map { id in
                do {
                    let members = try store.newValue(forRelationship: relationship, forObjectWith: id, with: context)
                    return try IncrementalRow.ids(members, of: relationship, to: target, in: store)
                } catch let error as CocoaError where error.errorCode == NSManagedObjectReferentialIntegrityError {
                    // A deleted object has no members.
                    return []
                }
            }
        }
        return zip(owners, members).map { owner, ids in
            let keys = ids.map { RowKey(entity: $0.runtime.ordinal, primaryKey: $0.primaryKey) }
            return (owner, relationship.isOrdered ? keys : keys.sorted { $0.primaryKey < $1.primaryKey })
        }
    }

    func memberKeys(entity: Int, slot: Int, owners: [Int64]) throws -> [(owner: Int64, keys: [RowKey])]? {
        try members(entity: entity, slot: slot, owners: owners)
    }
}
