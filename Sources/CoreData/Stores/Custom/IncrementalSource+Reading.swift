import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// Rows by key, which are made of the store's nodes, and the members of relationships.
extension IncrementalSource {
    func heldRow(_ primaryKey: Int64, root: Int, staleness: Double) throws -> HeldRow? {
        if let known = cachedRow(primaryKey, root: root, staleness: staleness) { return known }
        return try read(primaryKey, root: root).map { HeldRow($0.row) }
    }

    /// Those that are not known are asked for together, where the store can read many objects at once.
    func heldRows(_ primaryKeys: [Int64], root: Int, staleness: Double) throws -> RowList {
        enter()
        defer { leave() }
        let found = RowList()
        var missing: [Int] = []
        for (index, key) in primaryKeys.enumerated() {
            found.append(cachedRow(key, root: root, staleness: staleness))
            if !found.hasRow(index) { missing.append(index) }
        }
        guard !missing.isEmpty else { return found }
        let read = try read(missing.map { primaryKeys[$0] }, root: root)
        for index in missing { found.put(read[primaryKeys[index]].map { HeldRow($0.row) }, at: index) }
        return found
    }

    func cachedRow(_ primaryKey: Int64, root: Int, staleness: Double) -> HeldRow? {
        enter()
        defer { leave() }
        guard let known = rows[RowKey(entity: root, primaryKey: primaryKey)], !known.isForgotten else { return nil }
        if staleness >= 0, Date().timeIntervalSinceReferenceDate - known.time > staleness { return nil }
        return HeldRow(known.row)
    }

    /// The row as the store has it now; `nil` where it has no such object.
    private func read(_ primaryKey: Int64, root: Int) throws -> Known? {
        try ask { store, context in
            do {
                let id = objectID(primaryKey, root: root)
                let node = try store.newValuesForObject(with: id, with: context)
                try check(node, root: root, [primaryKey], "newValuesForObject(with:with:)", askedFor: "\(id)")
                return try take(node, primaryKey, root: root, context)
            } catch let error as CocoaError where error.errorCode == NSManagedObjectReferentialIntegrityError {
                rows[RowKey(entity: root, primaryKey: primaryKey)] = nil
                return nil
            }
        }
    }

    /// The rows as the store has them now, by their keys; none of a key that it has no object of.
    func read(_ primaryKeys: [Int64], root: Int) throws -> [Int64: Known] {
        let keys = Set(primaryKeys)
        guard keys.count > 1, let reader = store as? any BatchReadingIncrementalStore else {
            var found: [Int64: Known] = [:]
            for key in keys.sorted() { found[key] = try read(key, root: root) }
            return found
        }
        return try ask { store, context in
            let ids = keys.sorted().map { objectID($0, root: root) }
            var found: [Int64: Known] = [:]
            for node in try reader.newValuesForObjects(with: ids, with: context) {
                try check(
                    node, root: root, keys, "newValuesForObjects(with:with:)", askedFor: "\(ids.count) other objects")
                let key = node.objectID.primaryKey
                found[key] = try take(node, key, root: root, context)
            }
            for key in keys where found[key] == nil { rows[RowKey(entity: root, primaryKey: key)] = nil }
            return found
        }
    }

    /// - Throws: an error that names a node of an object that the store was not asked for.
    private func check(
        _ node: NSIncrementalStoreNode, root: Int, _ keys: Set<Int64>, _ method: String,
        askedFor wanted: @autoclosure () -> String
    ) throws {
        let id = node.objectID
        let entity = runtime.entities[root]
        if entity.includes(id), keys.contains(id.primaryKey) { return }
        throw CoreDataErrors.make(
            NSPersistentStoreOperationError,
            "\(storeName).\(method) was asked for \(wanted()), and returned a node of \(id).")
    }

