import CoreDataStore
import Foundation

extension NSPersistentStoreCoordinator {
    /// Where the histories of the stores stand; `nil` where none of them keeps one, or it cannot be read.
    ///
    /// - Parameter stores: `NSPersistentStore`s of this coordinator; all of its stores for `nil` or none.
    public final func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let asked = stores.map { $0.compactMap { $0 as? NSPersistentStore } } ?? []
        let positions = try? HistoryTranslation(coordinator: self).stores(asked).reduce(into: [:]) {
            positions, pair in
            positions[pair.0.identifier] = try pair.1.historyExtent().last
        }
        guard let positions, !positions.isEmpty else { return nil }
        return NSPersistentHistoryToken(positions)
    }

    /// Does what the request says, for a context.
    ///
    /// - Returns: objects, IDs, dictionaries or a number in an array for a fetch request, an ``NSPersistentHistoryResult`` for
    ///   a history request.
    /// - Throws: 134091 for requests of other kinds, which do not exist yet, and what those that do may throw.
    public final func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        let result = try context.execute(request)
        return (result as? ExecutedFetchResult)?.objects ?? result
    }
}

extension NSManagedObjectContext {
    /// Does what the request says.
    ///
    ///     let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
    ///     let result = try context.execute(request) as? NSPersistentHistoryResult
    ///
    /// - Returns: an ``NSPersistentHistoryResult`` for a history request, an ``ExecutedFetchResult`` for a fetch request, an
    ///   ``NSAsynchronousFetchResult`` at once for an asynchronous one, and an ``NSBatchInsertResult``, ``NSBatchUpdateResult``
    ///   or ``NSBatchDeleteResult`` for a batch request.
    /// - Throws: 134091 for requests of other kinds, and for batch requests where a store is no SQL store; what those may throw.
    @discardableResult
    public final func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
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
