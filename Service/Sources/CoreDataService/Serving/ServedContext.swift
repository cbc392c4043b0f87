import CoreData
import Foundation
import Synchronization

/// A context of one request, whose blocks run on ``WorkerThreads``.
package final class ServedContext: NSManagedObjectContext, @unchecked Sendable {
    // Safe for the same reasons as its superclass; it adds a constant only.
    private let threads: WorkerThreads

    package init(_ coordinator: NSPersistentStoreCoordinator, threads: WorkerThreads = .shared) {
        self.threads = threads
        super.init(concurrencyType: .privateQueueConcurrencyType)
        persistentStoreCoordinator = coordinator
        undoManager = nil
    }

    package override nonisolated func perform(_ block: @escaping @Sendable () -> Void) {
        // The queue runs the block on the thread that waits for it.
        threads.run { self.performAndWait { () -> Void in block() } }
    }
}

extension NSManagedObjectContext {
    /// Runs the block by ``perform(_:)``, which a subclass may override, and returns its result.
    package nonisolated func result<R: Sendable>(of block: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            perform { continuation.resume(with: Result { try block() }) }
        }
    }

    /// Fetches by ``perform(_:)``; when the task is cancelled, the statement stops.
    nonisolated func found<R: NSFetchRequestResult>(by request: Passed<NSFetchRequest<R>>) async throws -> Passed<[R]> {
        let fetch = CancellableFetch()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request.value) { result in
                    if let error = result.operationError { return continuation.resume(throwing: error) }
                    continuation.resume(returning: Passed(result.finalResult ?? []))
                }
                do {
                    // Returns at once: the queue has nothing else to do.
                    try performAndWait { fetch.begin(try execute(asynchronous)) }
                } catch { continuation.resume(throwing: error) }
            }
        } onCancel: {
            fetch.cancel()
        }
    }
}

/// A fetch that may be cancelled before it has begun.
private final class CancellableFetch: Sendable {
    private struct State {
        var result: Passed<NSPersistentStoreAsynchronousResult>?
        var isCancelled = false
    }

    private let state = Mutex(State())

    func begin(_ result: NSPersistentStoreResult) {
        guard let result = result as? NSPersistentStoreAsynchronousResult else { return }
        let passed = Passed(result)
        let isCancelled = state.withLock { state in
            state.result = passed
            return state.isCancelled
        }
        if isCancelled { result.cancel() }
    }

    func cancel() {
        let result = state.withLock { state in
            state.isCancelled = true
            return state.result
        }
        result?.value.cancel()
    }
}
