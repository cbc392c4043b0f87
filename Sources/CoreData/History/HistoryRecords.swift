import CoreDataPrimitives
import CoreDataStore
import Foundation

/// A transaction of a store's history, without its changes.
package struct HistoryRecord: Sendable {
    package let number: Int64
    package let time: Date
    package let author: String?
}

/// What a transaction did to an object, without an object for it.
package struct HistoryRecordChange {
    /// The number of the transaction.
    package let transaction: Int64
    package let type: NSPersistentHistoryChangeType
    package let entity: NSEntityDescription
    package let key: Int64
    /// The names of the properties that an update changed.
    package let properties: Set<String>
}

extension NSPersistentStoreCoordinator {
    /// Reads the history of one store: what ``NSPersistentHistoryChangeRequest`` reads, in a fraction of its time.
    ///
    /// - Parameters:
    ///   - number: the last transaction that the caller knows.
    ///   - limit: the most transactions that are read.
    ///   - transactions: called with the transactions before their changes.
    ///   - body: called with each change, the oldest first.
    /// - Returns: the transactions that were read, oldest first, and whether there are more.
    /// - Throws: 134301 if transactions after the number were deleted, 134091 for a store without a history.
    package final func readHistory(
        of store: NSPersistentStore, after number: Int64, limit: Int, _ transactions: ([HistoryRecord]) throws -> Void,
        change body: (HistoryRecordChange) throws -> Void
    ) throws -> (transactions: [HistoryRecord], isPartial: Bool) {
        try CoreDataErrors.converting {
            guard let (attached, history) = try HistoryTranslation(coordinator: self).stores([store]).first else {
                return ([], false)
            }
            guard try history.historyExtent().hasEverything(after: number) else {
                throw CoreDataErrors.expiredToken(attached.store)
            }
            // One more shows whether there are more.
            let limit = min(max(1, limit), Int.max - 1)
            let all = try history.historyTransactions(after: number, time: nil, limit: limit + 1)
            let read = all.prefix(limit)
            guard let first = read.first, let last = read.last else { return ([], false) }
            let records = read.map {
                HistoryRecord(
                    number: $0.number, time: Date(timeIntervalSinceReferenceDate: $0.time), author: $0.origin.author)
            }
            try transactions(records)
            var names = ChangedNames(runtime)
            for change in try history.historyChanges(in: first.number...last.number) {
                let entity = runtime.entities[change.key.entity]
                try body(
                    HistoryRecordChange(
                        transaction: change.transaction, type: NSPersistentHistoryChangeType(change.kind),
                        entity: entity.entity, key: change.key.primaryKey,
                        properties: change.kind == .update ? names.names(change.changedSlots, entity) : []))
            }
            return (records, read.count < all.count)
        }
    }
}

/// The names of changed properties: most updates of an entity change the same few.
private struct ChangedNames {
    private struct Key: Hashable {
        let entity: Int
        let slots: [Int]
    }

    private let runtime: ModelRuntime
    private var known: [Key: Set<String>] = [:]

    init(_ runtime: ModelRuntime) { self.runtime = runtime }

    mutating func names(_ slots: [Int], _ entity: EntityRuntime) -> Set<String> {
        let key = Key(entity: entity.ordinal, slots: slots)
        if let found = known[key] { return found }
        let names = Set(slots.map { entity.slots[entity.slots[$0].modelSlot].name })
        known[key] = names
        return names
    }
}
