import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation
import Synchronization

/// The rows of an ``NSIncrementalStore``, which it makes of the store's nodes.
///
/// ```
///  rows by key ──▶ node of the store ──▶ row, kept with the node's version
///  fetch       ──▶ request to the store ──▶ IDs ──▶ rows by key
///  save        ──▶ are the nodes still of the versions that are known? ──▶ request to the store
/// ```
final class IncrementalSource: RowSource, ObjectSource, @unchecked Sendable {
    // Safe because `lock` guards everything that changes.

    let references: ReferenceTable
    let rowCache: RowCache
    let runtime: ModelRuntime
    weak var attached: AttachedStore?
    private let store: NSIncrementalStore
    private let entities: Set<Int>
    /// Held while the store is asked: one thread at a time.
    private let lock = NSRecursiveLock()
    private var rows: [RowKey: Known] = [:]
    private var saved: SavedRequest?
    /// What requests go to the store with; its objects are only looked at for their IDs. As long as the store is asked, since it
    /// holds the coordinator.
    private var ownContext: NSManagedObjectContext?
    private var depth = 0

    /// A row, and the version of the node that it was made of.
    private struct Known {
        var row: RowSnapshot
        var version: UInt64
        var time: Double
        /// Whether the store is to be asked again all the same; the row is what its versions are counted by.
        var isForgotten = false
    }

    /// What the store has not been told yet of objects that came or went: whoever asks it now tells it then.
    private let registrations = Mutex<[(isRegistered: Bool, ids: [NSManagedObjectID])]>([])

    init(_ store: NSIncrementalStore, runtime: ModelRuntime, entities: [Int]) {
        self.store = store
        self.runtime = runtime
        self.entities = Set(entities)
        references = ReferenceTable.of(store: store.identifier ?? "")
        rowCache = RowCache(model: runtime.model)
    }

    var identifier: String { store.identifier }
    var isReadOnly: Bool { store.isReadOnly }

    func includes(entity: Int) -> Bool { entities.contains(entity) }
    func root(ofEntity entity: Int) -> Int { runtime.model.entities[entity].root }
    func number(ofEntity entity: Int) -> Int64 { includes(entity: entity) ? Int64(entity) + 1 : 0 }
    func entity(numbered number: Int64) -> Int? {
        guard number > 0, number <= Int64(runtime.model.entities.count) else { return nil }
        return includes(entity: Int(number) - 1) ? Int(number) - 1 : nil
    }

    private func enter() {
        lock.lock()
        depth += 1
    }

    private func leave() {
        depth -= 1
        let isOutermost = depth == 0
        // Its objects tell nobody when they go.
        let context = isOutermost ? ownContext : nil
        if isOutermost { ownContext = nil }
        lock.unlock()
        withExtendedLifetime(context) {}
        if isOutermost { tellRegistrations() }
    }

    func locked<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R {
        enter()
        defer { leave() }
        return try body(try context())
    }

