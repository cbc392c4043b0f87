import CoreData
import Foundation
import Synchronization

/// Synchronises one store that a program added under Apple's names, as long as an account is signed in.
///
/// ```
/// begin ──▶ no account ──▶ waits for an account
///   │            ▲ signs out
///   └─▶ setup ──▶ exchanges ──▶ stop
///        │  ▲
///        └──┘ fails: again after a pause, unless only the program can help
/// ```
final class StoreMirror: CloudMirror {
    typealias Event = NSPersistentCloudKitContainer.Event

    /// Is notified of the synchronisation, on any thread.
    struct Observer: Sendable {
        var event: @Sendable (Event) -> Void = { _ in }
        /// Changes of other devices were saved.
        var imported: (@Sendable (AppliedChanges) -> Void)?
        /// The first import of a store that never synchronised has ended.
        var importedFirst: (@Sendable () -> Void)?
        /// The content was removed on another device.
        var contentRemoved: (@Sendable () -> Void)?
    }

    let store: NSPersistentStore
    private let coordinator: NSPersistentStoreCoordinator
    private let provider: CloudSyncProvider
    private let database: @Sendable (_ account: String) -> CloudDatabase
    /// The only account that the store is for; `nil` for a store that follows the account.
    private let account: String?
    private let file: String
    private let state = Mutex(State())

    private struct State {
        var observer = Observer()
        var observations: [NotificationObservation] = []
        var task: Task<Void, Never>?
        var sync: Sync?
        var isStopped = false
        var canWrite = true
        /// The import and the export that run.
        var running: [SyncStage: Event] = [:]
        var applied = AppliedChanges()
        var awaitsFirstImport = false
    }

    init(
        _ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator, _ provider: CloudSyncProvider,
        onlyFor account: String? = nil, database: @escaping @Sendable (_ account: String) -> CloudDatabase
    ) {
        self.account = account
        (self.store, self.coordinator, self.provider, self.database) = (store, coordinator, provider, database)
        let url = store.url.flatMap { $0.isNullDevice ? nil : $0 }
        file = url?.standardizedFileURL.absoluteString ?? store.identifier
    }

    // MARK: Starting and stopping

    /// Begins, and follows the account until ``stop()``.
    func begin(_ observer: Observer) {
        var observations = [
            NotificationObservation(.NSPersistentStoreCoordinatorWillRemoveStore, of: store) { [weak self] _ in
                self?.stop()
            }
        ]
        if account == nil {
            observations.append(
                NotificationObservation(.NSUbiquityIdentityDidChange) { [weak self] _ in self?.restart() })
        }
        let isStopped = state.withLock { [observations] state in
            (state.observer, state.observations) = (observer, observations)
            return state.isStopped
        }
        if isStopped { stop() } else { restart() }
    }

    private func restart() {
        state.withLock { state in
            guard !state.isStopped else { return }
            let before = state.task
            before?.cancel()
            state.task = Task {
                await before?.value
                await self.run()
            }
        }
    }

    /// Ends the synchronisation after the exchange that runs; observers are not notified any more.
    func stop() {
        let observations = state.withLock { state in
            defer { state.observations = [] }
            state.isStopped = true
            state.task?.cancel()
            return state.observations
        }
        observations.forEach { $0.cancel() }
    }

    /// Ends the synchronisation, and returns when no exchange runs any more.
    func stopAndWait() async {
        stop()
        await state.withLock { $0.task }?.value
    }

    // MARK: State

    var canWrite: Bool { state.withLock { $0.canWrite } }

    /// The synchronisation; `nil` before the setup has ended.
    var sync: Sync? { state.withLock { $0.sync } }

    func checkPlace() throws {
        guard let account = CloudAccount.shared.name else { throw CloudErrors.noAccount() }
        let place = try provider.makePlace(database(account))
        try WaitedTask.run { _ = try await place.list(nil) }
    }

    // MARK: Running

    private func run() async {
        guard await SyncTurns.shared.take(file) else { return }
        if let account = account ?? CloudAccount.shared.name {
            if let sync = await setUp(account) {
                // The stream has no elements: it ends when the task is cancelled.
                let (stream, end) = AsyncStream<Void>.makeStream()
                for await _ in stream {}
                end.finish()
                state.withLock { $0.sync = nil }
                await sync.stop()
            }
        } else {
            let now = provider.options.now()
            let event = Event(.setup, ofStore: store.identifier, at: now)
            tell(event)
            tell(event.ended(at: now, CloudErrors.noAccount()))
        }
        await SyncTurns.shared.release(file)
    }

