import CoreData
import Foundation
import Synchronization

/// Merges saves of import contexts, and of other processes and coordinators, into the parent and the view context of a
/// stack.
///
/// It works on a private queue: first it merges into the parent, then into the view context, which reads through the
/// parent.
final class StackMerging: @unchecked Sendable {
    // Safe because `state` guards the mutable state, and contexts are thread-safe.

    private struct State {
        var observers: [any NSObjectProtocol] = []
        /// The position up to which the history was merged.
        var token: NSPersistentHistoryToken?
        /// Transactions of this stack, which its contexts already have.
        var own: Set<NSPersistentHistoryToken> = []
    }

    private let coordinator: NSPersistentStoreCoordinator
    private let parent: NSManagedObjectContext
    private let view: NSManagedObjectContext
    private let queue = DispatchQueue(label: "CoreDataStack.merging")
    /// Guards the observers and the position in the history.
    private let state = Mutex(State())

    init(_ coordinator: NSPersistentStoreCoordinator, parent: NSManagedObjectContext, view: NSManagedObjectContext) {
        self.coordinator = coordinator
        self.parent = parent
        self.view = view
    }

    deinit { end() }

    /// Starts at the store's current history position.
    func begin() {
        let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
        let saves = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil, queue: nil
        ) { [weak self] in self?.noteSave($0) }
        let remote = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { [weak self] _ in self?.later { $0.mergeHistory() } }
        let observers = TransferBox([saves, remote])
        state.withLock { state in
            state.observers = observers.value
            state.token = token
            state.own = []
        }
    }

    func end() {
        let observers = state.withLock { state in
            defer { state.observers = [] }
            return TransferBox(state.observers)
        }
        for observer in observers.value { NotificationCenter.default.removeObserver(observer) }
    }

    /// Returns after all existing changes were merged.
    func finish() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.mergeHistory()
                continuation.resume()
            }
        }
        // Wait for earlier merges of the view context on its own queue.
        await view.perform(schedule: .enqueued) {}
    }

    private func later(_ body: @escaping @Sendable (StackMerging) -> Void) {
        queue.async { [weak self] in if let self { body(self) } }
    }

    /// Called on the queue of the context that saved.
    private func noteSave(_ notification: Notification) {
        guard let context = notification.object as? NSManagedObjectContext, context.parent == nil,
            context.persistentStoreCoordinator === coordinator
        else { return }
        if let token = notification.userInfo?["newChangeToken"] as? NSPersistentHistoryToken {
            state.withLock { _ = $0.own.insert(token) }
        }
        // The view context merges its parent's saves by itself.
        guard context !== parent else { return }
        let changes = TransferBox(Self.changes(notification))
        later { $0.merge(changes.value) }
    }

    private static func changes(_ notification: Notification) -> [AnyHashable: Any] {
        let keys = [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey]
        var changes: [AnyHashable: Any] = [:]
        for key in keys { changes[key] = notification.userInfo?[key] }
        return changes
    }

    private func merge(_ changes: [AnyHashable: Any]) {
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [parent, view])
    }

    /// Merges the new transactions of the history.
    private func mergeHistory() {
        let (begun, token, own) = state.withLock { (!$0.observers.isEmpty, $0.token, $0.own) }
        guard begun else { return }
        // There is no token without a history, or if it could not be read.
        guard let token else { return beginAnew() }
        let fetched = parent.performAndWait { () -> Result<[NSPersistentHistoryTransaction], any Error> in
            Result {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                let result = try parent.execute(request) as? NSPersistentHistoryResult
                return result?.result as? [NSPersistentHistoryTransaction] ?? []
            }
        }
        switch fetched {
        case .success(let transactions):
            for transaction in transactions {
                let isOwn = state.withLock { state in
                    state.token = transaction.token
                    return state.own.remove(transaction.token) != nil
                }
                if !isOwn { merge(transaction.objectIDNotification().userInfo ?? [:]) }
            }
            // Older recorded tokens were either read now, or their transactions precede the recording.
            state.withLock { $0.own.subtract(own) }
        case .failure:
            // A part of the history was purged before it was read, or reading failed temporarily.
            beginAnew()
        }
    }

    /// Refreshes all objects, and follows the history from its current position; if reading fails, retries the next
    /// time.
    private func beginAnew() {
        let current = coordinator.currentPersistentHistoryToken(fromStores: nil)
        let isLost = state.withLock { state in
            defer {
                state.token = current
                state.own = []
            }
            return state.token != nil || current != nil
        }
        if isLost { merge([NSInvalidatedAllObjectsKey: true]) }
    }
}
