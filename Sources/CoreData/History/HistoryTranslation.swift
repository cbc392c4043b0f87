import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// The crossing from history requests to the engine's histories, and back: records become transactions and changes.
struct HistoryTranslation {
    let coordinator: NSPersistentStoreCoordinator
    /// Restricts which changes are read.
    var restriction: (any ContextRestriction)?

    // MARK: Executing

    func execute(_ request: NSPersistentHistoryChangeRequest) throws -> NSPersistentHistoryResult {
        let stores = try stores(request.affectedStores)
        switch request.action {
        case .fetchAfterDate(let date):
            return try fetch(request, stores) { _, _ in (0, date.timeIntervalSinceReferenceDate) }
        case .fetchAfterToken(let token):
            try checkToken(token, stores)
            return try fetch(request, stores) { store, history in
                guard let position = token?.positions[store.identifier] else { return (0, nil) }
                guard try history.historyExtent().hasEverything(after: position) else {
                    throw CoreDataErrors.expiredToken(store.store)
                }
                return (position, nil)
            }
        case .deleteBeforeDate(let date):
            return try delete(request, stores) { _, history in
                try history.firstHistoryTransaction(since: date.timeIntervalSinceReferenceDate)
            }
        case .deleteBeforeToken(let token):
            try checkToken(token, stores)
            return try delete(request, stores) { store, _ in token?.positions[store.identifier] }
        }
    }

    /// Throws 134301 for a token that names none of the stores: it is of others, which were perhaps made anew since.
    private func checkToken(
        _ token: NSPersistentHistoryToken?, _ stores: [(AttachedStore, any HistorySource)]
    ) throws {
        guard let token, !token.positions.isEmpty, let first = stores.first,
            !stores.contains(where: { token.positions[$0.0.identifier] != nil })
        else { return }
        throw CoreDataErrors.expiredToken(first.0.store)
    }

    /// Returns the stores of the request that keep a history.
    func stores(_ affected: [NSPersistentStore]?) throws -> [(AttachedStore, any HistorySource)] {
        let asked = coordinator.attachedStores.filter { store in
            affected.map { stores in stores.isEmpty || stores.contains { $0 === store.store } } ?? true
        }
        let found = try asked.compactMap { store -> (AttachedStore, any HistorySource)? in
            guard let history = store.target.history, try history.hasHistory() else { return nil }
            return (store, history)
        }
        guard found.isEmpty else { return found }
        throw CoreDataErrors.make(
            NSPersistentStoreUnsupportedRequestTypeError,
            asked.isEmpty
                ? "The history request is for no store of this coordinator."
                : "None of the stores keeps a history (\(asked.map { $0.store.shownName }.joined(separator: ", "))): add them with NSPersistentHistoryTrackingKey.",
            [NSAffectedStoresErrorKey: asked.map(\.store)])
    }

    private func delete(
        _ request: NSPersistentHistoryChangeRequest, _ stores: [(AttachedStore, any HistorySource)],
        before bound: (AttachedStore, any HistorySource) throws -> Int64?
    ) throws -> NSPersistentHistoryResult {
        try restriction.checkPurging()
        var count = 0
        for (store, history) in stores {
            if store.isReadOnly { throw CoreDataErrors.readOnly(store.store) }
            if let number = try bound(store, history) { count += try history.deleteHistory(before: number) }
        }
        return request.resultType == .count
            ? NSPersistentHistoryResult(count, .count) : NSPersistentHistoryResult(true, .statusOnly)
    }

    private func fetch(
        _ request: NSPersistentHistoryChangeRequest, _ stores: [(AttachedStore, any HistorySource)],
        after bound: (AttachedStore, any HistorySource) throws -> (Int64, Double?)
    ) throws -> NSPersistentHistoryResult {
        let selection = try HistorySelection(request.fetchRequest)
        var transactions: [NSPersistentHistoryTransaction] = []
        for (store, history) in stores {
            let (number, time) = try bound(store, history)
            let found = try self.transactions(
                of: store, history, after: number, time, selection, readsChanges: request.resultType.readsChanges)
            transactions += found
        }
        if stores.count > 1 {
            transactions.sort { ($0.timestamp, $0.transactionNumber) < ($1.timestamp, $1.transactionNumber) }
        }
        return try selection.result(of: transactions, request.resultType)
    }