    /// Begins to exchange; tries again after failures of the place.
    ///
    /// - Returns: `nil` if it was cancelled, or only the program can help.
    private func setUp(_ account: String) async -> Sync? {
        var pause = provider.options.retryPause
        while !Task.isCancelled {
            let event = Event(.setup, ofStore: store.identifier, at: provider.options.now())
            tell(event)
            do {
                let (sync, place) = try await connect(to: database(account))
                try await BlockingWork.run { try sync.store.hold() }
                defer { sync.store.release() }
                try await prepare(sync, place, database(account))
                if Task.isCancelled { return nil }
                state.withLock { $0.sync = sync }
                tell(event.ended(at: provider.options.now(), nil))
                try await sync.begin(seeding: .merge)
                return sync
            } catch {
                state.withLock { $0.sync = nil }
                if Task.isCancelled { return nil }
                tell(event.ended(at: provider.options.now(), error))
                if error is ContentRemoved { state.withLock { $0.observer.contentRemoved }?() }
                if Self.stays(error) { return nil }
            }
            try? await Task.sleep(for: .seconds(pause))
            pause = min(300, pause * 2)
        }
        return nil
    }

    /// Whether only the program can help: the model, the store, the sidecar or the account is the reason.
    private static func stays(_ error: any Error) -> Bool {
        if error is ContentRemoved { return true }
        guard let code = (error as? CocoaError)?.code.rawValue else { return false }
        return [134060, 134070, 134080, CloudServices.cloudAccountChanged].contains(code)
    }

    private func connect(to database: CloudDatabase) async throws -> (Sync, any SyncPlace) {
        let made = try await makeSync(database)
        let store = made.0.store
        let isEmptied = try await BlockingWork.run {
            try store.exclusively { try store.forgetDatabase(otherThan: database) }
        }
        return isEmptied ? try await makeSync(database) : made
    }

    private func makeSync(_ database: CloudDatabase) async throws -> (Sync, any SyncPlace) {
        let base = try provider.makePlace(database)
        let place: any SyncPlace = if database.contentName == nil { base } else { ContentPlace(base) }
        var options = provider.options
        options.didChangeStage = { [weak self] change in self?.note(change) }
        options.didApply = { [weak self] changes in self?.state.withLock { $0.applied.add(changes) } }
        let (coordinator, store, device) = (coordinator, store, provider.device)
        let sync = try await BlockingWork.run { [options] in
            try Sync(coordinator, store: store, to: place, device: device, options: options)
        }
        return (sync, place)
    }

    /// Connects the sidecar with the database, and reaches the place. The caller holds the store's lock.
    private func prepare(_ sync: Sync, _ place: any SyncPlace, _ database: CloudDatabase) async throws {
        var epoch: UInt64 = 0
        if let content = place as? ContentPlace {
            let known = AttachedDatabase(sync.store.sidecar.settings)
            epoch = if let known { known.epoch } else { try await content.currentEpoch() }
            content.epoch = epoch
        }
        try await BlockingWork.run { [epoch] in try sync.store.attach(to: database, epoch: epoch) }
        state.withLock { $0.awaitsFirstImport = sync.store.sidecar.settings.token == nil }
        // A place that cannot be reached is an error of the setup.
        _ = try await place.list(nil)
    }

    // MARK: Telling

    private func tell(_ event: Event) {
        let observer = state.withLock { $0.isStopped ? nil : $0.observer }
        observer?.event(event)
    }

    private func note(_ change: SyncStageChange) {
        let now = provider.options.now()
        switch change {
        case .began(let stage):
            let event = Event(stage == .importing ? .import : .export, ofStore: store.identifier, at: now)
            state.withLock { $0.running[stage] = event }
            tell(event)
        case .ended(let stage, let error):
            let (event, applied, isFirst, observer) = state.withLock { state in
                if stage == .exporting { state.canWrite = !((error as? SyncPlaceError)?.forbidsChanges ?? false) }
                let event = state.running.removeValue(forKey: stage)
                guard stage == .importing else { return (event, AppliedChanges(), false, Observer()) }
                let isFirst = state.awaitsFirstImport && error == nil
                if isFirst { state.awaitsFirstImport = false }
                defer { state.applied = AppliedChanges() }
                return (event, state.applied, isFirst, state.isStopped ? Observer() : state.observer)
            }
            if !applied.isEmpty { observer.imported?(applied) }
            if let event { tell(event.ended(at: now, error)) }
            if isFirst { observer.importedFirst?() }
            if error is ContentRemoved { observer.contentRemoved?() }
        }
    }
}

extension SyncPlaceError {
    /// Whether this device may not write to the place.
    fileprivate var forbidsChanges: Bool { reason == .readOnly || reason == .noPermission }
}
