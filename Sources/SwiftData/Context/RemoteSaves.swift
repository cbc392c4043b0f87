import CoreData
import Foundation
import Synchronization

/// Follows what other processes, and other containers of the same files, save to a container's stores: the container's
/// contexts merge it.
///
/// ```
///  commit ──▶ NSPersistentStoreRemoteChange ──▶ own transaction? ──yes──▶ nothing is read
///                                                  └─no──▶ history after the last position ──▶ SiblingMailbox of each context
/// ```
/// Stores without a history, such as an app's own, are not followed.
final class RemoteSaves: @unchecked Sendable {
    // Safe because `state` guards what changes.

    private struct State {
        /// The last transaction of each store that contexts know, by the store's identifier.
        var positions: [String: Int64] = [:]
        /// Later transactions that contexts of the container saved.
        var own: [String: Set<Int64>] = [:]
        /// The number of saves of the container's contexts that run: their transactions are not in ``own`` yet.
        var running = 0
        /// Whether stores have changed since the history was last read.
        var isBehind = false
        var observer: (any NSObjectProtocol)?
        /// What ``ModelContainer/remoteChange`` is posted for.
        weak var container: ModelContainer?
    }

    private let coordinator: NSPersistentStoreCoordinator
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "SwiftData.RemoteSaves", qos: .utility)

    /// Follows the stores of a coordinator from their current positions on.
    init(_ coordinator: NSPersistentStoreCoordinator) {
        self.coordinator = coordinator
        let positions = Self.positions(coordinator)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { [weak self] in self?.storeDidChange($0) }
        let kept = Kept(observer: observer)
        state.withLock { state in
            state.positions = positions
            state.observer = kept.observer
        }
    }

    /// The stores that may have a history.
    private static func stores(_ coordinator: NSPersistentStoreCoordinator) -> [NSPersistentStore] {
        coordinator.persistentStores.filter { !($0 is DataStoreBridge) }
    }

    /// The last transaction of each store; none of a store that has not been saved to.
    private static func positions(_ coordinator: NSPersistentStoreCoordinator) -> [String: Int64] {
        coordinator.currentPersistentHistoryToken(fromStores: stores(coordinator))?.positions ?? [:]
    }

    deinit {
        if let observer = state.withLock({ Kept(observer: $0.observer) }).observer {
            NotificationCenter.default.removeObserver(observer)
        }
    }

    private struct Kept: @unchecked Sendable {
        // Safe because an observer is only handed to the notification center, which any thread may use.
        let observer: (any NSObjectProtocol)?
    }

    /// Has the container post ``ModelContainer/remoteChange``.
    func tell(_ container: ModelContainer) { state.withLock { $0.container = container } }

    // MARK: Own saves

    /// A context of the container begins to save.
    func willSave() { state.withLock { $0.running += 1 } }

    /// The save ended with these transactions.
    func didSave(_ transactions: [String: Int64]) {
        let isBehind = state.withLock { state in
            state.running -= 1
            for (store, number) in transactions { state.own[store, default: []].insert(number) }
            for store in transactions.keys { Self.advance(&state, store) }
            return state.running == 0 && state.isBehind
        }
        if isBehind { catchUpLater() }
    }

    /// Own transactions that directly follow the known ones count as known.
    private static func advance(_ state: inout State, _ store: String) {
        var position = state.positions[store] ?? 0
        while state.own[store]?.remove(position + 1) != nil { position += 1 }
        state.positions[store] = position
    }

    // MARK: Other saves

    private func storeDidChange(_ notification: Notification) {
        let token = notification.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
        guard let positions = token?.positions else { return }
        let isNews = state.withLock { state in
            let isNews = positions.contains { $0.value > state.positions[$0.key] ?? 0 }
            if isNews { state.isBehind = true }
            // A running save may have changed the store: its end decides.
            return isNews && state.running == 0
        }
        if isNews { catchUpLater() }
    }

    private func catchUpLater() { queue.async { [weak self] in self?.catchUp() } }

    private func catchUp() {
        let positions = state.withLock { state -> [String: Int64]? in
            guard state.running == 0, state.isBehind else { return nil }
            state.isBehind = false
            return state.positions
        }
        guard let positions else { return }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: NSPersistentHistoryToken(positions))
        request.affectedStores = Self.stores(coordinator)
        do {
            let transactions = try context.performAndWait {
                (try context.execute(request) as? NSPersistentHistoryResult)?.result
                    as? [NSPersistentHistoryTransaction] ?? []
            }
            var isNews = false
            for transaction in transactions where take(transaction) { isNews = true }
            if isNews { post() }
        } catch {
            // Transactions were deleted before they were read, or the store cannot be read: everything may have
            // changed.
            let now = Self.positions(coordinator)
            state.withLock { $0.positions.merge(now) { max($0, $1) } }
            deliver(SavedModels(inserted: [], updated: [], deleted: [], isUnknown: true))
            post()
        }
    }

    private func post() {
        guard let container = state.withLock({ $0.container }) else { return }
        NotificationCenter.default.post(name: ModelContainer.remoteChange, object: container)
    }

    /// Gives a transaction of another process to the contexts; returns whether it is one.
    private func take(_ transaction: NSPersistentHistoryTransaction) -> Bool {
        let (store, number) = (transaction.storeID, transaction.transactionNumber)
        let isOwn = state.withLock { state in
            state.positions[store] = max(state.positions[store] ?? 0, number)
            defer { Self.advance(&state, store) }
            return state.own[store]?.remove(number) != nil
        }
        if isOwn { return false }
        let info = transaction.objectIDNotification().userInfo ?? [:]
        func ids(_ key: String) -> [NSManagedObjectID] { Array(info[key] as? Set<NSManagedObjectID> ?? []) }
        deliver(
            SavedModels(
                inserted: ids(NSInsertedObjectIDsKey), updated: ids(NSUpdatedObjectIDsKey),
                deleted: ids(NSDeletedObjectIDsKey)))
        return true
    }

    private func deliver(_ saved: SavedModels) { SiblingMailbox.deliver(saved, toContextsOf: coordinator) }
}
