import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Which transactions or changes a history request wants, in what order and how many.
struct HistorySelection {
    private enum Target {
        case transactions
        case changes
    }

    private let target: Target
    private let predicate: PredicateNode?
    private var evaluator: PredicateEvaluator?
    private let sorts: [NSSortDescriptor]
    private let limit: Int
    private let offset: Int
    /// Whether the selection depends on changes, so that these must be read.
    let asksForChanges: Bool

    static var everything: HistorySelection { HistorySelection() }

    private init() {
        (target, predicate, evaluator, sorts, limit, offset, asksForChanges) = (
            .transactions, nil, nil, [], 0, 0, false
        )
    }

    /// - Throws: an error if the request is of another entity.
    init(_ request: AnyFetchRequest?) throws {
        guard let request else {
            self = .everything
            return
        }
        switch request.entityName {
        case HistoryModel.transaction.name: target = .transactions
        case HistoryModel.change.name: target = .changes
        default:
            throw CoreDataErrors.invalidRequest(
                "A history request selects by NSPersistentHistoryTransaction.fetchRequest or "
                    + "NSPersistentHistoryChange.fetchRequest, not by entity '\(request.entityName ?? "")'.")
        }
        predicate = request.predicate?.node
        evaluator = predicate.map { PredicateEvaluator($0) }
        sorts = request.sortDescriptors ?? []
        limit = max(0, request.fetchLimit)
        offset = max(0, request.fetchOffset)
        switch target {
        case .changes: asksForChanges = true
        case .transactions:
            // A block may ask for anything.
            let format = predicate?.predicateFormat ?? ""
            asksForChanges =
                format.contains("changes") || format.contains("BLOCKPREDICATE")
                || sorts.contains { $0.key?.contains("changes") ?? false }
        }
    }

    /// Returns the selection with the tokens of that store, which are numbers.
    func inStore(_ identifier: String) -> HistorySelection {
        guard let predicate else { return self }
        var selection = self
        selection.evaluator = PredicateEvaluator(
            predicate.mapExpressions { expression in
                guard case .constant(.object(let object)) = expression, let token = object as? NSPersistentHistoryToken
                else { return expression }
                return .constant(.value(token.positions[identifier].map { .integer($0) } ?? .null))
            })
        return selection
    }

    func includes(_ transaction: NSPersistentHistoryTransaction) throws -> Bool {
        guard let evaluator else { return true }
        return try evaluator.evaluate(.object(transaction))
    }

    /// Returns the transaction with the selected changes; `nil` if nothing of it is selected.
    func selected(_ transaction: NSPersistentHistoryTransaction) throws -> NSPersistentHistoryTransaction? {
        guard case .changes = target else { return try includes(transaction) ? transaction : nil }
        let changes = transaction.changes ?? []
        guard let evaluator else { return changes.isEmpty ? nil : transaction }
        let wanted = try changes.filter { try evaluator.evaluate(.object($0)) }
        if wanted.isEmpty { return nil }
        return wanted.count == changes.count ? transaction : transaction.with(wanted)
    }

    // MARK: Results

    /// Returns the request's result, after sorting and limiting.
    func result(
        of found: [NSPersistentHistoryTransaction], _ type: NSPersistentHistoryResultType
    ) throws -> NSPersistentHistoryResult {
        var transactions = found
        if case .transactions = target { transactions = window(of: found) }
        lazy var changes: [NSPersistentHistoryChange] = {
            let all = transactions.flatMap { transaction in
                (transaction.changes ?? []).map { change in
                    change.heldTransaction = transaction.with(nil)
                    return change
                }
            }
            if case .changes = target { return window(of: all) }
            return all
        }()
        let result: Any
        switch type {
        case .statusOnly: result = true
        case .objectIDs:
            var seen: Set<NSManagedObjectID> = []
            result = changes.map(\.changedObjectID).filter { seen.insert($0).inserted }
        case .count:
            if case .changes = target { result = changes.count } else { result = transactions.count }
        case .changesOnly: result = changes
        case .transactionsOnly: result = transactions.map { $0.changes == nil ? $0 : $0.with(nil) }
        case .transactionsAndChanges:
            if case .changes = target, limit > 0 || offset > 0 {
                let kept = Set(changes.map { ObjectIdentifier($0) })
                result = transactions.compactMap { transaction -> NSPersistentHistoryTransaction? in
                    let own = (transaction.changes ?? []).filter { kept.contains(ObjectIdentifier($0)) }
                    return own.isEmpty ? nil : transaction.with(own)
                }
            } else {
                result = transactions
            }
        }
        return NSPersistentHistoryResult(result, type)
    }

    private func window<Element: NSObject>(of all: [Element]) -> [Element] {
        all.window(sortedBy: sorts, offset: offset, limit: limit)
    }
}
