import CoreData
import Foundation

/// The history of a container's stores, as transactions of this module.
struct StoreHistory {
    let coordinator: NSPersistentStoreCoordinator
    let modelTypes: [String: any PersistentModel.Type]
    /// The stores that are asked; `nil` for all.
    var stores: [NSPersistentStore]?

    /// The transactions that a descriptor asks for.
    ///
    /// - Throws: ``SwiftDataError/historyTokenExpired`` where transactions after the predicate's token were deleted.
    func transactions(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        var found = try selected(by: descriptor.predicate, after: HistoryBound(descriptor.predicate))
        if !descriptor.sortBy.isEmpty { found.sort(using: descriptor.sortBy) }
        return descriptor.fetchLimit > 0 ? Array(found.prefix(Int(clamping: descriptor.fetchLimit))) : found
    }

    /// Deletes the transactions that a descriptor asks for.
    func delete(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        var found = try selected(by: descriptor.predicate, after: .none)
        if descriptor.fetchLimit > 0 {
            if !descriptor.sortBy.isEmpty { found.sort(using: descriptor.sortBy) }
            found = Array(found.prefix(Int(clamping: descriptor.fetchLimit)))
        }
        guard !found.isEmpty else { return }
        let numbers = Dictionary(grouping: found, by: \.storeIdentifier).mapValues { $0.map(\.transactionIdentifier) }
        try described { try coordinator.deleteHistory(transactions: numbers) }
    }

    /// Returns the current ends of the histories.
    func currentToken() -> DefaultHistoryToken {
        let asked = askedStores
        if asked.isEmpty { return DefaultHistoryToken([:]) }
        return DefaultHistoryToken(coordinator.currentPersistentHistoryToken(fromStores: asked)?.positions ?? [:])
    }

    // MARK: Reading

    private func selected(
        by predicate: Predicate<DefaultHistoryTransaction>?, after bound: HistoryBound
    ) throws -> [DefaultHistoryTransaction] {
        let request: NSPersistentHistoryChangeRequest =
            switch bound {
            case .none: .fetchHistory(after: nil as NSPersistentHistoryToken?)
            case .token(let positions): .fetchHistory(after: NSPersistentHistoryToken(positions))
            case .date(let date): .fetchHistory(after: date)
            }
        let found = try execute(request).map { transaction($0) }
        guard let predicate else { return found }
        do { return try found.filter { try predicate.evaluate($0.candidate) } } catch {
            throw SwiftDataError(
                .invalidTransactionFetchRequest,
                "The predicate of a history descriptor cannot be evaluated for a transaction.", underlying: error)
        }
    }

    private var askedStores: [NSPersistentStore] {
        (stores ?? coordinator.persistentStores).filter { !($0 is DataStoreBridge) }
    }

    private func execute(_ request: NSPersistentHistoryChangeRequest) throws -> [NSPersistentHistoryTransaction] {
        let asked = askedStores
        // A container without such a store has no history.
        if asked.isEmpty { return [] }
        request.affectedStores = asked
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try described {
            let result = try context.performAndWait { try context.execute(request) }
            return (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
        }
    }

    private func described<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as CocoaError
            where error.code.rawValue == NSPersistentHistoryTokenExpiredError
        {
            throw SwiftDataError(
                .historyTokenExpired,
                "Transactions after the token were deleted, or the token is of another store. Read the models anew, and "
                    + "go on from the last transaction of fetchHistory(_:) without a token.",
                underlying: error)
        }
    }

    // MARK: Transactions

    private func transaction(_ transaction: NSPersistentHistoryTransaction) -> DefaultHistoryTransaction {
        DefaultHistoryTransaction(
            timestamp: transaction.timestamp,
            changes: (transaction.changes ?? []).compactMap { change($0, of: transaction) },
            token: DefaultHistoryToken([transaction.storeID: transaction.transactionNumber]),
            transactionIdentifier: transaction.transactionNumber, storeIdentifier: transaction.storeID,
            bundleIdentifier: transaction.bundleID, processIdentifier: transaction.processID,
            author: transaction.author)
    }

    /// The change; `nil` of an entity that has no class any more.
    private func change(
        _ change: NSPersistentHistoryChange, of transaction: NSPersistentHistoryTransaction
    ) -> HistoryChange? {
        guard let type = modelTypes[change.changedObjectID.entity.name ?? ""] else { return nil }
        return made(type, change, transaction.transactionNumber)
    }

    private func made<Model: PersistentModel>(
        _ type: Model.Type, _ change: NSPersistentHistoryChange, _ number: Int64
    ) -> HistoryChange {
        let identifier = PersistentIdentifier(change.changedObjectID)
        switch change.changeType {
        case .insert:
            return .insert(
                DefaultHistoryInsert<Model>(
                    changeIdentifier: change.changeID, transactionIdentifier: number,
                    changedPersistentIdentifier: identifier))
        case .update:
            return .update(
                DefaultHistoryUpdate<Model>(
                    changeIdentifier: change.changeID, transactionIdentifier: number,
                    changedPersistentIdentifier: identifier,
                    updatedAttributes: keyPaths(of: Set((change.updatedProperties ?? []).map(\.name)))))
        case .delete:
            return .delete(
                DefaultHistoryDelete<Model>(
                    changeIdentifier: change.changeID, transactionIdentifier: number,
                    changedPersistentIdentifier: identifier, tombstone: tombstone(change.tombstone ?? [:])))
        }
    }

    /// In the order of the class's properties.
    private func keyPaths<Model: PersistentModel>(of names: Set<String>) -> [any PartialKeyPath<Model> & Sendable] {
        ModelLayout.of(Model.self).allProperties.filter { names.contains($0.name) }.map { property in
            // A superclass's key path is one of the class, too. Safe to send because key paths of properties capture
            // nothing.
            unsafeBitCast(property.keyPath, to: (any PartialKeyPath<Model> & Sendable).self)
        }
    }

    private func tombstone<Model: PersistentModel>(_ kept: [AnyHashable: Any]) -> HistoryTombstone<Model> {
        HistoryTombstone(
            ModelLayout.of(Model.self).allProperties.compactMap { property in
                guard let stored = kept[property.name], let value = try? property.attributeForm?.decode(stored) else {
                    return nil
                }
                return (property.name, unwrapped(value))
            })
    }

    /// The value itself, of one that is optional.
    private func unwrapped(_ value: Any) -> Any {
        guard let optional = value as? any OptionalType, let inner = optional.wrapped else { return value }
        return inner
    }
}
