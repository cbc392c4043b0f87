import CoreData
import Foundation

/// Has contexts take over what other contexts and the other process saved, while they are edited.
final class StressMerging: @unchecked Sendable {
    // Safe because what is not guarded is set once, or used on the queue.

    private let coordinator: NSPersistentStoreCoordinator
    /// Those with the coordinator for a parent.
    private let roots: [NSManagedObjectContext]
    /// Transactions of others are merged here, one after the other.
    private let queue = DispatchQueue(label: "merging")
    private var tokens: [any NSObjectProtocol] = []
    private var position: NSPersistentHistoryToken?
    private var failure: (any Error)?

    init(_ stack: StressStack, _ contexts: [NSManagedObjectContext]) {
        coordinator = stack.coordinator
        roots = contexts.filter { $0.parent == nil }
        position = coordinator.currentPersistentHistoryToken(fromStores: nil)
        let center = NotificationCenter.default
        // Those that do not merge by themselves.
        for context in roots where !context.automaticallyMergesChangesFromParent {
            let token = center.addObserver(forName: .NSManagedObjectContextDidSave, object: nil, queue: nil) {
                [weak context] notification in
                guard let context, let saving = notification.object as? NSManagedObjectContext, saving !== context,
                    saving.parent == nil, saving.persistentStoreCoordinator === context.persistentStoreCoordinator
                else { return }
                nonisolated(unsafe) let saved = notification
                context.perform { context.mergeChanges(fromContextDidSave: saved) }
            }
            tokens.append(token)
        }
        let token = center.addObserver(forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil) {
            [weak self] _ in
            guard let self else { return }
            self.queue.async { self.mergeHistory() }
        }
        tokens.append(token)
    }

    /// Merges what is later than what was merged, by whomever.
    private func mergeHistory() {
        guard failure == nil else { return }
        do {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: position)
            let transactions = try context.performAndWait {
                (try context.execute(request) as? NSPersistentHistoryResult)?.result
                    as? [NSPersistentHistoryTransaction] ?? []
            }
            for transaction in transactions {
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: transaction.objectIDNotification().userInfo ?? [:], into: roots)
            }
            if let last = transactions.last { position = last.token }
        } catch { failure = error }
    }

    func end() throws {
        tokens.forEach(NotificationCenter.default.removeObserver)
        tokens = []
        queue.sync {}
        if let failure { throw StressFailure("history could not be merged: \(failure)") }
    }
}
