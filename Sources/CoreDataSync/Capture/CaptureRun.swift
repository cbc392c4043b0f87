import CoreData
import CoreDataSyncEngine
import Foundation

/// One capture: from changed keys to one transaction of the sidecar.
///
/// 1. deletions are stamped; 2. inserted objects get their IDs; 3. changed objects are read, a portion at a time, and
///    their states stamped;
/// 4. objects that these refer to and that are in no sidecar yet are captured, too; 5. positions are assigned; 6.
///    everything is written.
final class CaptureRun {
    let capture: Capture
    let context: NSManagedObjectContext
    let model: NSManagedObjectModel
    let now: UInt64
    /// Deletions are older than what the same capture creates: a key may go on in a new object.
    let deletionStamp: Stamp
    let stamp: Stamp
    /// The device's former ID, and the time up to which both were one; `nil` but
    /// in the capture after a copy got its own ID.
    let past: CopiedPast?
    /// Makes IDs of objects without a key.
    var transactionIDs: TransactionIDs
    /// Whether this is a comparison with stamps from before the store was attached.
    let isSeed: Bool
    /// Whether the store was restored from a backup, and has old sums: how much an edit added to one cannot be told.
    let isRestored: Bool
    let device: DeviceID
    var settings: SidecarSettings
    @exclusivity(unchecked) var result = CaptureResult()

    /// What is known of the objects of a hierarchy.
    var tables: [String: RootTable] = [:]
    var tablesByEntity: [ObjectIdentifier: RootTable?] = [:]
    private var readers: [String: EntityReader] = [:]
    /// New objects that are yet to be read, by the names of their entities.
    var queue: [String: [Int64]] = [:]
    /// The states that IDs had before this capture created their objects again.
    var formerStates: [GlobalID: ObjectState] = [:]
    /// IDs that new objects of this capture have by their keys.
    var claimed: Set<GlobalID> = []
    /// The IDs of objects that the journal created again.
    let restored: [ObjectKey: GlobalID]
    /// Entries of objects that this capture deletes.
    var gone: [GlobalID: SidecarEntry] = [:]
    /// Objects that may change until the end, because they have positions.
    var working: [ObjectKey: WorkingObject] = [:]
    /// Owners of ordered relationships of which the order may have changed.
    var owners: Set<OrderedSide> = []
    /// Destinations of ordered many-to-manys, seen from the side that has no pairs.
    var inverseOwners: Set<OrderedSide> = []
    // A capture runs on one thread, and nothing of these calls back.
    @exclusivity(unchecked) var writing: CaptureWriting
    /// The last random ID that was given, and the distances of further ones.
    var lastID: (id: GlobalID, steps: IDSteps)?
    /// The exchanged entities by their numbers in the coordinator's model; empty until a row has been read.
    var destinations: [Int: SyncEntity] = [:]
    /// The hierarchy of the last reference: most references of many rows lead to one.
    var lastDestination: (number: Int, table: RootTable)?
    /// Those of the object that is being captured.
    @exclusivity(unchecked) var digests: [UInt32] = []
    /// What this device had added to sums before this capture, of objects that were known.
    var sumBases = SumBases()
    /// Values that are given up.
    var conflicts: [SidecarConflict] = []

    /// The number of objects that are read at once.
    static let portion = 5_000

    struct OrderedSide: Hashable {
        let entity: String
        let key: Int64
        let relationship: String
    }

    init(_ capture: Capture, _ settings: SidecarSettings, seed: SeedAge? = nil) throws {
        self.capture = capture
        self.settings = settings
        model = capture.coordinator.managedObjectModel
        now = capture.clock()
        device = settings.device
        isSeed = seed != nil
        isRestored = Restoration(settings)?.step == .capturing
        if let seed {
            (deletionStamp, stamp) = (seed.stamp(device), seed.stamp(device))
        } else {
            var clock = HybridClock(device: settings.device, last: settings.clock)
            deletionStamp = clock.next(now: now)
            stamp = clock.next(now: now)
            self.settings.clock = clock.last
        }
        past = CopiedPast(settings)
        let time = now
        transactionIDs = TransactionIDs(&self.settings) { capture.newID(time) }
        self.settings.modelHash = capture.rules.modelHash
        restored = RestoredObject.all(in: settings)
        RestoredObject.removeAll(from: &self.settings)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = capture.coordinator
        context.undoManager = nil
        writing = CaptureWriting(settings: settings, rules: capture.rules)
        for entity in capture.rules.exchanged {
            capture.sidecar.register(entity.values.map(\.name))
        }
    }

