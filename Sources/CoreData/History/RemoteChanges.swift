import CoreDataStore
import Foundation
import Synchronization

/// Posts `NSPersistentStoreRemoteChange` for one store, as long as it is attached.
final class RemoteChanges: @unchecked Sendable {
    // Safe because `state` guards what changes.

    private struct State {
        var watch: (any SourceWatch)?
        var lastTransaction: Int64?
    }

    /// Guards the watch and the last reported token.
    private let state = Mutex(State())

    /// Begins to watch; the path must be the store's current one.
    func begin(_ store: AttachedStore) {
        let position = try? store.historyPosition()
        do {
            let watch = try CoreDataErrors.converting {
                try store.watch { [weak self, weak store] in
                    guard let store else { return }
                    self?.post(for: store)
                }
            }
            let old = state.withLock { state in
                defer {
                    state.watch = watch
                    state.lastTransaction = position
                }
                return state.watch
            }
            old?.cancel()
        } catch {
            CoreDataLog.general.error(
                "NSPersistentStoreRemoteChange will not be posted for \(store.url?.path ?? "a store"): \(error.localizedDescription)"
            )
        }
    }

    func end() {
        let watch = state.withLock { state in
            defer { state.watch = nil }
            return state.watch
        }
        watch?.cancel()
    }

    private func post(for store: AttachedStore) {
        guard store.isAttached, let coordinator = store.store.persistentStoreCoordinator else { return }
        let position = try? store.historyPosition()
        if let position {
            // Not every commit is a transaction: keys may have been reserved, or a history purged.
            let isNew = state.withLock { state in
                defer { state.lastTransaction = position }
                return state.lastTransaction != position
            }
            guard isNew else { return }
        }
        var userInfo: [AnyHashable: Any] = [NSStoreUUIDKey: store.identifier]
        userInfo[NSPersistentStoreURLKey] = store.url
        if let position {
            userInfo[NSPersistentHistoryTokenKey] = NSPersistentHistoryToken([store.identifier: position])
        }
        NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: userInfo)
    }
}

extension AttachedStore {
    /// The number of the last transaction; `nil` where none are recorded.
    fileprivate func historyPosition() throws -> Int64? {
        guard let history = target.history, try history.hasHistory() else { return nil }
        return try history.historyExtent().last
    }

    /// Calls `changed` after each write to the store, until the watch is cancelled or released. Reports writes of this
    /// and other processes; for stores in memory, of this one.
    func watch(_ changed: @escaping @Sendable () -> Void) throws -> any SourceWatch {
        if let watch = try target.watch(changed) { return watch }
        return InProcessSaves(self, changed)
    }
}

/// Reports saves to a store that no other process can write to.
private final class InProcessSaves: SourceWatch {
    private static let queue = DispatchQueue(label: "com.apple.CoreData.remote-changes.memory", qos: .utility)

    private let changed: @Sendable () -> Void
    private let observers: SaveObservers
    private let number: Int

    init(_ store: AttachedStore, _ changed: @escaping @Sendable () -> Void) {
        self.changed = changed
        observers = store.saveObservers
        number = observers.add { Self.queue.async(execute: changed) }
    }

    deinit { observers.remove(number) }

    func cancel() { observers.remove(number) }
}

/// The observers of saves to a store.
final class SaveObservers: Sendable {
    private struct State {
        var observers: [Int: @Sendable () -> Void] = [:]
        var next = 0
    }

    /// Guards the observers; no observer is called while it is held.
    private let state = Mutex(State())

    func add(_ observer: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.observers[state.next] = observer
            return state.next
        }
    }

    func remove(_ number: Int) { state.withLock { $0.observers[number] = nil } }

    func tell() {
        let observers = state.withLock { $0.observers.isEmpty ? [] : Array($0.observers.values) }
        for observer in observers { observer() }
    }
}

/// Watches a store for transactions, of this process and of others, until it is deallocated.
package final class StoreWatch: Sendable {
    private let watch: any SourceWatch

    /// - Parameter changed: called on a thread of its own after each commit; several commits may be told once.
    /// - Throws: if the system cannot watch the store.
    package init?(
        _ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator,
        _ changed: @escaping @Sendable () -> Void
    ) throws {
        guard let attached = coordinator.attachedStores.first(where: { $0.identifier == store.identifier }) else {
            return nil
        }
        watch = try CoreDataErrors.converting { try attached.watch(changed) }
    }

    deinit { watch.cancel() }
}
