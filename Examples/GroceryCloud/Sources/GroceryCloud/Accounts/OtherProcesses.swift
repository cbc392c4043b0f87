import CoreData
import Foundation
import Synchronization

/// Tells of transactions that other processes have written to the store. It reads which transactions there are, and no object.
final class OtherProcesses: Sendable {
    private struct State {
        /// How far the history was read.
        var token: NSPersistentHistoryToken?
        /// Transactions of this process, which its contexts merge by themselves.
        var own: Set<NSPersistentHistoryToken> = []
    }

    private let coordinator: NSPersistentStoreCoordinator
    private let queue = DispatchQueue(label: "GroceryCloud.history")
    /// Guards the position in the history.
    private let state: Mutex<State>
    private let onChange: @Sendable () -> Void

    /// - Parameter onChange: called, on any thread, after another process has written.
    init(_ store: CloudStore, _ onChange: @escaping @Sendable () -> Void) {
        coordinator = store.coordinator
        self.onChange = onChange
        state = Mutex(State(token: store.coordinator.currentPersistentHistoryToken(fromStores: nil)))
    }

    /// Notes that this process has saved.
    func noteSave(_ notification: Notification) {
        guard let context = notification.object as? NSManagedObjectContext,
            context.persistentStoreCoordinator === coordinator,
            let token = notification.userInfo?["newChangeToken"] as? NSPersistentHistoryToken
        else { return }
        state.withLock { _ = $0.own.insert(token) }
    }

    /// Reads the new transactions, on another thread.
    func noteRemoteChange() { queue.async { [weak self] in self?.read() } }

    private func read() {
        let after = state.withLock { $0.token }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let tokens = context.performAndWait { () -> [NSPersistentHistoryToken]? in
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: after)
            request.resultType = .transactionsOnly
            let result = try? context.execute(request) as? NSPersistentHistoryResult
            return (result?.result as? [NSPersistentHistoryTransaction])?.map(\.token)
        }
        let isOther = state.withLock { state in
            guard let tokens else {
                // A part of the history was purged before it was read.
                state.token = coordinator.currentPersistentHistoryToken(fromStores: nil)
                return true
            }
            state.token = tokens.last ?? state.token
            let others = tokens.filter { state.own.remove($0) == nil }
            return !others.isEmpty
        }
        if isOther { onChange() }
    }
}