    private func context() throws -> NSManagedObjectContext {
        if let ownContext { return ownContext }
        guard let coordinator = store.persistentStoreCoordinator else {
            throw CoreDataErrors.coreData("The store is not attached to a coordinator any more.")
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.registry.isOfStore = true
        context.persistentStoreCoordinator = coordinator
        ownContext = context
        return context
    }

    /// Asks the store, on the queue of the context that it is asked with.
    func ask<R>(_ body: (NSIncrementalStore, NSManagedObjectContext) throws -> R) throws -> R {
        try locked { context in try context.performAndWait { try body(store, context) } }
    }

    func objectID(_ key: Int64, root: Int) -> NSManagedObjectID {
        let entity = references.runtime(ofKey: key, below: runtime.entities[root], in: runtime)
        return NSManagedObjectID(runtime: entity, primaryKey: key, store: attached)
    }

    // MARK: By key

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
                let node = try store.newValuesForObject(with: objectID(primaryKey, root: root), with: context)
                guard node.objectID.runtime.root == root, node.objectID.primaryKey == primaryKey else {
                    throw CoreDataErrors.make(
                        NSPersistentStoreOperationError,
                        """
                        \(type(of: store)).newValuesForObject(with:with:) was asked for \(objectID(primaryKey, root: root)), and \
                        returned a node of \(node.objectID).
                        """)
                }
                return try take(node, primaryKey, root: root, context)
            } catch let error as CocoaError where error.errorCode == NSManagedObjectReferentialIntegrityError {
                rows[RowKey(entity: root, primaryKey: primaryKey)] = nil
                return nil
            }
        }
    }

    /// The rows as the store has them now, by their keys; none of a key that it has no object of.
    private func read(_ primaryKeys: [Int64], root: Int) throws -> [Int64: Known] {
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
                let id = node.objectID
                guard id.runtime.root == root, keys.contains(id.primaryKey) else {
                    throw CoreDataErrors.make(
                        NSPersistentStoreOperationError,
                        """
                        \(type(of: store)).newValuesForObjects(with:with:) returned a node of \(id), which it was not asked for.
                        """)
                }
                found[id.primaryKey] = try take(node, id.primaryKey, root: root, context)
            }
            for key in keys where found[key] == nil { rows[RowKey(entity: root, primaryKey: key)] = nil }
            return found
        }
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

    // MARK: Registrations

    var wantsRegistrations: Bool { true }

    func forget(_ primaryKey: Int64, root: Int) {
        enter()
        defer { leave() }
        rows[RowKey(entity: root, primaryKey: primaryKey)]?.isForgotten = true
    }

    func contextDid(register isRegistered: Bool, _ ids: [NSManagedObjectID]) {
        registrations.withLock { $0.append((isRegistered, ids)) }
        tellRegistrations()
    }

    /// Nobody waits for that: whoever has the lock tells what came meanwhile when he lets go of it.
    private func tellRegistrations() {
        while !registrations.withLock(\.isEmpty), lock.try() {
            guard depth == 0 else { return lock.unlock() }
            depth += 1
            let notes = registrations.withLock { notes in
                defer { notes = [] }
                return notes
            }
            for (isRegistered, ids) in notes {
                if isRegistered {
                    store.managedObjectContextDidRegisterObjects(with: ids)
                } else {
                    for id in ids {
                        rows[RowKey(entity: id.runtime.root, primaryKey: id.primaryKey)]?.isForgotten = true
                    }
                    store.managedObjectContextDidUnregisterObjects(with: ids)
                }
            }
            depth -= 1
            lock.unlock()
        }
    }

    // MARK: Saving

    func allocateKeys(root: Int, count: Int) throws -> ClosedRange<Int64> {
        throw CoreDataErrors.make(
            NSPersistentStoreOperationError, "A store of the program's own class gives IDs to objects only.")
    }

    func keys(for objects: [NSManagedObject]) throws -> [Int64] {
        enter()
        defer { leave() }
        if isReadOnly { throw CoreDataErrors.readOnly(store) }
        let ids = try store.obtainPermanentIDs(for: objects)
        let fits = ids.count == objects.count && zip(ids, objects).allSatisfy { $0.runtime.root == $1.runtime.root }
        let context = objects.first?.managedObjectContext
        // Also by an object of which nothing has been read.
        let isTaken = { (id: NSManagedObjectID) in
            let isKnown = self.rows[RowKey(entity: id.runtime.root, primaryKey: id.primaryKey)] != nil
            return (isKnown || context?.registeredObject(for: id) != nil) && context?.isDeleting(id) != true
        }
        guard fits, Set(ids).count == ids.count, !ids.contains(where: isTaken) else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError,
                "\(type(of: store)).obtainPermanentIDs(for:) must return an ID of its own for each object, in their order."
            )
        }
        return ids.map(\.primaryKey)
    }

    func saving<R>(_ save: SavedRequest, _ body: () throws -> R) rethrows -> R {
        enter()
        defer {
            saved = nil
            leave()
        }
        saved = save
        return try body()
    }

    func save(
        keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet, beforeCommit: (() throws -> Void)?
    ) throws -> SaveOutcome {
        enter()
        defer { leave() }
        if isReadOnly { throw StoreFailure(.readOnly, "The store is open for reading only.") }
        let changes = try build([:])
        let hasRows = !changes.insertions.isEmpty || !changes.updates.isEmpty || !changes.deletions.isEmpty
        guard !hasRows || saved != nil else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError,
                "Rows without objects cannot be saved to a store of the program's own class.")
        }
        let conflicts = try conflicts(changes)
        if !conflicts.isEmpty { throw SaveFailure.conflicts(conflicts) }
        try beforeCommit?()
        if changes.writesAnything { try write(changes, hasRows: hasRows) }
        return SaveOutcome(keys: [:], derivedRows: [])
    }

    private func write(_ changes: ChangeSet, hasRows: Bool) throws {
        let request: NSSaveChangesRequest
        if hasRows, let saved {
            request = NSSaveChangesRequest(
                inserted: Set(saved.inserted), updated: Set(saved.updated()), deleted: Set(saved.deleted),
                locked: Set(saved.locked))
        } else {
            request = NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil)
        }
        request.affectedStores = [store]
        _ = try store.execute(request, with: saved?.context)
        let now = Date().timeIntervalSinceReferenceDate
        for deletion in changes.deletions { rows[rootKey(deletion.key)] = nil }
        for row in changes.insertions.map(\.row) + changes.updates.map(\.new) {
            // The version that the store has given it; without an answer it is asked for when it is needed.
            let key = rootKey(row.key)
            let id = objectID(row.primaryKey, root: key.entity)
            let node = try? ask { store, context in try store.newValuesForObject(with: id, with: context) }
            rows[key] = node.map { Known(row: row, version: $0.version, time: now) }
        }
    }

    private func rootKey(_ key: RowKey) -> RowKey {
        RowKey(entity: runtime.model.entities[key.entity].root, primaryKey: key.primaryKey)
    }

    /// Rows that are no longer of the version that the context knows: the store is asked for each.
    private func conflicts(_ changes: ChangeSet) throws -> [SaveFailure.Conflict] {
        let expected =
            changes.updates.map { (key: $0.old.key, version: $0.old.version) }
            + changes.deletions.map { (key: $0.key, version: $0.version) }
            + changes.checks.map { (key: $0.key, version: $0.version) }
        let deleted = Set(changes.deletions.map { rootKey($0.key) })
        var present: [RowKey: RowSnapshot] = [:]
        for (root, keys) in Dictionary(grouping: expected.map { rootKey($0.key) }, by: \.entity) {
            for (key, known) in try read(keys.map(\.primaryKey), root: root) {
                present[RowKey(entity: root, primaryKey: key)] = known.row
            }
        }
        return expected.compactMap { key, version in
            let root = rootKey(key)
            let now = present[root]
            // A row to be deleted that is gone is as it shall be.
            if now == nil, deleted.contains(root) { return nil }
            guard now?.version != version else { return nil }
            var conflict = SaveFailure.Conflict(key: key, expectedVersion: version, persisted: now)
            conflict.cached = now
            return conflict
        }
    }

    func metadata() throws -> MetadataRow { try store.metadataRow() }

    func close() {
        enter()
        defer { leave() }
        rows = [:]
        ownContext = nil
    }
}
