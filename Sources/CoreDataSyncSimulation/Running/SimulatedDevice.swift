import CoreData
import CoreDataSync
import CoreDataSyncEngine
import Foundation
import Synchronization

/// One device of a simulation: a store, its synchronisation, and a place with faults of its own.
final class SimulatedDevice: @unchecked Sendable {
    // Safe because one task uses it.

    struct Died: Error {}

    let index: Int
    let isFile: Bool
    let model: SimulatedModel
    let place: FaultyPlace
    let folder: URL
    private let world: SimulatedWorld
    private(set) var version: Int
    private(set) var coordinator: NSPersistentStoreCoordinator?
    private(set) var context: NSManagedObjectContext?
    private(set) var sync: Sync?
    /// Edits that are not saved yet.
    var pending: [Ledger.Event] = []
    /// Objects by number, until the context is reset.
    var found: [Int: NSManagedObject] = [:]
    /// The number of the last event of the ledger that an exchange has sent.
    var sentUpTo = 0
    /// The number of the last event of the ledger when the backup was made; `nil` without one.
    var backedUpAt: Int?
    /// The steps of an exchange that are left before the device dies; `nil` while it lives on.
    private let life = Mutex<Int?>(nil)

    init(
        _ index: Int, _ scenario: Scenario, _ device: Scenario.Device, _ world: SimulatedWorld,
        _ base: any SyncPlace
    ) {
        (self.index, isFile, version, self.world) = (index, device.isFile, device.version, world)
        model = scenario.model
        folder = world.folder.appendingPathComponent("device\(index)")
        var numbers = SimulationNumbers(seed: scenario.seed, "place", "\(index)")
        place = FaultyPlace(base, seed: numbers.next())
    }

    // MARK: Opening

    var storeURL: URL { folder.appendingPathComponent("store.sqlite") }
    var sidecar: Sidecar? { sync?.sidecar }
    var rules: SyncRules? { sync?.rules }
    /// Whether the store was exchanged once.
    var isAttached: Bool { sidecar?.settings.token != nil }

    func open() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.make(version: version))
        coordinator.clock = .init { [world] in world.time }
        if isFile { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        var options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true as NSNumber]
        if isFile {
            options[NSMigratePersistentStoresAutomaticallyOption] = true as NSNumber
            options[NSInferMappingModelAutomaticallyOption] = true as NSNumber
        }
        _ = try coordinator.addPersistentStore(
            ofType: isFile ? NSSQLiteStoreType : NSInMemoryStoreType, configurationName: nil,
            at: isFile ? storeURL : nil, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        var syncOptions = SyncOptions()
        let (world, index) = (world, index)
        let pass: @Sendable () throws -> Void = { [weak self] in try self?.pass() }
        syncOptions.now = { world.now(of: index) }
        syncOptions.random = { world.random() }
        syncOptions.checkpoint = { _ in try pass() }
        let sync = try Sync(coordinator, to: place, device: "Device \(index)", options: syncOptions)
        sync.sidecar.willCommit = pass
        sync.sidecar.didCommit = pass
        place.hook = { _ in try pass() }
        (self.coordinator, self.context, self.sync) = (coordinator, context, sync)
    }

    /// Closes the files. A store in memory is gone then.
    func close() throws {
        context?.performAndWait { context?.reset() }
        (pending, found) = ([], [:])
        (context, sync) = (nil, nil)
        for store in coordinator?.persistentStores ?? [] { try coordinator?.remove(store) }
        coordinator = nil
    }

    func restart() throws {
        guard isFile else { return }
        try close()
        try open()
    }

    func upgrade() throws {
        guard version < model.versions, isFile else { return }
        try close()
        version += 1
        try open()
    }

    // MARK: Files

    private static let files = ["store.sqlite", "store.sqlite-sync"]

    func copyFiles(to other: URL) throws { try Self.copy(Self.files, from: folder, to: other) }

    /// Puts the files of a backup in the place of the device's own.
    func takeFiles(from other: URL, withSidecar: Bool) throws {
        try Self.copy(withSidecar ? Self.files : [Self.files[0]], from: other, to: folder)
    }

    var backupFolder: URL { folder.appendingPathComponent("backup") }

    private static func copy(_ names: [String], from source: URL, to target: URL) throws {
        let manager = FileManager.default
        try manager.createDirectory(at: target, withIntermediateDirectories: true)
        for name in names {
            for end in ["", "-wal", "-shm"] {
                let (from, to) = (
                    source.appendingPathComponent(name + end), target.appendingPathComponent(name + end)
                )
                if manager.fileExists(atPath: to.path) { try manager.removeItem(at: to) }
                if manager.fileExists(atPath: from.path) { try manager.copyItem(at: from, to: to) }
            }
        }
    }

    // MARK: Exchanging

    /// Exchanges once.
    ///
    /// - Returns: what it did; `nil` if the place failed or the device died.
    func exchange(dyingAt steps: Int? = nil) async throws -> SyncSummary? {
        guard let sync else { return nil }
        life.withLock { $0 = steps }
        defer { life.withLock { $0 = nil } }
        do { return try await sync.syncNow() } catch is SyncPlaceError { return nil } catch {
            if let left = life.withLock({ $0 }), left <= 0 { return nil }
            throw error
        }
    }

    /// Counts a step of an exchange, and throws if the device is dead.
    private func pass() throws {
        let isDead = life.withLock { left in
            guard let steps = left else { return false }
            left = steps - 1
            return steps <= 1
        }
        if isDead { throw Died() }
    }
}
