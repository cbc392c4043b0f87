import CoreData
import CoreDataAccounts
import CoreDataPermissions
@_spi(Service) import CoreDataSync
import Foundation
import Logging
import Synchronization

/// Lets the devices of each account synchronise with the served store, within the account's permissions.
///
///     let hub = try SyncHub(settings, coordinator: coordinator, store: store, model: served, rules: rules, accounts: accounts)
///     try await hub.start()
///     await hub.bringUpToDate(account)      // before the account's files are listed
///
/// Each account has a place, in which its devices and the service leave files for each other, and a replica: a store
/// with the objects that the account may read. A *turn* exchanges files with the devices, and brings the replica and
/// the served store together. One process at a time is the hub of a folder; the others only keep the devices' files.
package actor SyncHub {
    /// How the hub works.
    package struct Settings: Sendable {
        /// The folder of the replicas.
        package var folder: URL
        /// The time between two looks at the store and the files, for changes of other processes.
        package var interval = Duration.seconds(1)
        /// How long a device is served without being asked for: changes of others are brought to it at once.
        package var attention = Duration.seconds(300)
        /// How long a request waits for a turn.
        package var patience = Duration.seconds(10)
        /// The number of turns at once.
        package var turns = 2
        /// The number of replicas that stay open.
        package var openReplicas = 64
        /// Called before each step that could be the last one of a process; a test throws there.
        var checkpoint: (@Sendable (String) throws -> Void)?

        package init(folder: URL) { self.folder = folder }
    }

    private let settings: Settings
    private let served: HubServedStore
    private let schema: HubSchema
    private let model: NSManagedObjectModel
    private let accounts: Accounts
    private let logger: Logger
    private let limiter: WorkLimiter
    private let lock: HubLock
    /// Called after a turn has written files for an account's devices.
    private let announce: @Sendable (UUID) -> Void

    private var replicas: [UUID: HubReplica] = [:]
    private var running: [UUID: Task<Void, any Error>] = [:]
    private var attention: [UUID: ContinuousClock.Instant] = [:]
    private var failures: [UUID: (count: Int, next: ContinuousClock.Instant)] = [:]
    private var sweeping: Task<Void, Never>?
    private var isStopped = false
    /// When replicas of deleted accounts are looked for next.
    private var cleaning: ContinuousClock.Instant?
    /// The revisions at the last look.
    private var seen: [UUID: Int64] = [:]

    /// - Throws: an error if the folder cannot be used.
    package init(
        _ settings: Settings, coordinator: NSPersistentStoreCoordinator, store: NSPersistentStore,
        model: ServedModel, rules: AccessRules, accounts: Accounts, logger: Logger,
        announce: @escaping @Sendable (UUID) -> Void = { _ in }
    ) throws {
        (self.settings, self.accounts, self.logger, self.announce) = (settings, accounts, logger, announce)
        served = HubServedStore(coordinator: coordinator, store: store, rules: rules)
        schema = HubSchema(coordinator.managedObjectModel, model)
        self.model = try HubReplicaModel.make(of: coordinator.managedObjectModel, model)
        limiter = WorkLimiter(count: settings.turns, maximumWaiting: .max, patience: .seconds(3600))
        try FileManager.default.createDirectory(
            at: settings.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        lock = HubLock(settings.folder.appendingPathComponent("hub-lock"))
    }

    /// What devices do not exchange with the served store, with the reason.
    package nonisolated var omissions: [ServedModel.Omission] { schema.omissions }

    // MARK: Starting and stopping

    /// Begins to look for changes of other processes.
    package func start() {
        guard sweeping == nil else { return }
        let interval = settings.interval
        sweeping = Task { [weak self] in
            var history: NSPersistentHistoryToken?
            while !Task.isCancelled {
                try? await Task.sleep(for: interval)
                guard let self, !Task.isCancelled else { return }
                history = await self.sweep(history)
            }
        }
    }

    /// Waits until no turn runs, and closes the replicas.
    package func stop() async {
        isStopped = true
        sweeping?.cancel()
        await sweeping?.value
        for task in running.values { _ = try? await task.value }
        for replica in replicas.values { replica.close() }
        replicas = [:]
        lock.release()
    }

    /// Runs turns of accounts whose devices have left files, and, if the store has changed, of those whose devices were
    /// there lately.
    private func sweep(_ known: NSPersistentHistoryToken?) async -> NSPersistentHistoryToken? {
        guard lock.take() else { return known }
        let now = ContinuousClock.now
        if cleaning.map({ $0 <= now }) ?? true {
            cleaning = now + .seconds(3600)
            await deleteForgotten()
        }
        attention = attention.filter { $0.value > now }
        let history = served.history
        var due = history == known ? [] : Set(attention.keys)
        for (account, revision) in (try? await accounts.devicePlaces()) ?? [:] {
            if replicas[account]?.lastTurn?.revision != revision, replicas[account] != nil || attention[account] != nil
            {
                due.insert(account)
            } else if replicas[account] == nil, seen[account] != revision {
                due.insert(account)
            }
            seen[account] = revision
        }
        for account in due where running[account] == nil && (failures[account]?.next ?? now) <= now {
            Task { try? await turn(account) }
        }
        return history
    }

    // MARK: Requests

    /// Lets the account's devices find what is served now: runs a turn if something has changed.
    ///
    /// A failure is in the log: the files are then those of the last turn.
    package func bringUpToDate(_ account: UUID) async {
        attention[account] = .now + settings.attention
        guard !isStopped, lock.take(), (failures[account]?.next ?? .now) <= .now else { return }
        let turn = Task { try? await self.turn(account) }
        await Self.wait(for: turn, atMost: settings.patience)
    }

    /// Returns when the task has ended, or after some time: the task goes on then.
    private static func wait(for task: Task<Void?, Never>, atMost patience: Duration) async {
        await withCheckedContinuation { continuation in
            let waiting = Waiting(continuation)
            Task {
                _ = await task.value
                waiting.end()
            }
            Task {
                try? await Task.sleep(for: patience)
                waiting.end()
            }
        }
    }

    /// Notes that a device of the account waits for changes.
    package func noteWaiting(_ account: UUID) { attention[account] = .now + settings.attention }

    // MARK: Turns

    /// Runs a turn after the one that runs; does nothing if nothing has changed since.
    func turn(_ account: UUID) async throws {
        guard !isStopped, lock.take() else { return }
        let before = running[account]
        let task = Task {
            _ = try? await before?.value
            try await self.limitedTurn(account)
        }
        running[account] = task
        defer { if running[account] == task { running[account] = nil } }
        do {
            try await task.value
            failures[account] = nil
        } catch {
            let count = (failures[account]?.count ?? 0) + 1
            // Retry with backoff: a replica that fails is not asked with every request.
            let pause = Duration.seconds(min(300, 1 << min(count, 9)))
            failures[account] = (count, .now + pause)
            logger.error("synchronisation", metadata: ["account": "\(account)", "error": "\(error)"])
            throw error
        }
    }

    private nonisolated func limitedTurn(_ account: UUID) async throws {
        try await limiter.run {
            do { try await runTurn(account) } catch {
                // What is in memory may not be what was written.
                await close(account)
                throw error
            }
        }
    }

    private func runTurn(_ account: UUID) async throws {
        guard let standing = try await accounts.standing(of: account) else {
            close(account)
            return
        }
        let access = HubAccess(
            account: account, isAdministrator: standing.isAdministrator, groups: standing.roles.mapValues(\.rawValue))
        let replica = try self.replica(account)
        replica.lastUse = .now
        var revision = try await accounts.deviceRevision(of: account)
        let found = HubReplica.Standpoint(revision: revision, history: served.history, access: access)
        if replica.lastTurn == found { return }
        let writes = replica.place.writes
        try settings.checkpoint?("turn")
        _ = try replica.announceNotices()
        _ = try await replica.sync.syncNow()
        try settings.checkpoint?("received")
        var hasChanged = false
        if replica.needsPass(found) {
            let (schema, served, logger, checkpoint) = (schema, served, logger, settings.checkpoint)
            hasChanged = try await Self.blocking {
                try HubPass.run(schema, replica, served, access, logger, checkpoint)
            }
            replica.notePass(found)
        }
        let hasNotices = try replica.announceNotices()
        try settings.checkpoint?("announced")
        if hasChanged || hasNotices { _ = try await replica.sync.syncNow() }
        try await Self.blocking { try replica.noteIdentities() }
        // Devices may have left files meanwhile: then there is another turn.
        let own = replica.place.writes - writes
        if try await accounts.deviceRevision(of: account) == revision + own { revision += own }
        replica.lastTurn = .init(revision: revision, history: found.history, access: access)
        if own > 0 { announce(account) }
    }

    /// Runs what waits for a store on a thread that no task needs.
    private static func blocking<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
        }
    }

    private func replica(_ account: UUID) throws -> HubReplica {
        if let known = replicas[account] { return known }
        if replicas.count >= settings.openReplicas {
            let idle = replicas.filter { running[$0.key] == nil }.min { $0.value.lastUse < $1.value.lastUse }
            if let idle {
                idle.value.close()
                replicas[idle.key] = nil
            }
        }
        let made = try HubReplica(
            account, in: settings.folder, model: model, place: HubPlace(accounts, account))
        replicas[account] = made
        return made
    }

    /// Closes the replica of an account that was suspended or deleted.
    private func close(_ account: UUID) {
        if let replica = replicas.removeValue(forKey: account) { replica.close() }
    }

    /// Deletes the replicas of accounts that were deleted.
    private func deleteForgotten() async {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: settings.folder.path)) ?? []
        for name in names where name.hasSuffix(".sqlite") {
            guard let account = UUID(uuidString: String(name.dropLast(7))), running[account] == nil else { continue }
            do { _ = try await accounts.account(account) } catch AccountError.accountNotFound {
                guard running[account] == nil else { continue }
                close(account)
                for file in names where file.hasPrefix(name) {
                    try? FileManager.default.removeItem(at: settings.folder.appendingPathComponent(file))
                }
            } catch { logger.warning("The account of a replica cannot be read: \(error)") }
        }
    }
}

/// A continuation that is resumed once.
private final class Waiting: Sendable {
    private let continuation: Mutex<CheckedContinuation<Void, Never>?>

    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = Mutex(continuation) }

    func end() {
        continuation.withLock { continuation in
            continuation?.resume()
            continuation = nil
        }
    }
}
