import CoreDataStore
import Foundation

/// The transactions of a coordinator's stores from a token on, including future ones, for which it waits.
///
///     for try await transaction in context.history(after: token) {
///         await context.perform { context.mergeChanges(fromContextDidSave: transaction.objectIDNotification()) }
///         try coordinator.noteHistoryRead(upTo: transaction.token, byConsumer: "list")
///     }
///
/// Transactions of one store come in their order, each once; those of several stores by time, as far as they exist. A
/// save of any context or process wakes it; it does not poll. It ends when the task is cancelled, and with 134301 if
/// its next transaction was purged.
public struct HistorySequence: AsyncSequence, Sendable {
    /// One transaction at a time, oldest first.
    public typealias Element = NSPersistentHistoryTransaction

    let coordinator: NSPersistentStoreCoordinator
    let token: NSPersistentHistoryToken?

    /// Begins at the sequence's token, each time anew.
    public func makeAsyncIterator() -> Iterator { Iterator(HistoryCursor(coordinator, after: token)) }

    /// The position of one reader.
    public struct Iterator: AsyncIteratorProtocol {
        private let cursor: HistoryCursor

        fileprivate init(_ cursor: HistoryCursor) { self.cursor = cursor }

        /// Returns the next transaction, and waits until there is one; `nil` if the task was cancelled.
        public mutating func next() async throws -> NSPersistentHistoryTransaction? { try await cursor.next() }
    }
}

extension NSManagedObjectContext {
    /// Returns the transactions after the token, including future ones; see ``HistorySequence``.
    ///
    /// - Precondition: the context has a coordinator.
    public nonisolated final func history(after token: NSPersistentHistoryToken? = nil) -> HistorySequence {
        guard let coordinator = persistentStoreCoordinator else {
            preconditionFailure("history(after:) needs a context with a persistentStoreCoordinator.")
        }
        return HistorySequence(coordinator: coordinator, token: token)
    }
}

/// The position of one reader of a ``HistorySequence``.
private final class HistoryCursor: @unchecked Sendable {
    // Safe because an iterator is used by one task at a time.

    private let coordinator: NSPersistentStoreCoordinator
    private var positions: [String: Int64]
    private var waiting: ArraySlice<NSPersistentHistoryTransaction> = []
    /// One element for everything that has happened since the last wait.
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private var watches: [any SourceWatch]?

    init(_ coordinator: NSPersistentStoreCoordinator, after token: NSPersistentHistoryToken?) {
        self.coordinator = coordinator
        positions = token?.positions ?? [:]
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    deinit { watches?.forEach { $0.cancel() } }

    func next() async throws -> NSPersistentHistoryTransaction? {
        var wakes = wakes.makeAsyncIterator()
        while true {
            if let transaction = waiting.popFirst() {
                positions[transaction.storeID] = transaction.transactionNumber
                return transaction
            }
            if Task.isCancelled { return nil }
            // Watched before it is read, so that nothing comes between.
            if watches == nil { watches = try watchStores() }
            let token = NSPersistentHistoryToken(positions)
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try CoreDataErrors.converting {
                try HistoryTranslation(coordinator: coordinator).execute(request)
            }
            waiting = (result.result as? [NSPersistentHistoryTransaction] ?? [])[...]
            if waiting.isEmpty, await wakes.next() == nil { return nil }
        }
    }

    private func watchStores() throws -> [any SourceWatch] {
        try CoreDataErrors.converting {
            try HistoryTranslation(coordinator: coordinator).stores(nil).compactMap { store, _ in
                let wake = wake
                return try store.watch { wake.yield() }
            }
        }
    }
}
