import CoreData
import CoreDataSyncEngine
import Foundation

/// The transaction that a capture read last: its number and its time.
///
/// A store that was restored from a backup counts on from the backup. Soon it has a transaction of that number again,
/// but with another time.
struct HistoryMark: Hashable, Sendable, Codable {
    var number: Int64
    var time: Date

    /// The name under which settings keep the mark.
    static let extra = "transaction"

    init(number: Int64, time: Date) { (self.number, self.time) = (number, time) }

    init?(_ settings: SidecarSettings) {
        guard let data = settings.extras[Self.extra], let mark = try? JSONDecoder().decode(Self.self, from: data)
        else { return nil }
        self = mark
    }

    static func remove(from settings: inout SidecarSettings) { settings.extras[extra] = nil }

    func write(to settings: inout SidecarSettings) { settings.extras[Self.extra] = try? JSONEncoder().encode(self) }
}

extension Capture {
    /// The mark of a transaction; `nil` if the history does not have it any more.
    func mark(of number: Int64) throws -> HistoryMark? {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(
                after: NSPersistentHistoryToken([store.identifier: number - 1]))
            request.affectedStores = [store]
            request.resultType = .transactionsOnly
            let selection = NSPersistentHistoryTransaction.fetchRequest
            selection?.predicate = NSPredicate(format: "transactionNumber == %lld", number)
            request.fetchRequest = selection
            do {
                let result = try context.execute(request) as? NSPersistentHistoryResult
                let found = (result?.result as? [NSPersistentHistoryTransaction])?.first {
                    $0.transactionNumber == number
                }
                return found.map { HistoryMark(number: number, time: $0.timestamp) }
            } catch let error as CocoaError where error.code.rawValue == NSPersistentHistoryTokenExpiredError {
                return nil
            }
        }
    }

    /// The position after which a restored store has transactions that were saved later than those of the mark: edits
    /// that were not captured.
    func positionBeforeEdits(after mark: HistoryMark) throws -> Int64? {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: mark.time)
            request.affectedStores = [store]
            request.resultType = .transactionsOnly
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let found = result?.result as? [NSPersistentHistoryTransaction] ?? []
            return found.lazy.filter { $0.timestamp > mark.time }.map(\.transactionNumber).min().map { $0 - 1 }
        }
    }

    /// Whether the history goes on from what the last capture read.
    func isSameHistory(_ settings: SidecarSettings, at position: Int64) throws -> Bool {
        guard let known = HistoryMark(settings), known.number == position, let found = try mark(of: position) else {
            return true
        }
        return found == known
    }
}
