import CoreDataStore
import Foundation

/// A reader of a store's history, identified by a name.
///
/// Differs from Apple: Apple's framework has no counterpart, so a program that purges a history there must guess who
/// has read it.
public struct HistoryConsumer: Hashable, Sendable {
    /// The name under which it registered.
    public let name: String
    /// The UUID of the store.
    public let storeID: String
    /// Everything up to the transaction of that number has been read.
    public let transactionNumber: Int64
    /// When that was noted.
    public let lastRead: Date

    /// The position as a token, to go on from.
    public var token: NSPersistentHistoryToken { NSPersistentHistoryToken([storeID: transactionNumber]) }
}

/// The result of a purge of histories.
public struct HistoryPurge: Sendable {
    /// How many transactions the purge deleted.
    public var deletedTransactions = 0
    /// The readers that had not read all purged transactions, because a limit was given; their next request throws
    /// 134301.
    public var cutOff: [HistoryConsumer] = []
}

extension NSPersistentStoreCoordinator {
    /// Records that the reader of that name has read everything up to the token: the history after it is kept until
    /// that changes. `nil` means that nothing has been read yet, and all of the history is kept.
    ///
    ///     let token = try coordinator.historyToken(ofConsumer: "search index")
    ///     for transaction in try transactions(after: token) { … }
    ///     try coordinator.noteHistoryRead(upTo: last.token, byConsumer: "search index")
    ///     try coordinator.purgeHistory()
    ///
    /// A position never moves back. It is kept in the metadata of each store that the token names; of all stores for
    /// `nil`.
    public final func noteHistoryRead(upTo token: NSPersistentHistoryToken?, byConsumer name: String) throws {
        try eachHistory { store, history in
            let extent = try history.historyExtent()
            if let token {
                guard let position = token.positions[store.identifier] else { return }
                guard position <= extent.last else { throw CoreDataErrors.expiredToken(store.store) }
                try history.noteHistoryReader(name, position: position)
            } else {
                try history.noteHistoryReader(name, position: (extent.first ?? extent.last + 1) - 1)
            }
        }
    }

    /// Returns the position up to which the reader of that name has read; `nil` if there is no such reader.
    public final func historyToken(ofConsumer name: String) throws -> NSPersistentHistoryToken? {
        let own = try historyConsumers().filter { $0.name == name }
        guard !own.isEmpty else { return nil }
        return NSPersistentHistoryToken(
            Dictionary(own.map { ($0.storeID, $0.transactionNumber) }, uniquingKeysWith: { $1 }))
    }

    /// Returns all readers of the stores' histories, by store and name.
    public final func historyConsumers() throws -> [HistoryConsumer] {
        var consumers: [HistoryConsumer] = []
        try eachHistory { store, history in
            consumers += try history.historyReaders().map { HistoryConsumer($0, store) }
        }
        return consumers
    }

    /// Forgets a reader: transactions that it has not read need not be kept for it.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public final func removeHistoryConsumer(_ name: String) throws -> Bool {
        var isFound = false
        try eachHistory { _, history in isFound = try history.removeHistoryReader(name) || isFound }
        return isFound
    }

    /// Deletes the transactions that every reader has read; without readers, none.
    ///
    /// Transactions older than `age` seconds, or more than `count` transactions back, are deleted in any case: the
    /// result names the readers that had not read them.
    ///
    ///     let purge = try coordinator.purgeHistory(olderThan: 30 * 86_400)
    ///     for consumer in purge.cutOff { log("\(consumer.name) must begin anew") }
    ///     // DELETE FROM ACHANGE WHERE ZTRANSACTIONID < ?; DELETE FROM ATRANSACTION WHERE Z_PK < ?
    @discardableResult
    public final func purgeHistory(
        olderThan age: TimeInterval? = nil, keepingAtMost count: Int? = nil
    ) throws -> HistoryPurge {
        var purge = HistoryPurge()
        try eachHistory { store, history in
            if store.isReadOnly { throw CoreDataErrors.readOnly(store.store) }
            let outcome = try history.purgeHistory(
                olderThan: age.map { store.target.clock.now - $0 }, keepingAtMost: count)
            purge.deletedTransactions += outcome.deletedTransactions
            purge.cutOff += outcome.cutOff.map { HistoryConsumer($0, store) }
        }
        return purge
    }

    private func eachHistory(_ body: (AttachedStore, any HistorySource) throws -> Void) throws {
        try CoreDataErrors.converting {
            for (store, history) in try HistoryTranslation(coordinator: self).stores(nil) { try body(store, history) }
        }
    }
}

extension HistoryConsumer {
    fileprivate init(_ reader: HistoryReader, _ store: AttachedStore) {
        self.init(
            name: reader.name, storeID: store.identifier, transactionNumber: reader.position,
            lastRead: Date(timeIntervalSinceReferenceDate: reader.time))
    }
}
