import Foundation

extension NSPersistentStoreCoordinator {
    /// Implements the open method of the class.
    final func executeRequest(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        let result = try context.execute(request)
        return (result as? ExecutedFetchResult)?.objects ?? result
    }
}

extension NSManagedObjectContext {
    /// Implements the open method of the class.
    @discardableResult
    final func executeRequest(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        checkOwned("execute(_:)")
        switch request {
        case let request as NSPersistentHistoryChangeRequest:
            let history = HistoryTranslation(coordinator: try coordinatorForRequest(), restriction: restriction)
            return try CoreDataErrors.converting { try history.execute(request) }
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
        case let request as any StandaloneRequest: return try request.result(for: try coordinatorForRequest())
        default:
            throw CoreDataErrors.make(
                NSPersistentStoreUnsupportedRequestTypeError,
                "A context executes fetch, batch and history requests, no \(Swift.type(of: request)).")
        }
    }
}
