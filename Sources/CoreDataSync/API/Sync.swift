import CoreData
import CoreDataSyncEngine
import Foundation
import Synchronization

/// Keeps a store equal on several devices, through a place that all of them can reach: a folder, a server.
///
///     let container = NSPersistentContainer(name: "Groceries")
///     container.persistentStoreDescriptions[0].setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
///     container.loadPersistentStores { … }
///     let sync = try Sync(container, to: FolderPlace(folder), device: "Kitchen")
///     try await sync.start(seeding: .merge)
///     for await state in sync.states { show(state) }
///
/// The model needs no attributes for it. `userInfo` of entities and attributes says what identifies objects and how
/// values merge:
///
/// | `userInfo` of | Key | Values |
/// | --- | --- | --- |
/// | entity | `sync.key` | attributes, comma-separated: objects with equal values are one object on all devices |
/// | entity | `sync.id` | a UUID attribute whose value is the identity |
/// | entity | `sync.delete` | `deleteWins` (default), `editWins` |
/// | attribute | `sync.merge` | `last` (default), `min`, `max`, `sum`, `text`, `union`, `app` |
/// | entity, property | `sync.ignore` | `YES`, `NO` |
///
/// The store is any SQLite, PostgreSQL, XML, binary or in-memory store. With a persistent history an exchange reads
/// only what changed; without one it compares the whole store. What devices know of each other is in a file beside the
/// store, `Groceries.sqlite-sync`.
///
/// Changes of other devices are saved by a private context with the transaction author `sync`. Contexts see them as
/// they see saves of other contexts: set `automaticallyMergesChangesFromParent`.
///
/// - Note: This has no counterpart in Apple's framework.
public final class Sync: Sendable {
    /// The name that other devices show for this one.
    public let deviceName: String

    let store: SyncedStore
    /// What the device keeps beside its store.
    package var sidecar: Sidecar { store.sidecar }
    /// What devices exchange of the model.
    package var rules: SyncRules { store.rules }
    let cycle: SyncCycle
    let status = SyncStatus()
    private let runs = Mutex(Runs())

    private struct Runs {
        var loop: Task<Void, Never>?
        var wake: AsyncStream<Void>.Continuation?
        var watch: StoreWatch?
        var watching: Task<Void, Never>?
        /// Whether the start holds the store's lock.
        var isHolding = false
        /// The exchange that runs or ran last: exchanges follow one another.
        var last: Task<SyncSummary, any Error>?
    }

    /// Prepares a store of a container for synchronisation; nothing is read or written in the place until
    /// ``start(seeding:_:)``.
    ///
    /// - Parameters:
    ///   - container: its stores have been loaded.
    ///   - store: the store that synchronises; `nil` for the container's first one.
    ///   - place: where devices leave files for each other.
    ///   - device: a name for people.
    /// - Throws: 134060 for a model whose `userInfo` says what cannot be, one line for each mistake. 134070 without a
    ///   store, and for a store of a class of the program's own. 134080 for a sidecar file that cannot be used.
    public convenience init(
        _ container: NSPersistentContainer, store: NSPersistentStore? = nil, to place: any SyncPlace,
        device: String, options: SyncOptions = SyncOptions()
    ) throws {
        let coordinator = container.persistentStoreCoordinator
        guard let store = store ?? coordinator.persistentStores.first else {
            throw SyncErrors.make(
                134070,
                "The container has no store to synchronise: call loadPersistentStores(completionHandler:) first.")
        }
        try self.init(coordinator, store: store, to: place, device: device, options: options)
    }

    /// Prepares a store of a coordinator for synchronisation, in a program that has no container.
    ///
    /// - Parameters:
    ///   - coordinator: it has the store.
    ///   - store: the store that synchronises; `nil` for the coordinator's first one.
    ///   - place: where devices leave files for each other.
    ///   - device: a name for people.
    /// - Throws: the same errors as ``init(_:store:to:device:options:)`` with a container.
    public init(
        _ coordinator: NSPersistentStoreCoordinator, store: NSPersistentStore? = nil, to place: any SyncPlace,
        device: String, options: SyncOptions = SyncOptions()
    ) throws {
        guard let store = store ?? coordinator.persistentStores.first else {
            throw SyncErrors.make(
                134070, "The coordinator has no store to synchronise: call addPersistentStore(…) first.")
        }
        deviceName = device
        self.store = try SyncedStore(coordinator: coordinator, store: store, device: device, options: options)
        cycle = SyncCycle(self.store, place)
    }

