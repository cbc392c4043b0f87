import CoreData
import CoreDataPermissions
import Foundation

/// The served store, as accounts see and change it.
struct HubServedStore: Sendable {
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let rules: AccessRules

    /// Returns a new context through which an account sees and changes what it may, and nothing else.
    func makeContext(_ access: HubAccess) throws -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let rules = rules
        try context.performAndWait {
            context.name = "hub"
            context.transactionAuthor = access.account.uuidString
            context.undoManager = nil
            context.mergePolicy = NSErrorMergePolicy
            context.stalenessInterval = 0
            try context.restrict(
                to: rules,
                as: Accessor(
                    account: access.account, groups: access.groups, isAdministrator: access.isAdministrator))
        }
        return context
    }

    /// The position in the history.
    var history: NSPersistentHistoryToken? { coordinator.currentPersistentHistoryToken(fromStores: [store]) }

    /// Whether a transaction with that note was committed.
    func hasNote(_ key: String) throws -> Bool { try coordinator.transactionNote(forKey: key) != nil }

    /// Reads when values were last saved.
    ///
    /// - Parameter date: the time after which the history is read; `nil` for all of it.
    func times(after date: Date?) -> HubTimes {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context.performAndWait {
            // Clocks of several processes differ a little.
            let start = date.map { $0.addingTimeInterval(-60) } ?? .distantPast
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: start)
            request.resultType = .transactionsAndChanges
            let result = try? context.execute(request) as? NSPersistentHistoryResult
            var times = HubTimes()
            for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
                for change in transaction.changes ?? [] {
                    let names = change.changeType == .insert ? nil : change.updatedProperties?.map(\.name)
                    times.note(change.changedObjectID, names, transaction.timestamp)
                }
            }
            return times
        }
    }
}

/// When values of objects were last saved, as far as the history tells.
struct HubTimes {
    private var inserted: [NSManagedObjectID: Date] = [:]
    private var updated: [NSManagedObjectID: [String: Date]] = [:]

    /// - Parameter properties: `nil` for a new object.
    mutating func note(_ object: NSManagedObjectID, _ properties: [String]?, _ time: Date) {
        guard let properties else {
            inserted[object] = max(inserted[object] ?? time, time)
            return
        }
        for name in properties {
            let known = updated[object]?[name]
            updated[object, default: [:]][name] = max(known ?? time, time)
        }
    }

    func time(of object: NSManagedObjectID, _ property: String) -> Date {
        max(updated[object]?[property] ?? .distantPast, inserted[object] ?? .distantPast)
    }
}
