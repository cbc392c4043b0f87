import CoreDataStore
import Foundation

/// Somebody who reads the history of a store by and by, known by a name.
///
/// Differs from Apple: there is nothing of the kind there, so purging a history there is a guess at who has read what.
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

/// What a purge of histories did.
public struct HistoryPurge: Sendable {
    /// How many transactions the purge deleted.
    public var deletedTransactions = 0
    /// Those who had not read all that is gone, because a cap was given; their next request throws 134301.
    public var cutOff: [HistoryConsumer] = []
}

extension NSPersistentStoreCoordinator {
    /// Notes that everything up to the token has been read under that name: the history after it is kept until that
    /// changes. With `nil` nothing has been read yet, and all that is there is kept.
    ///
    ///     let token = try coordinator.historyToken(ofConsumer: "search index")
    ///     for transaction in try transactions(after: token) { … }
    ///     try coordinator.noteHistoryRead(upTo: last.token, byConsumer: "search index")
    ///     try coordinator.purgeHistory()
    ///
    /// A position never goes back. It is kept in the metadata of each store that the token names, of all for `nil`.
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

    /// Up to where the history has been read under that name; `nil` where nobody has it.
    public final func historyToken(ofConsumer name: String) throws -> NSPersistentHistoryToken? {
        let own = try historyConsumers().filter { $0.name == name }
        guard !own.isEmpty else { return nil }
        return NSPersistentHistoryToken(
            Dictionary(own.map { ($0.storeID, $0.transactionNumber) }, uniquingKeysWith: { $1 }))
    }

    /// Everybody who reads the histories of the stores, by store and name.
    public final func historyConsumers() throws -> [HistoryConsumer] {
        var consumers: [HistoryConsumer] = []
        try eachHistory { store, history in
            consumers += try history.historyReaders().map { HistoryConsumer($0, store) }
        }
        return consumers
    }

    /// Forgets a consumer: what he has not read need not be kept for him.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public final func removeHistoryConsumer(_ name: String) throws -> Bool {
        var isFound = false
        try eachHistory { _, history in isFound = try history.removeHistoryReader(name) || isFound }
        return isFound
    }

    /// Deletes the transactions that every consumer has read; without consumers, none.
    ///
    /// What is older than `age` seconds, or more than `count` transactions back, goes whoever has read it: the result names
    /// those whom that cut off.
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
