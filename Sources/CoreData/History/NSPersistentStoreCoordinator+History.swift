import CoreDataStore
import Foundation

extension NSPersistentStoreCoordinator {
    /// Deletes transactions, by the identifier of their store; what was deleted before is no error.
    package final func deleteHistory(transactions: [String: [Int64]]) throws {
        try CoreDataErrors.converting {
            for (store, history) in try HistoryTranslation(coordinator: self).stores(nil) {
                guard let numbers = transactions[store.identifier], !numbers.isEmpty else { continue }
                if store.isReadOnly { throw CoreDataErrors.readOnly(store.store) }
                _ = try history.deleteHistory(numbers)
            }
        }
    }

    /// What the open method of the class does.
    final func historyToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let asked = stores.map { $0.compactMap { $0 as? NSPersistentStore } } ?? []
        let positions = try? HistoryTranslation(coordinator: self).stores(asked).reduce(into: [:]) {
            positions, pair in
            positions[pair.0.identifier] = try pair.1.historyExtent().last
        }
        guard let positions, !positions.isEmpty else { return nil }
        return NSPersistentHistoryToken(positions)
    }

    /// What the open method of the class does.
    final func executeRequest(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        let result = try context.execute(request)
        return (result as? ExecutedFetchResult)?.objects ?? result
    }
}

extension NSManagedObjectContext {
    /// What the open method of the class does.
    @discardableResult
    final func executeRequest(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        checkOwned("execute(_:)")
        switch request {
        case let request as NSPersistentHistoryChangeRequest:
            let coordinator = try coordinatorForRequest()
            return try CoreDataErrors.converting { try HistoryTranslation(coordinator: coordinator).execute(request) }
        case let request as AnyFetchRequest:
            return ExecutedFetchResult(try fetch(NSFetchRequest<any NSFetchRequestResult>(request)) as [AnyObject])
        case let request as AnyAsynchronousFetchRequest:
            guard concurrencyType != .confinementConcurrencyType else {
                throw CoreDataErrors.invalidRequest(
                    "NSConfinementConcurrencyType context cannot support asynchronous fetch requests; it has no queue.")
            }
            return request.begin(in: self)
        case let request as NSBatchInsertRequest:
            return try CoreDataErrors.converting { try BatchExecution(self).run(request) }
        case let request as NSBatchUpdateRequest:
            return try CoreDataErrors.converting { try BatchExecution(self).run(request) }
        case let request as NSBatchDeleteRequest:
            return try CoreDataErrors.converting { try BatchExecution(self).run(request) }
        default:
            throw CoreDataErrors.make(
                NSPersistentStoreUnsupportedRequestTypeError,
                "A context executes fetch, batch and history requests, no \(Swift.type(of: request)).")
        }
    }
}
