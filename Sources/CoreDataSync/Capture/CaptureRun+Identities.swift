import CoreData
import CoreDataSyncEngine
import Foundation

// Which object is which: IDs of new objects, and of those that are referred to.
extension CaptureRun {
    /// Gives IDs to objects, and queues those that have no entry yet.
    ///
    /// - Parameter transactions: the numbers of the transactions that inserted them, as far as they are known.
    func identify(_ keys: [Int64], of entity: SyncEntity, from transactions: InsertedKeys = InsertedKeys()) throws {
        let table = table(entity.root)
        let known = try capture.sidecar.identifiers(root: entity.root, keys: keys)
        table.ids.merge(known)
        let new = try withoutRestored(keys.filter { table.ids[$0] == nil }, of: entity, table)
        guard !new.isEmpty else { return }
        guard entity.idAttribute != nil || !entity.keyAttributes.isEmpty else {
            try identifyByTransaction(new, table, transactions)
            queue[entity.name, default: []] += new
            return
        }
        for start in stride(from: 0, to: new.count, by: Self.portion) {
            try identifyByKey(Array(new[start..<min(new.count, start + Self.portion)]), of: entity, table)
        }
    }

    /// Gives objects IDs that follow from their transactions; random ones where these are not known.
    ///
    /// A device whose store and sidecar were restored captures the same transactions again: it finds the same IDs.
    private func identifyByTransaction(_ keys: [Int64], _ table: RootTable, _ transactions: InsertedKeys) throws {
        var made: [GlobalID] = []
        for key in keys {
            guard let transaction = transactions[key],
                let id = transactionIDs.id(of: key, root: table.root, transaction: transaction)
            else {
                table.ids[key] = nextID()
                continue
            }
            table.ids.append(key, id)
            made.append(id)
        }
        // Mostly none: the sidecar may be newer than the store.
        let entries = try capture.sidecar.entries(ids: made)
        guard !entries.isEmpty else { return }
        let known = try entriesWithAliases(of: entries.map(\.id))
        let taken = Set(known.keys.filter { !take($0, known) })
        for key in keys { if let id = table.ids[key], taken.contains(id) { table.ids[key] = nextID() } }
    }

    /// A new ID, greater than those of this capture before.
    private func nextID() -> GlobalID {
        let id: GlobalID
        if var last = lastID, let next = KeyIdentity.next(after: last.id, step: last.steps.next()) {
            id = next
            lastID = (id, last.steps)
        } else {
            id = capture.newID(now)
            lastID = (id, IDSteps(from: id))
        }
        return id
    }

    /// The keys without those of objects that the journal created again, which have their former IDs.
    private func withoutRestored(_ keys: [Int64], of entity: SyncEntity, _ table: RootTable) throws -> [Int64] {
        let found = restored.isEmpty ? [] : keys.filter { restored[ObjectKey(root: entity.root, key: $0)] != nil }
        guard !found.isEmpty else { return keys }
        let ids = found.compactMap { restored[ObjectKey(root: entity.root, key: $0)] }
        let entries = try entriesWithAliases(of: ids)
        for (key, id) in zip(found, ids) where take(id, entries) {
            table.ids[key] = id
            queue[entity.name, default: []].append(key)
        }
        return keys.filter { table.ids[$0] == nil }
    }

    private func identifyByKey(_ keys: [Int64], of entity: SyncEntity, _ table: RootTable) throws {
        let reader = try reader(entity)
        let attributes = (entity.idAttribute.map { [$0] } ?? entity.keyAttributes)
            .compactMap { reader.values.number(of: $0) }
        // In a context of its own: objects of the other one may be in use.
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = capture.coordinator
        var open: [(key: Int64, values: [SyncValue]?)] = try other.performAndWait {
            try fetch(keys, of: entity, in: other).map { ($0.objectID.key, try keyValues($0, reader, attributes)) }
        }.sorted { $0.key < $1.key }
        queue[entity.name, default: []] += open.map(\.key)
        // Of objects with equal keys the second one has the key's second ID on all devices, and so on.
        for ordinal in 1...Self.ordinals where !open.isEmpty {
            let candidates = open.map { (key: $0.key, values: $0.values, id: id($0.values, entity, ordinal)) }
            let entries = try entriesWithAliases(of: candidates.compactMap(\.id))
            open = []
            for (key, values, candidate) in candidates {
                guard let candidate else {
                    table.ids[key] = nextID()
                    continue
                }
                if take(candidate, entries) { table.ids[key] = candidate } else { open.append((key, values)) }
            }
        }
        for (key, _) in open { table.ids[key] = nextID() }
    }

    /// The number of objects with equal keys that have IDs which are the same on all devices; further ones have random
    /// IDs.
    private static let ordinals = 64

