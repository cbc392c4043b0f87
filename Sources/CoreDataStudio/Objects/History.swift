import CoreData
import CoreDataToolkit
import Foundation

/// A change of an object in the store's history.
struct HistoryLine: Sendable {
    var time: String
    var transaction: Int64
    var kind: String
    var who: String
    var object: ObjectLink?
    var properties: [String]

    func html(withObject: Bool) -> HTML {
        let object: HTML = withObject ? "<td>\(self.object.map(\.chip))" : ""
        return """
            <tr><td><time datetime="\(time)">\(time.replacing("T", with: " ").replacing("Z", with: ""))</time>\
            <td>\(kind)\(object)<td>\(who)<td>\(properties.joined(separator: ", "))

            """
    }
}

extension StoreBrowser {
    /// Returns the last recorded changes of an object, the newest first; `nil` if the store records none.
    func history(of id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> [HistoryLine]? {
        guard recordsHistory, let changes = NSPersistentHistoryChange.fetchRequest else { return nil }
        changes.predicate = NSPredicate(format: "changedObjectID == %@", argumentArray: [id])
        let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: changes)
        request.resultType = .changesOnly
        let result = (try context.execute(request) as? NSPersistentHistoryResult)?.result
        let found = (result as? [NSPersistentHistoryChange]) ?? []
        return found.suffix(100).reversed().map { Self.line($0, in: nil) }
    }

    /// Returns the changes of the last transactions, the newest first.
    func history(transactions limit: Int, in context: NSManagedObjectContext) throws -> [HistoryLine]? {
        guard recordsHistory else { return nil }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let result = (try context.execute(request) as? NSPersistentHistoryResult)?.result
        let found = (result as? [NSPersistentHistoryTransaction]) ?? []
        return found.suffix(limit).reversed().flatMap { transaction in
            (transaction.changes ?? []).prefix(200).map { Self.line($0, in: transaction) }
        }
    }

    private static func line(
        _ change: NSPersistentHistoryChange, in transaction: NSPersistentHistoryTransaction?
    ) -> HistoryLine {
        let transaction = transaction ?? change.transaction
        let kind =
            switch change.changeType {
            case .insert: "inserted"
            case .update: "updated"
            case .delete: "deleted"
            }
        let uri = change.changedObjectID.uriRepresentation().absoluteString
        let object = ObjectReference(uri).map { ObjectLink(entity: $0.entity, key: $0.key) }
        return HistoryLine(
            time: transaction.map { time($0.timestamp) } ?? "", transaction: transaction?.transactionNumber ?? 0,
            kind: kind,
            who: [transaction?.author, transaction?.contextName, transaction?.processID].compactMap { $0 }
                .filter { !$0.isEmpty }.joined(separator: " · "), object: object,
            properties: (change.updatedProperties ?? []).map(\.name).sorted())
    }

    /// Returns a time in whole seconds.
    private static func time(_ date: Date) -> String {
        DateText.text(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down)))
    }
}
