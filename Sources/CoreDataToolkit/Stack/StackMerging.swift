import CoreData
import Foundation
import Synchronization

/// Merges what import contexts save, and what other processes and coordinators write, into the standing contexts of a stack.
///
/// On a queue of its own, first into the parent, then into the view, which reads through the parent.
final class StackMerging: @unchecked Sendable {
    // Safe because `state` guards what changes, and contexts guard themselves.

    private struct State {
        var observers: [any NSObjectProtocol] = []
        /// How far the history has been merged.
        var token: NSPersistentHistoryToken?
        /// Transactions of this stack itself, which its contexts have.
        var own: Set<NSPersistentHistoryToken> = []
    }

    private let coordinator: NSPersistentStoreCoordinator
    private let parent: NSManagedObjectContext
    private let view: NSManagedObjectContext
    private let queue = DispatchQueue(label: "CoreDataStack.merging")
    /// Guards the observers, and what of the history has been seen.
    private let state = Mutex(State())

    init(_ coordinator: NSPersistentStoreCoordinator, parent: NSManagedObjectContext, view: NSManagedObjectContext) {
        self.coordinator = coordinator
        self.parent = parent
        self.view = view
    }

    deinit { end() }

    /// Begins at what the store has now.
    func begin() {
        let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
        let saves = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil, queue: nil
        ) { [weak self] in self?.noteSave($0) }
        let remote = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { [weak self] _ in self?.later { $0.mergeHistory() } }
        let observers = Passed([saves, remote])
        state.withLock { state in
            state.observers = observers.value
            state.token = token
            state.own = []
        }
    }

    func end() {
        let observers = state.withLock { state in
            defer { state.observers = [] }
            return Passed(state.observers)
        }
        for observer in observers.value { NotificationCenter.default.removeObserver(observer) }
    }

    /// Returns when everything that is there has been merged.
    func finish() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.mergeHistory()
                continuation.resume()
            }
        }
        // What the view context merges by itself is before this on its queue.
        await view.perform(schedule: .enqueued) {}
    }

    private func later(_ body: @escaping @Sendable (StackMerging) -> Void) {
        queue.async { [weak self] in if let self { body(self) } }
    }

    /// On the queue of whatever context saved.
    private func noteSave(_ notification: Notification) {
        guard let context = notification.object as? NSManagedObjectContext, context.parent == nil,
            context.persistentStoreCoordinator === coordinator
        else { return }
        if let token = notification.userInfo?["newChangeToken"] as? NSPersistentHistoryToken {
            state.withLock { _ = $0.own.insert(token) }
        }
        // The view takes by itself what its parent saves.
        guard context !== parent else { return }
        let changes = Passed(Self.changes(notification))
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

    /// What came to the history since it was last looked at.
    private func mergeHistory() {
        let (begun, token, own) = state.withLock { (!$0.observers.isEmpty, $0.token, $0.own) }
        guard begun else { return }
        // There is none without a history, or where it could not be read.
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
            // What had been noted before is in what was read now, or was before its save was noted.
            state.withLock { $0.own.subtract(own) }
        case .failure:
            // A part of it was purged before it could be read, or nothing can be read just now.
            beginAnew()
        }
    }

    /// Reads everything anew, and follows the history from where it is now; where it cannot be read, the next time.
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