    // MARK: Reading

    /// Returns the selected transactions, with their changes if the selection or the caller needs them.
    func transactions(
        of store: AttachedStore, _ history: any HistorySource, after number: Int64, _ time: Double? = nil,
        _ selection: HistorySelection = .everything, readsChanges: Bool = true
    ) throws -> [NSPersistentHistoryTransaction] {
        let records = try history.historyTransactions(after: number, time: time)
        let selection = selection.inStore(store.identifier)
        var transactions = records.map { self.transaction($0, of: store, changes: nil) }
        if !selection.asksForChanges { transactions = try transactions.filter(selection.includes) }
        guard readsChanges || selection.asksForChanges || restriction != nil, let first = transactions.first,
            let last = transactions.last
        else { return transactions }
        var changes: [Int64: [NSPersistentHistoryChange]] = [:]
        let found = try history.historyChanges(in: first.transactionNumber...last.transactionNumber)
        for record in try restriction.readable(found, in: store.target) {
            changes[record.transaction, default: []].append(change(record, of: store))
        }
        if restriction != nil { transactions.removeAll { changes[$0.transactionNumber] == nil } }
        guard readsChanges || selection.asksForChanges else { return transactions }
        transactions = transactions.map { $0.with(changes[$0.transactionNumber] ?? []) }
        guard selection.asksForChanges else { return transactions }
        return try transactions.compactMap(selection.selected)
    }

    private func transaction(
        _ record: HistoryTransactionRecord, of store: AttachedStore, changes: [NSPersistentHistoryChange]?
    ) -> NSPersistentHistoryTransaction {
        NSPersistentHistoryTransaction(
            transactionNumber: record.number, timestamp: Date(timeIntervalSinceReferenceDate: record.time),
            storeID: store.identifier, bundleID: record.origin.bundleIdentifier ?? "",
            processID: record.origin.processName ?? "", contextName: record.origin.contextName,
            author: record.origin.author, changes: changes)
    }

    private func change(_ record: HistoryChangeRecord, of store: AttachedStore) -> NSPersistentHistoryChange {
        let runtime = coordinator.runtime.entities[record.key.entity]
        var properties: Set<NSPropertyDescription>?
        if record.kind == .update {
            let byName = runtime.entity.propertiesByName
            properties = Set(record.changedSlots.compactMap { byName[runtime.slots[runtime.slots[$0].modelSlot].name] })
        }
        return NSPersistentHistoryChange(
            changeID: record.identifier,
            changedObjectID: NSManagedObjectID(runtime: runtime, primaryKey: record.key.primaryKey, store: store),
            changeType: NSPersistentHistoryChangeType(record.kind), tombstone: tombstone(record, runtime),
            updatedProperties: properties)
    }

    private func tombstone(_ record: HistoryChangeRecord, _ runtime: EntityRuntime) -> [AnyHashable: Any]? {
        guard let row = record.tombstone else { return nil }
        var values: [String: Any] = [:]
        for slot in record.tombstoneSlots {
            let info = runtime.slots[slot]
            guard info.column >= 0 else { continue }
            values[info.name] = value(ManagedObjectValues.decode(row, column: info.column, kind: info.kind), info)
        }
        return CompositeValues.nested(values, in: runtime)
    }

    private func value(_ value: Value, _ slot: EntityRuntime.Slot) -> Any? {
        var value = value
        // A transformed value must be transformed back.
        if case .data(let data) = value, slot.kind.isOpaque {
            value = Transformation.value(from: data, attribute: slot)
        }
        return ManagedObjectValues.any(value, slot: slot)
    }
}

extension NSPersistentHistoryResultType {
    fileprivate var readsChanges: Bool {
        switch self {
        case .objectIDs, .changesOnly, .transactionsAndChanges: true
        case .statusOnly, .count, .transactionsOnly: false
        }
    }
}

extension NSPersistentHistoryChangeType {
    init(_ kind: HistoryKind) {
        switch kind {
        case .insertion: self = .insert
        case .update: self = .update
        case .deletion: self = .delete
        }
    }
}