    /// The values of an object's key; `nil` for an object without a key.
    private func keyValues(
        _ object: NSManagedObject, _ reader: EntityReader, _ attributes: [Int]
    ) throws -> [SyncValue]? {
        let values = try attributes.map { try reader.values.value($0, of: object) }
        return values.isEmpty || values.contains(.null) ? nil : values
    }

    private func id(_ values: [SyncValue]?, _ entity: SyncEntity, _ ordinal: Int) -> GlobalID? {
        guard let values else { return nil }
        let further: [SyncValue] = ordinal == 1 ? [] : [.integer(Int64(ordinal))]
        guard entity.idAttribute != nil else {
            return KeyIdentity.id(entity: entity.keyEntity, values: values + further)
        }
        guard case .uuid(let id) = values[0] else { return nil }
        return ordinal == 1 ? id : KeyIdentity.id(entity: entity.root, values: values + further)
    }

    private func entriesWithAliases(of ids: [GlobalID]) throws -> [GlobalID: SidecarEntry] {
        try capture.sidecar.entries(of: Set(ids)) { $0.key == 0 ? $0.state.aliases : [] }
    }

    /// Whether the ID is free for a new object.
    private func take(_ id: GlobalID, _ entries: [GlobalID: SidecarEntry]) -> Bool {
        guard !claimed.contains(id), !isAliasOfLivingObject(id, entries) else { return false }
        if let deleted = gone.removeValue(forKey: id) {
            formerStates[id] = deleted.state
        } else if let entry = entries[id] {
            guard entry.key == 0 else { return false }
            formerStates[id] = entry.state
        }
        claimed.insert(id)
        return true
    }

    /// Whether the ID names an object that has a row under another ID.
    private func isAliasOfLivingObject(_ id: GlobalID, _ entries: [GlobalID: SidecarEntry]) -> Bool {
        var seen: Set<GlobalID> = [id]
        var open = entries[id].map { Array($0.state.aliases) } ?? []
        while let next = open.popLast() {
            guard seen.insert(next).inserted, let entry = entries[next] else { continue }
            if entry.key != 0, gone[next] == nil { return true }
            open += entry.state.aliases
        }
        return false
    }

    // MARK: References

    /// Finds the IDs of what the objects refer to; objects that are not in the sidecar yet are queued.
    func resolveReferences(
        of objects: [NSManagedObject], _ reader: EntityReader, _ changed: [Int64: Set<String>]?
    ) throws {
        var unknown: [String: (entity: NSEntityDescription, keys: Set<Int64>)] = [:]
        func note(_ id: NSManagedObjectID) {
            let entity = id.entity
            guard let table = table(of: entity), table.ids[id.key] == nil, !table.missing.contains(id.key) else {
                return
            }
            unknown[entity.name ?? "", default: (entity, [])].keys.insert(id.key)
        }
        guard !reader.toOnes.isEmpty || !reader.entity.pairs.isEmpty else { return }
        for object in objects {
            let names = changed.map { $0[object.objectID.key] ?? [] }
            for number in reader.toOnes where names?.contains(reader.names[number]) ?? true {
                if let id = reader.values.destination(number, of: object) { note(id) }
            }
            for pair in reader.entity.pairs where names?.contains(pair.name) ?? true {
                for id in object.objectIDs(forRelationshipNamed: pair.name) { note(id) }
            }
        }
        for (name, found) in unknown {
            if let entity = capture.rules[name] { try resolve(Array(found.keys), of: entity) }
        }
    }

    /// Finds the IDs of objects; those that are not in the sidecar are queued if they exist.
    func resolve(_ keys: [Int64], of entity: SyncEntity) throws {
        let table = table(entity.root)
        let unknown = keys.filter { table.ids[$0] == nil && !table.missing.contains($0) }
        guard !unknown.isEmpty else { return }
        table.ids.merge(try capture.sidecar.identifiers(root: entity.root, keys: unknown))
        let new = unknown.filter { table.ids[$0] == nil }
        guard !new.isEmpty else { return }
        // A save after the transactions that are captured may have made them; their own transaction finds their
        // entries.
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name)
        request.resultType = .managedObjectIDResultType
        request.includesSubentities = false
        request.affectedStores = [capture.store]
        request.predicate = NSPredicate(format: "SELF IN %@", objectIDs(new, of: entity))
        let existing = Set(try context.fetch(request).map(\.key))
        table.missing.formUnion(new.filter { !existing.contains($0) })
        if !existing.isEmpty { try identify(existing.sorted(), of: entity) }
    }

    /// The ID of an object that was resolved; `nil` for one that does not exist or is not exchanged.
    func globalID(_ id: NSManagedObjectID) -> GlobalID? {
        guard let table = table(of: id.entity) else { return nil }
        if let found = table.ids[id.key] { return found }
        result.danglingReferences += 1
        return nil
    }
}