    /// The row of a node, which is known from now on.
    private func take(
        _ node: NSIncrementalStoreNode, _ primaryKey: Int64, root: Int, _ context: NSManagedObjectContext
    ) throws -> Known {
        let key = RowKey(entity: root, primaryKey: primaryKey)
        let known = rows[key]
        if var known, known.version == node.version {
            known.time = Date().timeIntervalSinceReferenceDate
            known.isForgotten = false
            rows[key] = known
            return known
        }
        let row = try IncrementalRow(source: self, store: store, context: context)
            .row(of: node, key: primaryKey, version: known.map { $0.row.version &+ 1 } ?? 1)
        let made = Known(row: row, version: node.version, time: Date().timeIntervalSinceReferenceDate)
        rows[key] = made
        return made
    }

    // MARK: Relationships

    /// A to-one that the node left out is asked for once for each version of the node.
    func row(_ row: RowSnapshot, withDestinationOf slot: Int) throws -> RowSnapshot {
        let entity = runtime.entities[row.entity]
        let info = entity.slots[slot]
        guard info.column >= 0, row.isUnreadable(info.column) else { return row }
        return try ask { store, context in
            let maker = IncrementalRow(source: self, store: store, context: context)
            let key = RowKey(entity: entity.root, primaryKey: row.primaryKey)
            /// The row that is kept, if it is of the same version.
            func kept() -> RowSnapshot? {
                rows[key].flatMap { $0.row.version == row.version && $0.row.entity == row.entity ? $0.row : nil }
            }
            if let kept = kept(), !kept.isUnreadable(info.column) {
                return maker.row(row, info, leadingTo: destination(in: kept, info))
            }
            let id = try maker.newDestination(of: info, objectID(row.primaryKey, root: entity.root))
            if let kept = kept() { rows[key]?.row = maker.row(kept, info, leadingTo: id) }
            return maker.row(row, info, leadingTo: id)
        }
    }

    private func destination(in row: RowSnapshot, _ slot: EntityRuntime.Slot) -> NSManagedObjectID? {
        guard !row.isNull(slot.column), let destination = slot.relationship?.destination else { return nil }
        let number = slot.entityColumn >= 0 && !row.isNull(slot.entityColumn) ? row.integer(slot.entityColumn) : 0
        return NSManagedObjectID(
            runtime: runtime.entities[entity(numbered: number) ?? destination],
            primaryKey: row.integer(slot.column), store: attached)
    }

    /// The row with all destinations, for readers that take rows as they are.
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

    /// Where a to-many relationship of each owner leads, by their keys alone: members are read when something of them is.
    private func members(entity: Int, slot: Int, owners: [Int64]) throws -> [(owner: Int64, keys: [RowKey])] {
        let name = runtime.entities[entity].slots[slot].name
        guard let relationship = runtime.entities[entity].entity.relationshipsByName[name],
            let destination = runtime.entities[entity].slots[slot].relationship?.destination
        else { return owners.map { ($0, []) } }
        let target = runtime.entities[destination]
        var seen: Set<Int64> = []
        return try owners.filter { seen.insert($0).inserted }.map { owner in
            let id = objectID(owner, root: runtime.model.entities[entity].root)
            let ids = try ask { store, context in
                do {
                    let members = try store.newValue(forRelationship: relationship, forObjectWith: id, with: context)
                    return try IncrementalRow.ids(members, of: relationship, to: target, in: store)
                } catch let error as CocoaError where error.errorCode == NSManagedObjectReferentialIntegrityError {
                    // What is gone has no members.
                    return []
                }
            }
            let keys = ids.map { RowKey(entity: $0.runtime.ordinal, primaryKey: $0.primaryKey) }
            return (owner, relationship.isOrdered ? keys : keys.sorted { $0.primaryKey < $1.primaryKey })
        }
    }

    func memberKeys(entity: Int, slot: Int, owners: [Int64]) throws -> [(owner: Int64, keys: [RowKey])]? {
        try members(entity: entity, slot: slot, owners: owners)
    }
}
