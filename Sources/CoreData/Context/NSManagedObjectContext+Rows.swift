import CoreDataPrimitives
import CoreDataStore
import Foundation

// The context's objects as rows, for its children: in their current state, saved or not.
extension NSManagedObjectContext {
    /// Returns a position for each key, with a row if the context has the object: registered objects in their current
    /// state, others as `read` finds them in the context's own source.
    final func heldRows(
        _ primaryKeys: [Int64], root: Int, in storeIndex: Int32, read: (any ReadableSource, [Int64]) throws -> RowList
    ) throws -> RowList {
        adoptPermanentKeys()
        let found = RowList()
        for _ in primaryKeys { found.append(nil) }
        var missing: [(index: Int, key: Int64)] = []
        var rows = ContextRows(self)
        for (index, key) in primaryKeys.enumerated() {
            let key = permanentKey(key)
            let known = registry.object(store: storeIndex, root: root, primaryKey: key)
            if let known, known.hasChanges || known.hasCurrentRow || !known.isStored {
                found.put(try rows.held(known), at: index)
            } else if key > 0 || parentLink.isChild {
                missing.append((index, key))
            }
        }
        guard !missing.isEmpty, let source = store(at: storeIndex)?.source else { return found }
        let read = try read(source, missing.map(\.key))
        for (place, index) in zip(missing, read.indices) { found.put(read.take(index), at: place.index) }
        return found
    }

    /// The key that an object has now that was known by a temporary one.
    final func permanentKey(_ key: Int64) -> Int64 {
        key < 0 ? permanentID(forTemporaryKey: key)?.primaryKey ?? key : key
    }

    /// The rows of the members of a to-many relationship, for each owner.
    final func memberRows(
        entity: Int, slot: Int, owners: [Int64], in storeIndex: Int32
    ) throws -> [(owner: Int64, rows: [RowSnapshot])] {
        adoptPermanentKeys()
        guard let store = store(at: storeIndex), let coordinator else { return [] }
        let objects = owners.map { owner in
            object(
                for: RowKey(entity: coordinator.runtime.entities[entity].ordinal, primaryKey: permanentKey(owner)),
                in: store)
        }
        if objects.count > 1 { try readMembers(slot, of: objects) }
        var rows = ContextRows(self)
        var result: [(owner: Int64, rows: [RowSnapshot])] = []
        for (owner, object) in zip(owners, objects) {
            let known = object.knownMembers(slot)
            try checkReads()
            let members = known.members.filter { !$0.isDeleted }
            try readRows(of: members)
            result.append((owner, try members.compactMap { try rows.row(of: $0) }))
        }
        return result
    }
}

/// Makes rows of a context's objects.
struct ContextRows {
    private let context: NSManagedObjectContext
    private var preparations: [Int32: SavePreparation] = [:]
    /// Of new objects, each entity may be of another store; they come in runs.
    private var lastNew: (home: ObjectHome, preparation: SavePreparation)?

    init(_ context: NSManagedObjectContext) { self.context = context }

    /// The object's row; `nil` for one that is deleted or gone.
    mutating func held(_ object: NSManagedObject) throws -> HeldRow? { try row(of: object).map { HeldRow($0) } }

    mutating func row(of object: NSManagedObject) throws -> RowSnapshot? {
        if object.isDeleted || object.flags.contains(.inaccessible) { return nil }
        if object.hasChanges || !object.isStored {
            let row = try preparation(for: object).rowForChild(object)
            // The row contains unsaved values and may change soon.
            row.supersede()
            return row
        }
        guard let row = object.row, row.primaryKey != object.primaryKey else { return object.row }
        // The row was read, or saved to an ancestor, before an ancestor saved the object. The receiver knows the object
        // by its current key.
        return try preparation(for: object).row(row, withKeyOf: object)
    }

    private mutating func preparation(for object: NSManagedObject) throws -> SavePreparation {
        let index = object.storeIndex
        if index == 0, let lastNew, lastNew.home === object.home { return lastNew.preparation }
        if let known = preparations[index] { return known }
        guard let store = object.home.store ?? context.storeForNew(object.runtime) else {
            throw CoreDataErrors.noWritableStore(entity: object.runtime.name, in: try context.coordinatorForRequest())
        }
        let made = SavePreparation(
            context: context, store: store, inserted: [], updated: [], deleted: [], checked: [], isForContexts: true)
        if index != 0 { preparations[index] = made } else { lastNew = (object.home, made) }
        return made
    }
}

extension SavePreparation {
    /// The object's row as its context has it; temporary keys stand for objects that have no others.
    func rowForChild(_ object: NSManagedObject) throws -> RowSnapshot {
        guard object.isStored, let old = object.rowView else { return try row(of: object, version: 1) }
        return try changedRow(of: object, from: old).row
    }

    /// The row under the key that the object has.
    fileprivate func row(_ row: RowSnapshot, withKeyOf object: NSManagedObject) throws -> RowSnapshot {
        let form = form(for: object)
        return row.withView { view in
            form.builder.copy(view, kinds: form.kinds)
            return form.builder.finish(
                primaryKey: object.primaryKey, version: view.version, entity: form.runtime.ordinal)
        }
    }
}
