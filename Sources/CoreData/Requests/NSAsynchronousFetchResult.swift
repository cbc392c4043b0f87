import Foundation

/// The future result of an asynchronous request.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
    /// The context that works on it.
    public final let managedObjectContext: NSManagedObjectContext
    /// Why there is no result; set before the completion block is called.
    public final var operationError: (any Error)?
    /// How far it is; cancelling it cancels the request.
    public final let progress: Progress?

    init(_ context: NSManagedObjectContext, estimatedCount: Int) {
        managedObjectContext = context
        progress = Progress(totalUnitCount: estimatedCount > 0 ? Int64(estimatedCount) : -1)
    }

    /// Creates a placeholder: an empty result.
    public convenience override init() { self.init(NSManagedObjectContext(.privateQueue), estimatedCount: 0) }

    /// Stops the request at the next possible point; completed work stays. May be called on any queue.
    open func cancel() { progress?.cancel() }
}

/// The future result of an ``NSAsynchronousFetchRequest``.
open class NSAsynchronousFetchResult<ResultType: NSFetchRequestResult>: NSPersistentStoreAsynchronousResult {
    /// The request.
    public final let fetchRequest: NSAsynchronousFetchRequest<ResultType>
    /// The objects found; `nil` until the fetch is done, and after an error. Read it on the context's queue.
    public private(set) final var finalResult: [ResultType]?

    init(
        _ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext,
        _ estimatedCount: Int? = nil
    ) {
        fetchRequest = request
        super.init(context, estimatedCount: estimatedCount ?? request.estimatedResultCount)
    }

    /// Fetches, on the context's queue.
    func run(_ request: NSFetchRequest<ResultType>) {
        let context = managedObjectContext
        let outer = context.rowReading.fetchProgress
        context.rowReading.fetchProgress = progress
        defer { context.rowReading.fetchProgress = outer }
        do {
            try progress?.throwIfCancelled()
            let found = try context.stopping(request, progress) { try context.fetch(request) }
            try progress?.throwIfCancelled()
            finalResult = found
            progress?.finish(with: found.count)
        } catch {
            // What stopped in the middle of a statement says so in its own words.
            operationError = progress?.isCancelled == true ? CocoaError(.userCancelled) : error
        }
        fetchRequest.completionBlock?(self)
    }
}

extension Progress {
    /// - Throws: `CocoaError.userCancelled` once it is cancelled.
    func throwIfCancelled() throws {
        if isCancelled { throw CocoaError(.userCancelled) }
    }

    /// Completes the progress. A result without objects counts as one unit, since 0 of 0 does not complete it.
    fileprivate func finish(with count: Int) {
        totalUnitCount = Int64(max(1, count))
        completedUnitCount = totalUnitCount
        ProgressWatches.shared.look()
    }

    /// Notes that rows were read.
    func advance(by rows: Int) throws {
        try throwIfCancelled()
        completedUnitCount += Int64(rows)
        ProgressWatches.shared.look()
    }
}

extension NSManagedObjectContext {
    /// Runs `body`, whose statements stop after the progress is cancelled.
    fileprivate func stopping<R>(
        _ request: AnyFetchRequest, _ progress: Progress?, _ body: () throws -> R
    ) throws -> R {
        guard let progress, let coordinator, let name = request.entityName,
            let entity = coordinator.runtime.entity(named: name)
        else { return try body() }
        let shared = Transfer(progress)
        let isStopped: @Sendable () -> Bool = { shared.value.isCancelled }
        func run(_ stores: ArraySlice<AttachedStore>) throws -> R {
            guard let store = stores.first else { return try body() }
            return try store.source.stopping(when: isStopped) { try run(stores.dropFirst()) }
        }
        return try run(try readStores(for: entity, affected: request.affectedStores)[...])
    }
}
