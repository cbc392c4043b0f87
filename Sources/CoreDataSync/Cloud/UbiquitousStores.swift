import CoreData
import Foundation
import Synchronization

/// The stores of the process that were added with a ubiquitous content name: synchronises them, and exchanges them when
/// the account changes.
final class UbiquitousStores: Sendable {
    static let shared = UbiquitousStores()

    private struct Entry {
        let store: NSPersistentStore
        let coordinator: NSPersistentStoreCoordinator
        let location: UbiquitousLocation
        /// The account whose store it is; `nil` for the local one.
        let account: String?
        let mirror: StoreMirror?
    }

    private struct State {
        var provider: CloudSyncProvider?
        var observations: [NotificationObservation] = []
        var entries: [ObjectIdentifier: Entry] = [:]
        /// Mirrors of stores that were removed, until their last exchange has ended.
        var ending: [ObjectIdentifier: StoreMirror] = [:]
        /// The last of the changes of stores, which follow one another.
        var work: Task<Void, Never>?
    }

    private let state = Mutex(State())

    /// Begins to observe coordinators and the account; ends everything with `nil`.
    func use(_ provider: CloudSyncProvider?) {
        let (observations, entries) = state.withLock { state in
            defer { (state.observations, state.entries) = ([], [:]) }
            state.provider = provider
            return (state.observations, state.entries)
        }
        observations.forEach { $0.cancel() }
        for entry in entries.values { entry.mirror?.stop() }
        guard provider != nil else { return }
        let changed = NotificationObservation(.NSPersistentStoreCoordinatorStoresDidChange) { [weak self] in
            self?.follow($0)
        }
        let removed = NotificationObservation(.NSPersistentStoreCoordinatorWillRemoveStore) {
            [weak self] notification in
            if let store = notification.object as? NSPersistentStore { self?.remove(store) }
        }
        let account = NotificationObservation(.NSUbiquityIdentityDidChange) { [weak self] _ in self?.followAccount() }
        state.withLock { $0.observations = [changed, removed, account] }
        for entry in entries.values where entry.store.persistentStoreCoordinator != nil {
            add(entry.store, of: entry.coordinator)
        }
    }

    // MARK: Stores

    /// Follows a change of the stores of a coordinator.
    private func follow(_ notification: Notification) {
        guard let coordinator = notification.object as? NSPersistentStoreCoordinator else { return }
        func stores(_ key: String) -> [NSPersistentStore] { notification.userInfo?[key] as? [NSPersistentStore] ?? [] }
        let added = stores(NSAddedPersistentStoresKey)
        for store in added { add(store, of: coordinator) }
        // A store may have been removed before the notification of its addition arrived.
        for store in stores(NSRemovedPersistentStoresKey) where !added.contains(store) { remove(store) }
    }

    private func add(_ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator) {
        let options = store.options ?? [:]
        guard options[NSPersistentStoreUbiquitousContentNameKey] != nil else {
            if (options[NSPersistentStoreRemoveUbiquitousMetadataOption] as? NSNumber)?.boolValue == true {
                detach(store)
            }
            return
        }
        guard let provider = state.withLock({ $0.provider }), let url = store.url,
            store.persistentStoreCoordinator === coordinator, let location = try? UbiquitousLocation(url, options)
        else { return }
        let account = UbiquitousLocation.account(of: url)
        let mirror = account.flatMap { account in
            account == CloudAccount.shared.name
                ? StoreMirror(store, of: coordinator, provider, onlyFor: account) { location.database($0) } : nil
        }
        let isNew = state.withLock { state in
            guard state.entries[ObjectIdentifier(store)] == nil else { return false }
            state.entries[ObjectIdentifier(store)] = Entry(
                store: store, coordinator: coordinator, location: location, account: account, mirror: mirror)
            return true
        }
        guard isNew else { return }
        mirror?.begin(observer(of: store, coordinator))
        // The notification may tell of a store that was removed since: the one after a store's first import does.
        guard store.persistentStoreCoordinator === coordinator else { return remove(store) }
        // The account may have changed while the store was added.
        if account != CloudAccount.shared.name { followAccount() }
    }

    private func detach(_ store: NSPersistentStore) {
        guard let url = store.url, url.isStoreFile else { return }
        do { try UbiquitousLocation.deleteSidecar(beside: url) } catch {
            CloudServices.logFailure("The store '\(url.path)' could not be separated from other devices: \(error)")
        }
    }

