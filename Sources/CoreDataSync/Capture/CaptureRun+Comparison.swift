import CoreData
import CoreDataSyncEngine
import Foundation

// The whole store against the sidecar.
extension CaptureRun {
    func compare() throws -> CaptureResult {
        try context.performAndWait {
            var keys: [(entity: SyncEntity, keys: [Int64])] = []
            for entity in capture.rules.exchanged { keys.append((entity, try allKeys(of: entity))) }
            try compareRows(keys)
            var known: [(entity: SyncEntity, keys: [Int64])] = []
            for (entity, all) in keys {
                let found = try capture.sidecar.identifiers(root: entity.root, keys: all)
                known.append((entity, all.filter { found[$0] != nil }))
                try identify(all, of: entity)
            }
            for (entity, keys) in known where !keys.isEmpty {
                try forEachEntry(keys, of: entity) { object, entry, reader in
                    // A restored store has the row of a deleted object again.
                    if self.isSeed, entry.state.isGone { return }
                    try self.update(object, entry, reader, .compared)
                    for ordering in reader.orderings { self.noteOwner(ordering, of: object, reader) }
                }
            }
            try finish()
        }
        return result
    }

    private func allKeys(of entity: SyncEntity) throws -> [Int64] {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name)
        request.resultType = .managedObjectIDResultType
        request.includesSubentities = false
        request.affectedStores = [capture.store]
        return try context.fetch(request).map(\.key).sorted()
    }

    /// Finds entries without rows.
    private func compareRows(_ found: [(entity: SyncEntity, keys: [Int64])]) throws {
        for (root, groups) in Dictionary(grouping: found, by: \.entity.root).sorted(by: { $0.key < $1.key }) {
            let present = Set(groups.flatMap(\.keys))
            let lost = try capture.sidecar.keys(root: root).filter { !present.contains($0) }
            for start in stride(from: 0, to: lost.count, by: Self.portion) {
                let some = Array(lost[start..<min(lost.count, start + Self.portion)])
                for entry in try capture.sidecar.entries(root: root, keys: some) {
                    // An entity that is ignored now: its objects stay with the other devices.
                    guard let entity = capture.rules[entry.entityName], !entity.isIgnored else { continue }
                    if isSeed { detach(entry) } else { delete(entry, entity.deletionRule) }
                }
            }
        }
    }

    /// The store is older than the sidecar: apply makes the object again from what other devices have.
    private func detach(_ entry: SidecarEntry) {
        var entry = entry
        (entry.key, entry.formerKey, entry.digests) = (0, 0, nil)
        gone[entry.id] = entry
    }

    private func forEachEntry(
        _ keys: [Int64], of entity: SyncEntity, _ body: (NSManagedObject, SidecarEntry, EntityReader) throws -> Void
    ) throws {
        for start in stride(from: 0, to: keys.count, by: Self.portion) {
            let some = Array(keys[start..<min(keys.count, start + Self.portion)])
            let entries = Dictionary(
                try capture.sidecar.entries(root: entity.root, keys: some).map { ($0.key, $0) },
                uniquingKeysWith: { first, _ in first })
            try read(some, of: entity, changed: nil) { object, key, reader in
                if let entry = entries[key] { try body(object, entry, reader) }
            }
        }
    }

    // MARK: Digests

    func updateDigests(of keys: [ObjectKey]) throws {
        var change = SidecarChange()
        try context.performAndWait {
            for (root, keys) in Dictionary(grouping: keys, by: \.root) {
                let entries = try capture.sidecar.entries(root: root, keys: keys.map(\.key))
                for (name, entries) in Dictionary(grouping: entries, by: \.entityName) {
                    guard let entity = capture.rules[name] else { continue }
                    let byKey = Dictionary(entries.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
                    try read(byKey.keys.sorted(), of: entity, changed: nil) { object, key, reader in
                        guard var entry = byKey[key] else { return }
                        entry.digests = try self.digests(of: object, reader).data
                        change.entries.append(entry)
                    }
                }
            }
        }
        try capture.sidecar.write(change)
    }

    private func digests(of object: NSManagedObject, _ reader: EntityReader) throws -> ValueDigests {
        var digests = reader.emptyDigests
        for number in reader.plain { digests[number] = ValueDigests.digest(try reader.value(number, of: object)) }
        for number in reader.toOnes {
            let id = reader.values.destination(number, of: object).flatMap { globalID($0) }
            digests[number] = ValueDigests.digest(id.map { .reference($0) } ?? .null)
        }
        return digests
    }
}
