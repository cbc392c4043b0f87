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

    /// Requests unknown rows together, if the store can read many objects together.
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
        if staleness >= 0, clock.now - known.time > staleness { return nil }
        return HeldRow(known.row)
    }

    /// Reads the store's current row; `nil` if it has no such object.
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
            known.time = clock.now
            known.isForgotten = false
            rows[key] = known
            return known
        }
        let row = try IncrementalRow(source: self, store: store, context: context)
            .row(of: node, key: primaryKey, version: known.map { $0.row.version &+ 1 } ?? 1)
        let made = Known(row: row, version: node.version, time: clock.now)
        rows[key] = made
        return made
    }
}
