import Foundation

/// Called when an asynchronous fetch is done, on the context's queue.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock = (
    NSAsynchronousFetchResult<any NSFetchRequestResult>
) -> Void

/// An asynchronous fetch request without its result type.
open class AnyAsynchronousFetchRequest: NSPersistentStoreRequest {
    /// The expected number of objects, for the progress; 0 if it is unknown.
    open var estimatedResultCount = 0

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// Begins, and returns what will have the result.
    func begin(in context: NSManagedObjectContext) -> NSPersistentStoreAsynchronousResult {
        preconditionFailure("\(type(of: self)) cannot be executed; use NSAsynchronousFetchRequest.")
    }
}

/// A fetch that runs on the context's queue while its caller continues. It reports its progress and can be cancelled.
///
///     let request = NSAsynchronousFetchRequest(fetchRequest: books) { result in
///         print(result.finalResult?.count ?? 0)                   // on the context's queue
///     }
///     let result = try context.execute(request) as? NSAsynchronousFetchResult<Book>
///     result?.cancel()
///
/// The context needs a queue. Rows are counted as they are read, a few hundred at a time. At these points a cancelled
/// fetch stops, with `CocoaError.userCancelled`.
open class NSAsynchronousFetchRequest<ResultType: NSFetchRequestResult>: AnyAsynchronousFetchRequest {
    /// The fetch request.
    public final let fetchRequest: NSFetchRequest<ResultType>
    /// Called when it is done, on the context's queue.
    public final let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?

    /// A request that fetches what another asks for, and calls the block with it.
    public init(
        fetchRequest request: NSFetchRequest<ResultType>,
        completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        fetchRequest = request
        completionBlock = blk
    }

    /// Makes a request of no entity, which cannot be executed.
    public convenience override init() { self.init(fetchRequest: NSFetchRequest<ResultType>()) }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSAsynchronousFetchRequest(fetchRequest: fetchRequest, completionBlock: completionBlock)
        copy.estimatedResultCount = estimatedResultCount
        copy.affectedStores = affectedStores
        return copy
    }

    override func begin(in context: NSManagedObjectContext) -> NSPersistentStoreAsynchronousResult {
        let result = NSAsynchronousFetchResult(self, context)
        let request = NSFetchRequest<ResultType>(fetchRequest)
        if let affectedStores { request.affectedStores = affectedStores }
        let work = Transfer((result, request))
        context.perform {
            let (result, request) = work.value
            result.run(request)
        }
        return result
    }

    /// Fetches on the context's queue; when the task is cancelled, so is the fetch.
    ///
    ///     let books = try await NSAsynchronousFetchRequest(fetchRequest: request).results(in: context)
    ///
    /// The objects belong to the context's queue. Apple's framework has no such method.
    public final func results(in context: NSManagedObjectContext) async throws -> sending [ResultType] {
        let request = NSFetchRequest<ResultType>(fetchRequest)
        if let affectedStores { request.affectedStores = affectedStores }
        let result = NSAsynchronousFetchResult(
            NSAsynchronousFetchRequest(fetchRequest: request), context, estimatedResultCount)
        let work = Transfer((result, request))
        return try await withTaskCancellationHandler {
            let found: Transfer<[ResultType]> = try await context.perform {
                let (result, request) = work.value
                result.run(request)
                if let error = result.operationError { throw error }
                return Transfer(result.finalResult ?? [])
            }
            return found.value
        } onCancel: {
            work.value.0.cancel()
        }
    }
}
