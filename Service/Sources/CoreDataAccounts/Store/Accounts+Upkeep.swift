import CoreData
import Foundation

extension Accounts {
    /// Removes sessions, links, invitations and tries that have ended, and the oldest events beyond the bounds.
    ///
    /// Operations call it now and then; a service may also call it, for example each night. Ended rows have no effect
    /// before they are removed. It runs one statement for each kind of row, and two for events.
    public func removeEnded() async throws(AccountError) {
        let settings = settings
        try await store.write(at: clock()) { transaction in
            let now = transaction.now
            for entity in ["Attempt", "Link", "Invitation", "Token", "Session"] {
                try transaction.deleteAll(entity, "endsAt <= %@", now)
            }
            try transaction.deleteAll("Event", "date <= %@", now.addingTimeInterval(-settings.eventLifetime))
            for isRefusal in [true, false] {
                try transaction.deleteEvents(isRefusal: isRefusal, beyond: settings.eventBound)
            }
        }
    }
}

extension AccountTransaction {
    /// Deletes rows in the store with one statement.
    func deleteAll(_ entity: String, _ format: String, _ arguments: Any...) throws {
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: entity)
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        _ = try context.execute(NSBatchDeleteRequest(fetchRequest: request))
    }

    /// Deletes the oldest events of a class beyond the bound.
    fileprivate func deleteEvents(isRefusal: Bool, beyond bound: Int) throws {
        let request = request("Event", "isRefusal == %@", [NSNumber(value: isRefusal)], as: StoredEvent.self)
        request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
        request.fetchOffset = max(0, bound)
        request.fetchLimit = 1
        guard let date = try context.fetch(request).first?.date else { return }
        try deleteAll("Event", "isRefusal == %@ AND date <= %@", NSNumber(value: isRefusal), date)
    }
}