    deinit { end() }

    // MARK: Starting and stopping

    /// Exchanges once, and from then on whenever the store or the place changes.
    ///
    /// - Parameters:
    ///   - seeding: what happens to objects that both have, the first time that the store meets the place. Later it has
    ///     no effect.
    ///   - progress: called during the first exchange, on any thread.
    /// - Throws: the error of the first exchange; then nothing was started. Local changes wait in the sidecar. 255
    ///   (`CocoaError.fileLocking`) if another process, or another `Sync` of this one, synchronises the store: from
    ///   `start` to ``stop()``, and during an exchange, there is only one.
    public func start(
        seeding: Seeding = .merge, _ progress: (@Sendable (SyncProgress) -> Void)? = nil
    ) async throws {
        try await holding(seeding) { _ = try await exchange(progress) }
    }

    /// Exchanges at once and whenever the store or the place changes; an exchange that fails is tried again.
    ///
    /// - Throws: 255 if another process, or another `Sync` of this one, synchronises the store.
    package func begin(seeding: Seeding) async throws { try await holding(seeding) {} }

    /// Starts the loop, which keeps one hold of the lock.
    private func holding(_ seeding: Seeding, _ first: () async throws -> Void) async throws {
        let store = store
        try await BlockingWork.run { try store.hold() }
        do {
            await cycle.setSeeding(seeding)
            try await first()
            try beginExchanging()
        } catch {
            store.release()
            throw error
        }
    }

    private func beginExchanging() throws {
        let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let watch = try StoreWatch(store.store, of: store.coordinator) { wake.yield() }
        let changes = cycle.place.changes()
        let watching = Task { for await _ in changes { wake.yield() } }
        let (interval, first) = (store.options.interval, store.options.retryPause)
        let loop = Task { [weak self] in
            let timer = Task {
                while !Task.isCancelled {
                    try? await Task.sleep(for: .seconds(max(0.05, interval)))
                    wake.yield()
                }
            }
            defer { timer.cancel() }
            var failures = 0
            for await _ in wakes {
                guard !Task.isCancelled, let self else { return }
                do {
                    _ = try await self.exchange(nil)
                    failures = 0
                } catch is CancellationError { return } catch {
                    // Retry with backoff: a place that fails is not asked at every save.
                    failures += 1
                    let pause = min(300, first * pow(2, Double(failures - 1)))
                    self.status.update { $0.activity = .failed(error, retry: Date().addingTimeInterval(pause)) }
                    try? await Task.sleep(for: .seconds(pause))
                    wake.yield()
                }
            }
        }
        end()
        runs.withLock { runs in
            (runs.loop, runs.wake, runs.watch, runs.watching) = (loop, wake, watch, watching)
            runs.isHolding = true
        }
        wake.yield()
    }

    /// Stops exchanging after the exchange that runs. What is saved meanwhile is exchanged after the next start.
    public func stop() async {
        // The loop may be about to begin an exchange.
        await end()?.value
        _ = try? await runs.withLock { $0.last }?.value
        status.update { $0.activity = .stopped }
    }

    /// Ends the loop after the exchange that runs, and returns its task.
    @discardableResult
    private func end() -> Task<Void, Never>? {
        let ended = runs.withLock { runs in
            defer {
                (runs.loop, runs.wake, runs.watch, runs.watching) = (nil, nil, nil, nil)
                runs.isHolding = false
            }
            return (runs.loop, runs.wake, runs.watching, runs.isHolding)
        }
        ended.0?.cancel()
        ended.1?.finish()
        ended.2?.cancel()
        if ended.3 { store.release() }
        return ended.0
    }

    /// Exchanges now, and returns when that is done.
    ///
    /// - Throws: the exchange's error; 255 if another process, or another `Sync` of this one, synchronises the store;
    ///   134070 if the store was removed from its coordinator: nothing is read or sent then.
    @discardableResult
    public func syncNow() async throws -> SyncSummary { try await exchange(nil) }

    /// Exchanges once without starting, and attaches the store as the seeding says if it was never attached.
    package func syncNow(seeding: Seeding) async throws -> SyncSummary {
        await cycle.setSeeding(seeding)
        return try await exchange(nil)
    }

