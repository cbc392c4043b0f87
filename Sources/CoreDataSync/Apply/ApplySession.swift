import CoreData
import CoreDataSyncEngine
import Foundation

/// One attempt to apply states: one context, one save.
final class ApplySession {
    let applier: Applier
    /// What earlier attempts found.
    let findings: ApplyFindings
    let context: NSManagedObjectContext
    var rules: SyncRules { applier.rules }
    var sidecar: Sidecar { applier.sidecar }

    var settings: SidecarSettings
    var clock: HybridClock
    // A session is used by one thread, and none of these calls back while it is looked at.

    /// The entries of all objects that matter, by ID.
    @exclusivity(unchecked) var entries: [GlobalID: SidecarEntry] = [:]
    /// Which IDs name one object.
    private(set) var groups = AliasGroups()
    /// The objects in the context, by ID; only such with a row or that are created.
    @exclusivity(unchecked) var objects: [GlobalID: NSManagedObject] = [:]
    /// The IDs of objects with a row, by key.
    var identifiers: [ObjectKey: GlobalID] = [:]
    @exclusivity(unchecked) var plan = ApplyPlan()
    var intended = IntendedChanges()
    /// Parts of states that wait for objects that have not arrived.
    var waiting: [ParkedState] = []
    /// States that this device tells the others.
    var announced: [ObjectState] = []
    var conflicts: [SidecarConflict] = []
    /// Why the store refused the save.
    var failure: (any Error)?
    /// Objects that the plan does not name, whose entries a repair changed.
    var repairedEntries: Set<GlobalID> = []
    /// The IDs of objects that this session creates.
    @exclusivity(unchecked) var created: [ObjectIdentifier: GlobalID] = [:]
    /// The objects that the plan deletes.
    lazy var deletedByPlan = Set(plan.indices(.delete).map { plan.objects[$0].id })
    private var accesses: [String: StoredValues] = [:]
    private var lastAccess: StoredValues?
    /// The values that this device had of properties with two values.
    var valuesBefore: [GlobalID: [String: SyncValue]] = [:]
    /// Whether deleted objects keep their rows: a restored store has old relationships, by which a deletion could
    /// delete others, too.
    var defersDeletions = false
    /// Objects of which the app has set minima, maxima or lists that are not to be shown, as the last capture found:
    /// the next one does not find them again.
    private(set) var found: Set<GlobalID> = []
    /// Ordered relationships whose order is to be made.
    var unordered: Set<OrderedList> = []

    struct OrderedList: Hashable {
        var owner: NSManagedObject
        var relationship: String
    }

    init(_ applier: Applier, _ findings: ApplyFindings) {
        (self.applier, self.findings) = (applier, findings)
        context = applier.newContext()
        settings = applier.sidecar.settings
        clock = HybridClock(device: settings.device, last: settings.clock)
    }

    /// - Parameter differing: objects whose minima and maxima the store does not have as their states say.
    func run(
        _ parts: [IncomingPart], unparking: [GlobalID], differing: Set<GlobalID> = [],
        finish: (inout SidecarSettings) -> Void
    ) throws -> Applier.Result {
        try applier.options.checkpoint?("apply.fetch")
        try load(parts, differing)
        try fetchObjects()
        // What was saved before the objects were fetched is stamped now; what is saved later makes the save fail.
        let capture = try applier.capture()
        let captured = try capture.run()
        found = captured.differing
        let differing = differing.union(found)
        if captured.changedObjects > 0 || found.contains(where: { entries[$0] == nil }) {
            settings = sidecar.settings
            clock = HybridClock(device: settings.device, last: settings.clock)
            try load(parts, differing)
            if entries.values.contains(where: { $0.key != 0 && objects[$0.id] == nil && fetches($0) }) {
                throw ApplyRetry.changedMeanwhile
            }
        }
        groups = AliasGroups(entries.values, parts, twins: findings.twins)
        observe(parts)
        let planner = ApplyPlanner(
            rules: rules, device: settings.device, own: OwnSegments(settings), entries: entries, groups: groups,
            refused: findings.refused)
        plan = planner.plan(parts)
        planner.addWritingBack(differing, to: &plan)
        var result = try context.performAndWait {
            try mergeTwins(planner)
            try rememberLosses()
            try revertRefused()
            try write()
            try enforceCounts()
            repairObjects()
            return try save()
        }
        try applier.options.checkpoint?("apply.saved")
        result.conflicts = try note(unparking: unparking, finish: finish)
        try applier.options.checkpoint?("apply.noted")
        // What the save changed beyond the plan is an edit of this device.
        found = try capture.run(intended: intended).differing
        return result
    }

