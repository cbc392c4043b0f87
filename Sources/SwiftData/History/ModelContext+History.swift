import CoreData
import Foundation

extension ModelContext {
    /// Returns the transactions of a descriptor, from the container's stores that keep such a history.
    ///
    ///     var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    ///     descriptor.predicate = #Predicate { $0.token > lastToken }
    ///     let transactions = try context.fetchHistory(descriptor)
    ///     // SELECT … FROM ATRANSACTION WHERE Z_PK > ?; SELECT … FROM ACHANGE WHERE ZTRANSACTIONID BETWEEN ? AND ?
    ///
    /// Cost: two statements for each store; a predicate without a token or a date reads the whole history.
    ///
    /// - Throws: ``SwiftDataError/historyTokenExpired`` if transactions after the predicate's token were deleted,
    ///   ``SwiftDataError/invalidTransactionFetchRequest`` if no store has transactions of the type.
    public func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T] {
        try HistoryProviders(container, T.self).fetch(descriptor)
    }

    /// Deletes the transactions of a descriptor; all of them without a predicate.
    ///
    ///     try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token < token }))
    ///
    /// A later fetch with a token before a deleted transaction throws ``SwiftDataError/historyTokenExpired``.
    public func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws {
        try HistoryProviders(container, T.self).delete(descriptor)
    }
}

/// The stores of a container that have transactions of a type.
struct HistoryProviders<T: HistoryTransaction> {
    private let ownHistory: StoreHistory?
    private let providers: [any HistoryProviding]

    init(_ container: ModelContainer, _ type: T.Type) throws {
        let stores = container.coordinator.persistentStores
        providers = stores.compactMap { store in
            guard let provider = (store as? DataStoreBridge)?.dataStore as? any HistoryProviding,
                Self.isHistory(of: provider)
            else { return nil }
            return provider
        }
        let hasOwnStores = stores.contains { !($0 is DataStoreBridge) }
        ownHistory =
            T.self == DefaultHistoryTransaction.self && hasOwnStores
            ? StoreHistory(coordinator: container.coordinator, modelTypes: container.modelTypes) : nil
        guard ownHistory != nil || !providers.isEmpty else {
            throw SwiftDataError(
                .invalidTransactionFetchRequest,
                "No store of the container keeps a history of '\(T.self)'. Use the historyType of the store.")
        }
    }

    private static func isHistory<P: HistoryProviding>(of provider: P) -> Bool { P.HistoryType.self == T.self }

    func fetch(_ descriptor: HistoryDescriptor<T>) throws -> [T] {
        var found: [T] = []
        if let ownHistory, let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> {
            found += try ownHistory.transactions(descriptor) as? [T] ?? []
        }
        for provider in providers { found += try fetch(descriptor, from: provider) }
        return found
    }

    private func fetch<P: HistoryProviding>(_ descriptor: HistoryDescriptor<T>, from provider: P) throws -> [T] {
        guard let descriptor = descriptor as? HistoryDescriptor<P.HistoryType> else { return [] }
        return try provider.fetchHistory(descriptor) as? [T] ?? []
    }

    func delete(_ descriptor: HistoryDescriptor<T>) throws {
        if let ownHistory, let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> {
            try ownHistory.delete(descriptor)
        }
        for provider in providers { try delete(descriptor, from: provider) }
    }

    private func delete<P: HistoryProviding>(_ descriptor: HistoryDescriptor<T>, from provider: P) throws {
        guard let descriptor = descriptor as? HistoryDescriptor<P.HistoryType> else { return }
        try provider.deleteHistory(descriptor)
    }
}