    private func exchange(_ progress: (@Sendable (SyncProgress) -> Void)?) async throws -> SyncSummary {
        let (cycle, status, store) = (cycle, status, store)
        let task = runs.withLock { runs in
            let before = runs.last
            let task = Task {
                _ = try? await before?.value
                return try await Self.run(cycle, status, store, progress)
            }
            runs.last = task
            return task
        }
        return try await task.value
    }

    private static func run(
        _ cycle: SyncCycle, _ status: SyncStatus, _ store: SyncedStore, _ progress: (@Sendable (SyncProgress) -> Void)?
    ) async throws -> SyncSummary {
        do {
            try await BlockingWork.run { try store.hold() }
            defer { store.release() }
            let summary = try await cycle.run { activity in
                status.update { $0.activity = activity }
                if let progress, let step = SyncProgress(activity) { progress(step) }
            }
            let troubles = await cycle.troubles
            let counts = try await BlockingWork.run { try store.sidecar.counts() }
            status.update { state in
                state.activity = .idle
                state.lastExchange = store.options.now()
                (state.unsent, state.waiting, state.conflicts) = (counts.outgoing, counts.parked, counts.conflicts)
                state.troubles = troubles
            }
            return summary
        } catch {
            let counts = try? await BlockingWork.run { try store.sidecar.counts() }
            let troubles = await cycle.troubles
            status.update { state in
                state.troubles = troubles
                state.activity = .failed(error, retry: store.options.now().addingTimeInterval(store.options.interval))
                if let counts {
                    (state.unsent, state.waiting, state.conflicts) = (counts.outgoing, counts.parked, counts.conflicts)
                }
            }
            throw error
        }
    }

    // MARK: State

    /// The present state.
    public var state: SyncState { status.state }

    /// The present state, and each state that follows it, until the iteration ends. A slow reader gets the newest.
    public var states: AsyncStream<SyncState> { status.stream() }

    /// The devices that synchronise with the place, this one included, as of the last exchange.
    public func devices() async throws -> [SyncDevice] {
        let store = store
        return try await BlockingWork.run { try store.reading { try store.devices() } }
    }

    /// Ends this device's part for good: the others keep nothing for it any more. The store keeps its objects.
    ///
    /// The sidecar is emptied: a store that joins again is attached anew, as ``start(seeding:_:)`` says. Edits that
    /// were not sent yet are not sent any more.
    ///
    /// - Parameter tellingOthers: whether the place gets a file that says so. If it cannot be reached any more, pass
    ///   `false`: the others then keep files for this device until its lease ends.
    /// - Throws: the place's error, or 134070 if the store was removed from its coordinator; then nothing has changed,
    ///   but exchanging has stopped.
    public func leave(tellingOthers: Bool = true) async throws {
        await stop()
        let store = store
        try await BlockingWork.run { try store.hold() }
        defer { store.release() }
        // The store keeps its history for this device until it is told not to.
        try store.coordinator.checkAttached(store.store)
        if tellingOthers { try await cycle.leave() }
        try await BlockingWork.run {
            try store.forgetEverything()
            try store.forgetHistoryReader()
        }
    }
}

extension SyncedStore {
    /// This device, then the others that have not left.
    fileprivate func devices() throws -> [SyncDevice] {
        let settings = sidecar.settings
        let own = SyncDevice(
            id: settings.device.uuid, name: settings.deviceName, isThisDevice: true, lastSeen: options.now(),
            hasExpired: false, leaseEnds: options.now().addingTimeInterval(options.lease), behind: 0)
        let others = try sidecar.peers().filter { !$0.hasLeft }.map { peer in
            let last = settings.lastSegment
            return SyncDevice(
                id: peer.device.uuid, name: peer.name, isThisDevice: false, lastSeen: SyncTime.date(peer.seen),
                hasExpired: peer.leaseEnd.map { $0 < now } ?? false,
                leaseEnds: peer.leaseEnd.map(SyncTime.date) ?? .distantFuture,
                behind: Int(last - min(last, peer.received.contiguous(settings.device))))
        }
        return [own] + others
    }
}

extension SyncProgress {
    init?(_ activity: SyncState.Activity) {
        switch activity {
        case .capturing: self.init(step: .reading, completed: 0, total: nil)
        case .sending(let done, let total): self.init(step: .sending, completed: done, total: total)
        case .receiving: self.init(step: .receiving, completed: 0, total: nil)
        case .applying: self.init(step: .applying, completed: 0, total: nil)
        case .stopped, .idle, .failed: return nil
        }
    }
}