    /// The clock comes after every stamp that is applied.
    private func observe(_ parts: [IncomingPart]) {
        let now = applier.now
        // Most values of a state have one stamp.
        var last: Stamp?
        func observe(_ stamp: Stamp) {
            if stamp != last { _ = clock.observe(stamp, now: now) }
            last = stamp
        }
        for part in parts {
            for state in part.states {
                if let created = state.created { observe(created) }
                if let deleted = state.deleted { observe(deleted) }
                for property in state.properties.values { observe(property.stamp) }
                for edge in state.edges.values {
                    for stamp in [edge.added, edge.removed, edge.position?.stamp, edge.inversePosition?.stamp] {
                        if let stamp { _ = clock.observe(stamp, now: now) }
                    }
                }
            }
        }
        settings.clock = max(settings.clock, clock.last)
    }

    func nextStamp() -> Stamp {
        let stamp = clock.next(now: applier.now, salt: UInt16(truncatingIfNeeded: applier.options.random()))
        settings.clock = clock.last
        return stamp
    }

    // MARK: Entries

    private func load(_ parts: [IncomingPart], _ others: Set<GlobalID>) throws {
        var wanted = others.union(findings.objects)
        for part in parts {
            for state in part.states {
                wanted.insert(state.id)
                wanted.formUnion(state.aliases)
                for property in state.properties.values {
                    if case .last(_, .reference(let id)) = property { wanted.insert(id) }
                }
                for edge in state.edges.keys { wanted.insert(edge.destination) }
            }
        }
        entries = [:]
        identifiers = [:]
        // Entries lead to further ones.
        while !wanted.isEmpty {
            let found = try sidecar.entries(ids: Array(wanted))
            for entry in found { remember(entry) }
            wanted = found.reduce(into: []) { next, entry in
                next.formUnion(entry.state.aliases.filter { entries[$0] == nil })
                // What an object without a row refers to is set when the object is created.
                if entry.key == 0 { next.formUnion(entry.state.destinations.filter { entries[$0] == nil }) }
            }
        }
    }

    func remember(_ entry: SidecarEntry) {
        entries[entry.id] = entry
        if entry.key != 0 { identifiers[ObjectKey(root: entry.root, key: entry.key)] = entry.id }
    }

    // MARK: Objects

    private func fetches(_ entry: SidecarEntry) -> Bool { rules[entry.entityName] != nil }

    /// Fetches the rows of all entries, with their values: what changes afterwards makes the save fail.
    private func fetchObjects() throws {
        try context.performAndWait {
            for (root, group) in Dictionary(grouping: entries.values.filter { $0.key != 0 }, by: \.root) {
                guard rules[root] != nil else { continue }
                let known = Dictionary(group.map { ($0.key, $0.id) }, uniquingKeysWith: { first, _ in first })
                let keys = known.keys.sorted()
                for start in stride(from: 0, to: keys.count, by: 1_000) {
                    let some = keys[start..<min(keys.count, start + 1_000)]
                    let request = NSFetchRequest<NSManagedObject>(entityName: root)
                    request.affectedStores = [applier.store]
                    request.returnsObjectsAsFaults = false
                    request.shouldRefreshRefetchedObjects = true
                    request.predicate = NSPredicate(
                        format: "self IN %@", some.compactMap { applier.objectID(root, $0) })
                    for object in try context.fetch(request) {
                        if let id = known[object.objectID.key] { objects[id] = object }
                    }
                }
            }
        }
    }

    /// The ID of an object of the context; `nil` for one that is not synchronised.
    func identifier(of object: NSManagedObject) throws -> GlobalID? {
        if let id = created[ObjectIdentifier(object)] { return id }
        guard let root = rules[object.entity.name ?? ""]?.root, !object.objectID.isTemporaryID else { return nil }
        let key = ObjectKey(root: root, key: object.objectID.key)
        if let id = identifiers[key] { return id }
        guard let entry = try sidecar.entries(root: root, keys: [key.key]).first else { return nil }
        remember(entry)
        return entry.id
    }

    // MARK: Values

    func values(for entity: SyncEntity) throws -> StoredValues {
        // Objects of one entity come one after another.
        if let lastAccess, lastAccess.entity === entity { return lastAccess }
        let found =
            try accesses[entity.name] ?? StoredValues(entity, in: applier.coordinator.managedObjectModel)
        accesses[entity.name] = found
        lastAccess = found
        return found
    }

    /// A state with the values that the store has.
    func whole(_ state: ObjectState, of object: NSManagedObject, _ entity: SyncEntity) throws -> ObjectState {
        let values = try values(for: entity)
        var result = state
        for (name, property) in state.properties {
            guard case .last(let stamp, .stored) = property, let number = values.number(of: name) else { continue }
            if let destination = values.destination(number, of: object) {
                let known = context.registeredObject(for: destination).flatMap { try? identifier(of: $0) }
                result.properties[name] = .last(stamp, known.map { .reference($0) } ?? .null)
            } else {
                result.properties[name] = .last(stamp, try values.value(number, of: object))
            }
        }
        return result
    }
}
