import CoreData
import CoreDataDigests
import CoreDataSyncEngine
import Foundation

/// Makes the whole state of a store: stamps of the sidecar, values of the store.
struct SnapshotBuilder {
    let store: SyncedStore
    /// The digests of large values that the place has already: they are not kept in memory.
    var existing: Set<Data> = []

    /// The states, and the large values that they name and that the place does not have; `nil` if the store was saved
    /// to meanwhile.
    ///
    /// A value that was saved after its stamp would be sent under a stamp that belongs to the value before.
    func build() throws -> (snapshot: Snapshot, blobs: [Data])? {
        let before = store.sidecar.settings
        guard try isCaptured(before) else { return nil }
        var blobs: [Data: Data] = [:]
        var states: [ObjectState] = []
        let context = store.applier.newContext()
        var accesses: [String: StoredValues] = [:]
        try store.sidecar.forEachEntry { entries in
            try context.performAndWait {
                defer { context.reset() }
                let objects = try self.objects(entries, context)
                var references = KnownReferences(store)
                for entry in entries {
                    guard let entity = store.rules[entry.entityName], let object = objects[entry.id] else { continue }
                    let values =
                        try accesses[entity.name] ?? StoredValues(entity, in: store.coordinator.managedObjectModel)
                    accesses[entity.name] = values
                    references.note(object, values)
                }
                try references.find()
                for entry in entries {
                    guard let entity = store.rules[entry.entityName], let object = objects[entry.id] else {
                        states.append(entry.state.withoutStoredValues)
                        continue
                    }
                    guard let values = accesses[entity.name] else { continue }
                    states.append(try filled(entry.state, object, values, references, &blobs))
                }
            }
        }
        let parked = try store.sidecar.parked().map(\.state)
        guard try isCaptured(before) else { return nil }
        try store.coordinator.checkAttached(store.store)
        var contains = before.seen
        if before.lastSegment > 0 { contains.insert(before.device, 1...before.lastSegment) }
        let snapshot = Snapshot(
            device: before.device, number: 1, modelHash: store.rules.modelHash, contains: contains,
            states: ObjectState.joined(states, parked))
        return (snapshot, Array(blobs.values))
    }

    private func isCaptured(_ settings: SidecarSettings) throws -> Bool {
        guard let token = settings.token else { return false }
        guard let end = store.coordinator.currentPersistentHistoryToken(fromStores: [store.store]) else { return true }
        return store.sidecar.settings.token == token
            && end.positions[store.store.identifier] == token[store.store.identifier]
    }

    private func objects(
        _ entries: [SidecarEntry], _ context: NSManagedObjectContext
    ) throws -> [GlobalID: NSManagedObject] {
        var result: [GlobalID: NSManagedObject] = [:]
        for (root, group) in Dictionary(grouping: entries.filter { $0.key != 0 }, by: \.root) {
            guard store.rules[root] != nil else { continue }
            let ids = Dictionary(group.map { ($0.key, $0.id) }, uniquingKeysWith: { first, _ in first })
            let request = NSFetchRequest<NSManagedObject>(entityName: root)
            request.affectedStores = [store.store]
            request.returnsObjectsAsFaults = false
            request.predicate = NSPredicate(
                format: "self IN %@", ids.keys.compactMap { store.applier.objectID(root, $0) })
            for object in try context.fetch(request) { if let id = ids[object.objectID.key] { result[id] = object } }
        }
        return result
    }

    private func filled(
        _ state: ObjectState, _ object: NSManagedObject, _ values: StoredValues, _ references: KnownReferences,
        _ blobs: inout [Data: Data]
    ) throws -> ObjectState {
        var result = state
        for (name, property) in state.properties {
            guard case .last(let stamp, .stored) = property else { continue }
            guard let number = values.number(of: name) else {
                result.properties[name] = nil
                continue
            }
            if case .toOne = values.entity.values[number].kind {
                let target = values.destination(number, of: object).flatMap { references.identifier(of: $0) }
                result.properties[name] = .last(stamp, target.map { .reference($0) } ?? .null)
            } else {
                result.properties[name] = .last(stamp, shortened(try values.value(number, of: object), &blobs))
            }
        }
        return result
    }

    private func shortened(_ value: SyncValue, _ blobs: inout [Data: Data]) -> SyncValue {
        let data: Data
        switch value {
        case .string(let text) where text.utf8.count > CaptureWriting.largeValue: data = Data(text.utf8)
        case .data(let bytes) where bytes.count > CaptureWriting.largeValue: data = bytes
        default: return value
        }
        let digest = Digests.sha256(data)
        if !existing.contains(digest) { blobs[digest] = data }
        return .blob(digest: digest, size: data.count)
    }
}

/// The IDs of the objects to which some objects refer, found together.
private struct KnownReferences {
    private let store: SyncedStore
    private var keys: [String: Set<Int64>] = [:]
    private var ids: [String: [Int64: GlobalID]] = [:]

    init(_ store: SyncedStore) { self.store = store }

    mutating func note(_ object: NSManagedObject, _ values: StoredValues) {
        for number in values.toOnes {
            guard let id = values.destination(number, of: object), let root = store.rules[id.entity.name ?? ""]?.root
            else { continue }
            keys[root, default: []].insert(id.key)
        }
    }

    mutating func find() throws {
        for (root, keys) in keys { ids[root] = try store.sidecar.identifiers(root: root, keys: Array(keys)) }
    }

    func identifier(of id: NSManagedObjectID) -> GlobalID? {
        store.rules[id.entity.name ?? ""].flatMap { ids[$0.root]?[id.key] }
    }
}

extension ObjectState {
    /// The state of an object without a row: its values are not known here.
    var withoutStoredValues: Self {
        var result = self
        result.properties = properties.filter { $0.value.value != .stored }
        return result
    }
}