    private func remove(_ store: NSPersistentStore) {
        let mirror = state.withLock { state -> StoreMirror? in
            guard let mirror = state.entries.removeValue(forKey: ObjectIdentifier(store))?.mirror else { return nil }
            state.ending[ObjectIdentifier(mirror)] = mirror
            return mirror
        }
        guard let mirror else { return }
        mirror.stop()
        Task {
            await mirror.stopAndWait()
            self.state.withLock { $0.ending[ObjectIdentifier(mirror)] = nil }
        }
    }

    private func observer(
        of store: NSPersistentStore, _ coordinator: NSPersistentStoreCoordinator
    ) -> StoreMirror.Observer {
        StoreMirror.Observer(
            event: { event in
                guard let error = event.error else { return }
                CloudServices.logFailure(
                    "Synchronisation of '\(store.url?.path ?? "")' failed: \(error.localizedDescription)")
            },
            imported: { changes in
                NotificationCenter.default.post(
                    name: .NSPersistentStoreDidImportUbiquitousContentChanges, object: coordinator,
                    userInfo: [
                        NSInsertedObjectsKey: changes.inserted, NSUpdatedObjectsKey: changes.updated,
                        NSDeletedObjectsKey: changes.deleted,
                    ])
            },
            importedFirst: {
                guard store.persistentStoreCoordinator === coordinator else { return }
                coordinator.announceInitialImport(of: store)
            },
            contentRemoved: { [self] in enqueue { await self.replaceRemovedContent(of: store) } })
    }

    // MARK: Changes

    private func enqueue(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            let before = state.work
            state.work = Task {
                await before?.value
                await work()
            }
        }
    }

    private func followAccount() {
        enqueue {
            let account = CloudAccount.shared.name
            for entry in self.state.withLock({ Array($0.entries.values) }) where entry.account != account {
                await self.exchange(entry, for: account)
            }
        }
    }

    private func exchange(_ entry: Entry, for account: String?) async {
        let location = entry.location
        guard entry.store.url?.isStoreFile == true else { return }
        await replace(
            entry, at: location.url(account), because: account == nil ? .accountRemoved : .accountAdded
        ) { if let account, entry.account == nil { try location.adoptLocalStore(account) } }
    }

    private func replaceRemovedContent(of store: NSPersistentStore) async {
        guard let entry = state.withLock({ $0.entries[ObjectIdentifier(store)] }), let account = entry.account else {
            return
        }
        await replace(entry, at: entry.location.url(account), because: .contentRemoved) {
            try entry.location.delete(account)
        }
    }

    private func replace(
        _ entry: Entry, at url: URL, because transition: NSPersistentStoreUbiquitousTransitionType,
        _ prepare: @escaping @Sendable () throws -> Void
    ) async {
        await entry.mirror?.stopAndWait()
        do {
            try await BlockingWork.run {
                guard entry.store.persistentStoreCoordinator != nil else { return }
                try entry.coordinator.exchangeUbiquitousStore(
                    entry.store, for: url, because: transition, prepare)
            }
        } catch {
            CloudServices.logFailure(
                "The store '\(entry.store.url?.path ?? "")' could not be exchanged for '\(url.path)': \(error.localizedDescription)"
            )
        }
    }

    /// Waits until no exchange of a removed store runs any more.
    func waitForRemovedStores() async {
        for mirror in state.withLock({ Array($0.ending.values) }) { await mirror.stopAndWait() }
    }

    /// The store of that location and account that a coordinator has.
    func attachedStore(_ location: UbiquitousLocation, _ account: String) -> NSPersistentStore? {
        state.withLock { state in
            state.entries.values.first { $0.account == account && $0.location.url(account) == location.url(account) }?
                .store
        }
    }
}

/// Removes a content from all devices, and its store from this one.
struct UbiquitousRemoval {
    private let provider: CloudSyncProvider
    private let location: UbiquitousLocation

    init(_ provider: CloudSyncProvider, _ url: URL, _ options: [AnyHashable: Any]) throws {
        self.provider = provider
        location = try UbiquitousLocation(url, options)
    }

    func run() throws {
        guard let account = CloudAccount.shared.name else { throw CloudErrors.noAccount() }
        if let store = UbiquitousStores.shared.attachedStore(location, account) {
            throw SyncErrors.make(
                134070,
                "The content '\(location.contentName)' cannot be removed, because its store '\(store.url?.path ?? "")' is in use: remove the store from its coordinator first."
            )
        }
        let content = ContentPlace(try provider.makePlace(location.database(account)))
        try WaitedTask.run {
            await UbiquitousStores.shared.waitForRemovedStores()
            try await content.remove()
        }
        try location.delete(account)
    }
}
