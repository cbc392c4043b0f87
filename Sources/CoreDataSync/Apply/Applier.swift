import CoreData
import CoreDataSyncEngine
import Foundation

/// Writes what other devices changed into the store, and its stamps into the sidecar.
///
/// The store and the sidecar are two files. The order of writes makes a process that dies at any point do the same
/// again:
///
/// 1. The objects that will change are fetched. Then capture stamps everything that was saved up to now.
/// 2. States are merged. The sidecar notes the keys of new objects and the clock (`begin`).
/// 3. The store is saved. If a row changed since it was fetched, all begins again at 1.
/// 4. The sidecar gets the merged states, and the numbers of the files that were applied.
///
/// What a process that died between 3 and 4 leaves, ``recover()`` finds.
package struct Applier: Sendable {
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let sidecar: Sidecar
    let rules: SyncRules
    let options: SyncOptions

    /// What one application did.
    package struct Result: Sendable {
        package var inserted = 0
        package var updated = 0
        package var deleted = 0
        package var conflicts = 0
        /// Objects that now exist, for which parked states may wait.
        package var arrived: [GlobalID] = []
    }

    /// The greatest number of states that are applied in one save.
    package static let portion = 4_000

    package init(
        coordinator: NSPersistentStoreCoordinator, store: NSPersistentStore, sidecar: Sidecar, rules: SyncRules,
        options: SyncOptions
    ) {
        (self.coordinator, self.store, self.sidecar) = (coordinator, store, sidecar)
        (self.rules, self.options) = (rules, options)
    }

    /// Applies states, and the parked ones that waited for them.
    ///
    /// - Parameter finish: changes the settings that are written with the stamps: which files were received.
    package func apply(
        _ parts: [IncomingPart], finish: (inout SidecarSettings) -> Void = { _ in }
    ) throws -> Result {
        var total = Result()
        var queue = Self.portions(parts)
        if queue.isEmpty { queue = [[]] }
        while !queue.isEmpty {
            let next = queue.removeFirst()
            let result = try applyPortion(next) { settings in if queue.isEmpty { finish(&settings) } }
            total.add(result)
            // States that waited for objects of this portion are applied before the next one.
            let waiting = result.arrived.isEmpty ? [] : try sidecar.parked(waitingFor: result.arrived)
            if !waiting.isEmpty {
                let part = IncomingPart(states: waiting.map(\.state), seen: everythingOfThisDevice)
                if queue.isEmpty { total.add(try apply([part])) } else { queue = Self.portions([part]) + queue }
            }
        }
        return total
    }

    /// The objects with a parked large value that a later edit of this device replaced, or that are deleted.
    package func outdated(_ parked: [ParkedState]) throws -> Set<GlobalID> {
        let entries = Dictionary(
            try sidecar.entries(ids: parked.filter { $0.state.hasBlobs }.map(\.state.id)).map { ($0.id, $0.state) },
            uniquingKeysWith: { first, _ in first })
        let found = parked.lazy.map(\.state).filter { state in
            guard let known = entries[state.id] else { return false }
            return state.properties.contains { name, property in
                guard case .blob? = property.value else { return false }
                return known.isGone || known.properties[name].map { $0.stamp > property.stamp } ?? false
            }
        }
        return Set(found.map(\.id))
    }

    /// Applies parked states again, for which something may have changed.
    package func applyParked(_ states: [ObjectState]) throws -> Result {
        var total = Result()
        for portion in Self.portions([IncomingPart(states: states, seen: everythingOfThisDevice)]) {
            let ids = portion.flatMap { $0.states.map(\.id) }
            total.add(try attempt(portion, unparking: ids) { _ in })
        }
        return total
    }

    private static func portions(_ parts: [IncomingPart]) -> [[IncomingPart]] {
        var result: [[IncomingPart]] = []
        var current: [IncomingPart] = []
        var count = 0
        for part in parts {
            for start in stride(from: 0, to: part.states.count, by: portion) {
                let states = Array(part.states[start..<min(part.states.count, start + portion)])
                if count + states.count > portion, !current.isEmpty {
                    result.append(current)
                    (current, count) = ([], 0)
                }
                var portion = part
                portion.states = states
                current.append(portion)
                count += states.count
            }
        }
        if !current.isEmpty { result.append(current) }
        return result
    }

    // MARK: One portion

    private func applyPortion(
        _ incoming: [IncomingPart], finish: (inout SidecarSettings) -> Void
    ) throws -> Result {
        // What waits of the same objects, and of those that they refer to: two objects may need each other.
        let ids = try sidecar.parkedIdentifiers()
        let named = incoming.lazy.flatMap { $0.states.lazy.flatMap { [$0.id] + (ids.isEmpty ? [] : $0.destinations) } }
        let waiting = ids.isEmpty ? [] : try sidecar.parked(of: Array(ids.intersection(named)))
        var parts = incoming
        if !waiting.isEmpty {
            parts.insert(IncomingPart(states: waiting.map(\.state), seen: everythingOfThisDevice), at: 0)
        }
        return try attempt(parts, unparking: waiting.map(\.state.id), finish: finish)
    }

    /// Writes minima and maxima back of which the store has other values than their states.
    ///
    /// - Parameter deletes: whether objects are deleted that a restored store has again.
    package func writeBack(_ differing: Set<GlobalID>, deletes: Bool = false) throws -> Result {
        try attempt([], unparking: [], differing: differing, deletes: deletes) { _ in }
    }

    private func attempt(
        _ parts: [IncomingPart], unparking: [GlobalID], differing: Set<GlobalID> = [], deletes: Bool = false,
        finish: (inout SidecarSettings) -> Void
    ) throws -> Result {
        var (findings, differing) = (ApplyFindings(), differing)
        for _ in 0..<Self.attempts {
            let session = ApplySession(self, findings)
            session.defersDeletions = !deletes && Restoration(session.settings) != nil
            do {
                let result = try session.run(parts, unparking: unparking, differing: differing, finish: finish)
                if !session.found.isEmpty { _ = try writeBack(session.found) }
                return result
            } catch let failure as ApplyRetry {
                differing.formUnion(session.found)
                guard case .found(let found) = failure else { continue }
                guard findings.add(found) else { throw session.failure ?? failure }
            }
        }
        throw SyncErrors.make(
            NSPersistentStoreSaveConflictsError,
            "Changes of other devices could not be saved in \(Self.attempts) attempts, since other contexts changed the same objects each time. They are tried again later."
        )
    }

    private static let attempts = 50

    // MARK: Recovery

    /// Finishes what a process that died left: new objects that the store has and the sidecar does not.
    ///
    /// Their states are applied again afterwards, since the files that hold them do not count as received yet.
    package func recover() throws {
        let settings = sidecar.settings
        guard let data = settings.appliedBegun else { return }
        let begun = try BegunApply(data)
        var change = SidecarChange()
        for (object, entity) in try savedObjects(of: begun) {
            var state = ObjectState(id: object.id, entity: .init(entity, Stamp(ticks: 0, device: settings.device)))
            state.created = Stamp(ticks: 1, device: settings.device)
            change.entries.append(SidecarEntry(id: object.id, root: object.root, key: object.key, state: state))
        }
        for known in try sidecar.entries(ids: change.entries.map(\.id)) {
            guard let index = change.entries.firstIndex(where: { $0.id == known.id }) else { continue }
            // An edit or a deletion may have arrived before the object.
            let created = change.entries[index].state.created
            change.entries[index].state = known.state
            change.entries[index].state.created = known.state.created ?? created
            if known.key != 0 { change.entries.remove(at: index) }
        }
        try sidecar.write(change)
        let differing = try capture().run(intended: begun.intended).differing
        try sidecar.changeSettings { $0.appliedBegun = nil }
        if !differing.isEmpty { _ = try writeBack(differing) }
    }

    /// The new objects that were saved, with the names of their entities: also those that were deleted since, as far
    /// as the history tells. Without their entries their deletions would not be captured.
    private func savedObjects(of begun: BegunApply) throws -> [(object: BegunApply.NewObject, entity: String)] {
        let position = sidecar.settings.token?[store.identifier]
        var entities = try position.map { try capture().insertedEntities(after: $0) } ?? [:]
        let context = newContext()
        try context.performAndWait {
            for (root, objects) in Dictionary(grouping: begun.inserted, by: \.root) where rules[root] != nil {
                let request = NSFetchRequest<NSManagedObjectID>(entityName: root)
                request.resultType = .managedObjectIDResultType
                request.affectedStores = [store]
                request.predicate = NSPredicate(format: "self IN %@", objects.compactMap { objectID($0.root, $0.key) })
                for id in try context.fetch(request) {
                    entities[ObjectKey(root: root, key: id.key)] = id.entity.name ?? root
                }
            }
        }
        return begun.inserted.compactMap { object in
            entities[ObjectKey(root: object.root, key: object.key)].map { (object, $0) }
        }
    }

    // MARK: Parts

    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.name = "sync"
        context.transactionAuthor = IntendedChanges.author
        context.mergePolicy = NSErrorMergePolicy
        context.undoManager = nil
        return context
    }

    func objectID(_ entity: String, _ key: Int64) -> NSManagedObjectID? {
        guard let entity = coordinator.managedObjectModel.entitiesByName[entity] else { return nil }
        return coordinator.objectID(of: entity, key: key, in: store)
    }

    func capture() throws -> Capture {
        let options = options
        var capture = try Capture(coordinator: coordinator, store: store, sidecar: sidecar, rules: rules) {
            SyncTime.milliseconds(options.now())
        }
        capture.newID = { options.newObject(now: $0) }
        capture.merge = options.merge
        return capture
    }

    /// The vector of a file whose writer knew all writes of this device: states that were parked are no conflicts any
    /// more.
    private var everythingOfThisDevice: VersionVector {
        let settings = sidecar.settings
        var result = settings.seen
        if settings.lastSegment > 0 { result.insert(settings.device, 1...settings.lastSegment) }
        return result
    }

    var now: UInt64 { SyncTime.milliseconds(options.now()) }
}

extension Applier.Result {
    mutating func add(_ other: Self) {
        inserted += other.inserted
        updated += other.updated
        deleted += other.deleted
        conflicts += other.conflicts
        arrived += other.arrived
    }
}

/// The time as stamps have it.
package enum SyncTime {
    /// Milliseconds since 2001-01-01 UTC; 1 for times before.
    package static func milliseconds(_ date: Date) -> UInt64 {
        let seconds = date.timeIntervalSinceReferenceDate
        return seconds > 0.001 ? UInt64(min(seconds * 1000, 1e14)) : 1
    }

    package static func date(_ milliseconds: UInt64) -> Date {
        Date(timeIntervalSinceReferenceDate: Double(milliseconds) / 1000)
    }
}