    // MARK: From the history

    func capture(_ changes: [EntityChanges]) throws -> CaptureResult {
        try context.performAndWait {
            for change in changes where !change.deleted.isEmpty { try delete(change) }
            for change in changes where !change.inserted.isEmpty {
                try identify(change.inserted.sorted, of: change.entity, from: change.inserted)
            }
            for change in changes where !change.updated.isEmpty { try update(change) }
            try finish()
        }
        return result
    }

    func finish() throws {
        try readQueue()
        try order()
        context.reset()
        try capture.coordinator.checkAttached(capture.store)
        try write()
    }

    private func delete(_ change: EntityChanges) throws {
        for entry in try capture.sidecar.entries(root: change.entity.root, keys: Array(change.deleted)) {
            delete(entry, change.entity.deletionRule)
        }
    }

    func delete(_ entry: SidecarEntry, _ rule: DeletionRule) {
        var entry = entry
        entry.state.deleted = deletionStamp
        // Values of a deleted object are in no store any more, and do not come back.
        entry.state = entry.state.compacted(rule)
        (entry.key, entry.formerKey) = (0, entry.key)
        entry.digests = nil
        gone[entry.id] = entry
    }

    private func update(_ change: EntityChanges) throws {
        let entity = change.entity
        let keys = change.updated.keys.sorted()
        for start in stride(from: 0, to: keys.count, by: Self.portion) {
            let some = Array(keys[start..<min(keys.count, start + Self.portion)])
            let entries = Dictionary(
                try capture.sidecar.entries(root: entity.root, keys: some).map { ($0.key, $0) },
                uniquingKeysWith: { first, _ in first })
            let unknown = some.filter { entries[$0] == nil }
            // Objects that no capture has seen yet, for example of an entity that was ignored before.
            if !unknown.isEmpty { try identify(unknown, of: entity) }
            let table = table(entity.root)
            for entry in entries.values { table.ids[entry.key] = entry.id }
            try read(some.filter { entries[$0] != nil }, of: entity, changed: change.updated) { object, key, reader in
                guard let entry = entries[key] else { return }
                try self.update(object, entry, reader, .named(change.updated[key] ?? []))
            }
        }
    }

    // MARK: Reading

    /// Reads objects that still exist, a portion at a time, after their references were resolved.
    ///
    /// - Parameter changed: the names of the changed properties; `nil` where all are wanted.
    func read(
        _ keys: [Int64], of entity: SyncEntity, changed: [Int64: Set<String>]?,
        _ body: (NSManagedObject, Int64, EntityReader) throws -> Void
    ) throws {
        let reader = try reader(entity)
        for start in stride(from: 0, to: keys.count, by: Self.portion) {
            let some = keys[start..<min(keys.count, start + Self.portion)]
            let pairs = entity.pairs.map(\.name).filter { name in
                changed.map { changed in some.contains { changed[$0]?.contains(name) == true } } ?? true
            }
            let objects = try fetch(some, of: entity, prefetching: pairs)
            try reader.readBytes(objects, self)
            try resolveReferences(of: objects, reader, changed)
            if objects.count < some.count, changed == nil { forget(some, but: objects, of: entity) }
            for object in objects { try body(object, object.objectID.key, reader) }
            if objects.count > 100 { context.reset() }
        }
    }

    private func forget(_ keys: ArraySlice<Int64>, but objects: [NSManagedObject], of entity: SyncEntity) {
        let existing = Set(objects.map(\.objectID.key))
        let table = table(entity.root)
        for key in keys where !existing.contains(key) { forget(key, table) }
    }

