import CoreData
import CoreDataSyncEngine
import Foundation

/// One store that synchronises, with everything that its exchange needs.
struct SyncedStore: Sendable {
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let sidecar: Sidecar
    let rules: SyncRules
    let options: SyncOptions
    /// What other devices call this one; a device that joined before may have had another name.
    let deviceName: String
    let applier: Applier
    let lock: SyncLock

    init(
        coordinator: NSPersistentStoreCoordinator, store: NSPersistentStore, device: String, options: SyncOptions
    ) throws {
        (self.coordinator, self.store, self.options) = (coordinator, store, options)
        deviceName = device
        rules = try SyncRules(model: coordinator.managedObjectModel, configuration: store.openingConfiguration)
        try Self.checkMerge(rules, options)
        let file = store.url.flatMap { $0.isStoreFile ? $0 : nil }
        if let url = options.sidecar ?? file.map({ Sidecar.url(beside: $0) }) {
            sidecar = try Sidecar.open(at: url, deviceName: device)
        } else {
            sidecar = try Sidecar.inMemory(deviceName: device)
        }
        if sidecar.isNew { sidecar.set(device: options.newDevice()) }
        sidecar.share()
        lock = SyncLock(store: file, sidecar: options.sidecar, identifier: store.identifier ?? "")
        applier = Applier(
            coordinator: coordinator, store: store, sidecar: sidecar, rules: rules, options: options)
        _ = try applier.capture()
    }

    private static func checkMerge(_ rules: SyncRules, _ options: SyncOptions) throws {
        guard options.merge == nil else { return }
        for entity in rules.exchanged {
            guard let property = entity.values.first(where: { entity.mergeRule(of: $0.name) == .app }) else { continue }
            throw SyncErrors.make(
                134060,
                "Property \"\(property.name)\" of entity \"\(entity.name)\" has sync.merge \"app\", but no closure decides. Set SyncOptions.merge."
            )
        }
    }

    var now: UInt64 { applier.now }

    // MARK: The lock

    /// Makes this the only one that synchronises the store, until the same number of calls of ``release()``.
    ///
    /// - Throws: 255 if another process or another `Sync` synchronises it.
    func hold() throws { try lock.hold { try sidecar.reload(isExclusive: true) } }

    func release() { lock.release { sidecar.share() } }

    /// Calls a closure that writes to the sidecar.
    func exclusively<R>(_ body: () throws -> R) throws -> R {
        try hold()
        defer { release() }
        return try body()
    }

    /// Calls a closure that reads the sidecar, also while another process writes it.
    func reading<R>(_ body: () throws -> R) throws -> R {
        if !lock.isHeld { try sidecar.reload(isExclusive: false) }
        return try body()
    }

    // MARK: Capture

    /// Reads what was saved since the last capture.
    ///
    /// - Returns: the number of objects that changed, and whether the sidecar belongs to a newer state of the store:
    ///   then the store was restored from a backup. A process may have died that had begun to bring it up to date.
    func capture(seeding: SeedAge) throws -> (changed: Int, isRestored: Bool) {
        if let restoration = Restoration(sidecar.settings), restoration.step != .receiving { return (0, true) }
        let capture = try applier.capture()
        var changed = 0
        while true {
            let result = try capture.run()
            changed += result.changedObjects
            if !result.differing.isEmpty { _ = try applier.writeBack(result.differing) }
            switch result.needsComparison {
            case .firstTime: return (changed + (try compare(capture, seed: seeding)), false)
            case .otherStore: return (changed, true)
            case .purged, .noHistory: return (changed + (try compare(capture, seed: nil)), false)
            case nil: if !result.isPartial { return (changed, false) }
            }
        }
    }

    /// Compares the whole store, and writes values back that their merge rules change.
    private func compare(_ capture: Capture, seed: SeedAge?) throws -> Int {
        let result = try capture.compareAll(seed: seed)
        if !result.differing.isEmpty { _ = try applier.writeBack(result.differing) }
        return result.changedObjects
    }

    /// Deletes all objects that devices exchange, before the store is attached: the other devices do not notice.
    func deleteEverything() throws {
        let context = applier.newContext()
        try context.performAndWait {
            for entity in rules.exchanged {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
                request.affectedStores = [store]
                request.includesSubentities = false
                for object in try context.fetch(request) { context.delete(object) }
            }
            try context.save()
        }
    }

    /// Removes conflicts that are too old or too many.
    func boundJournal() throws {
        let age = SyncTime.milliseconds(options.now().addingTimeInterval(-max(0, options.journalAge)))
        try sidecar.removeConflicts(keeping: options.journalLimit, since: age)
    }

    // MARK: Sending

    /// The segments that wait, each with its large values.
    func outbox(limit: Int) throws -> [OutgoingSegment] {
        var blobs: [UInt64: [Data]] = [:]
        var segments: [OutgoingSegment] = []
        for name in try sidecar.outgoingNames() {
            guard let file = try sidecar.outgoing(name) else { continue }
            switch name {
            case .blob: blobs[file.number, default: []].append(file.bytes)
            case .segment:
                if segments.count < limit { segments.append(OutgoingSegment(number: file.number, bytes: file.bytes)) }
            default: break
            }
        }
        segments.sort { $0.number < $1.number }
        for index in segments.indices { segments[index].blobs = blobs[segments[index].number] ?? [] }
        return segments
    }

    /// Removes segments from the outbox that the place has.
    func noteSent(_ numbers: [UInt64]) throws {
        let sent = Set(numbers)
        var change = SidecarChange()
        for name in try sidecar.outgoingNames() {
            guard let file = try sidecar.outgoing(name), sent.contains(file.number) else { continue }
            change.sent.append(name)
        }
        var settings = sidecar.settings
        if let last = numbers.max(), !SumBases.isEmpty(settings) {
            SumBases.remove(upTo: last, from: &settings)
            change.settings = settings
        }
        try sidecar.write(change)
    }
}
