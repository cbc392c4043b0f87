import CoreData
import Foundation

// What other processes save: the store tells that something was written, its history tells what.
extension Groceries {
    /// Begins to merge what others save into the view context.
    func followOthers() {
        historyToken = container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
        remoteObserver = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: container.persistentStoreCoordinator, queue: nil
        ) { [weak self] _ in
            Task { @MainActor in self?.mergeHistory() }
        }
    }

    /// Merges every transaction that is not this process's own.
    func mergeHistory() {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: historyToken)
        do {
            let result = try view.execute(request) as? NSPersistentHistoryResult
            for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
                historyToken = transaction.token
                guard transaction.author != author else { continue }
                view.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
            }
        } catch {
            // The history has been purged beyond what was merged: everything is read anew.
            historyToken = container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
            view.refreshAllObjects()
        }
    }
}