    /// The objects of these keys that exist, with their values.
    func fetch(
        _ keys: some Collection<Int64>, of entity: SyncEntity, prefetching relationships: [String] = [],
        in other: NSManagedObjectContext? = nil
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
        request.includesSubentities = false
        request.returnsObjectsAsFaults = false
        request.affectedStores = [capture.store]
        request.predicate = NSPredicate(format: "SELF IN %@", objectIDs(keys, of: entity))
        if !relationships.isEmpty { request.relationshipKeyPathsForPrefetching = relationships }
        return try (other ?? context).fetch(request)
    }

    func objectIDs(_ keys: some Collection<Int64>, of entity: SyncEntity) -> [NSManagedObjectID] {
        guard let description = model.entitiesByName[entity.name] else { return [] }
        return keys.compactMap { capture.coordinator.objectID(of: description, key: $0, in: capture.store) }
    }

    func reader(_ entity: SyncEntity) throws -> EntityReader {
        if let reader = readers[entity.name] { return reader }
        // What the other copy of this device has sent of the same object is later.
        let past = isSeed ? nil : past
        let reader = EntityReader(
            try StoredValues(entity, in: model), capture.rules,
            past.map { Stamp(ticks: $0.clock, device: device) } ?? stamp, past?.device ?? device)
        readers[entity.name] = reader
        return reader
    }

    func table(_ root: String) -> RootTable {
        if let table = tables[root] { return table }
        let table = RootTable(root: root, number: Int32(capture.sidecar.number(of: root)))
        tables[root] = table
        return table
    }

    /// The table of an entity's hierarchy; `nil` for entities that are not exchanged.
    func table(of entity: NSEntityDescription) -> RootTable? {
        if let known = tablesByEntity[ObjectIdentifier(entity)] { return known }
        let rule = capture.rules[entity.name ?? ""]
        let table = rule.flatMap { $0.isIgnored ? nil : self.table($0.root) }
        tablesByEntity[ObjectIdentifier(entity)] = .some(table)
        return table
    }
}

/// The objects of one hierarchy that a capture has met.
final class RootTable {
    let root: String
    let number: Int32
    // A capture runs on one thread, and nothing of these calls back.

    /// IDs by primary key.
    @exclusivity(unchecked) var ids = KeyedIDs()
    /// Keys without a row.
    @exclusivity(unchecked) var missing: Set<Int64> = []

    init(root: String, number: Int32) { (self.root, self.number) = (root, number) }
}

/// An object whose state is being made.
final class WorkingObject {
    let id: GlobalID
    let root: String
    let key: Int64
    let entity: SyncEntity
    /// As the sidecar keeps it.
    var state: ObjectState
    /// As it is sent: what changed, with values.
    var part: ObjectState
    var digests: Data?
    /// The stamp of its changes, and the device that has its contributions to sums.
    let stamp: Stamp
    let device: DeviceID
    var isNew = false
    /// Whether the entry has to be written.
    var hasChanged = false

    init(
        _ id: GlobalID, root: String, key: Int64, entity: SyncEntity, state: ObjectState, digests: Data?,
        _ stamp: Stamp,
        _ device: DeviceID
    ) {
        (self.id, self.root, self.key, self.entity, self.state) = (id, root, key, entity, state)
        (self.digests, self.stamp, self.device) = (digests, stamp, device)
        part = ObjectState(id: id, entity: state.entity)
    }

    /// Values with this stamp or an earlier one are from before the object's last deletion, and do not count.
    var floor: Stamp? { entity.deletionRule == .deleteWins ? state.deleted : nil }

    /// Whether there is something to send.
    var hasPart: Bool { part.created != nil || !part.properties.isEmpty || !part.edges.isEmpty }

    func set(_ name: String, _ state: PropertyState, sent: PropertyState) {
        self.state.properties[name] = state
        part.properties[name] = sent
        hasChanged = true
    }

    func set(_ edge: ObjectState.Edge, _ state: EdgeState) {
        self.state.edges[edge] = state
        part.edges[edge] = state
        hasChanged = true
    }
}

/// Distances of new IDs: the first random ID is the start, so that further ones cost no call of the system.
struct IDSteps {
    private var state: UInt64

    init(from id: GlobalID) { state = id.low }

    mutating func next() -> UInt32 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return UInt32(truncatingIfNeeded: mixed ^ mixed >> 31)
    }
}
