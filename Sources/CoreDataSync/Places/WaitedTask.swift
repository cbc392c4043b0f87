import Foundation

/// Asynchronous work for which a thread waits until it ends.
package enum WaitedTask {
    /// Runs the work on a thread of its own, and returns its result.
    package static func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let outcome = WaitedOutcome<Value>()
        Task.detached(executorPreference: OwnThread()) {
            do { outcome.end(.success(try await work())) } catch { outcome.end(.failure(error)) }
        }
        return try outcome.wait()
    }
}

/// Where a task runs for which a thread waits: of those that tasks share there may be no other.
private final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "CoreDataSync.WaitedTask")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// What a task ended with, for a thread that waits for it.
private final class WaitedOutcome<Value: Sendable>: @unchecked Sendable {
    // Safe because the result is set before the semaphore is signalled, and read after.

    private let semaphore = DispatchSemaphore(value: 0)
    private var result: Result<Value, any Error>?

    func end(_ result: Result<Value, any Error>) {
        self.result = result
        semaphore.signal()
    }

    func wait() throws -> Value {
        semaphore.wait()
        guard let result else { throw CancellationError() }
        return try result.get()
    }
}
