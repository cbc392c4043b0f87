import Foundation
import Synchronization

/// Runs requests for callers that cannot wait asynchronously.
///
/// An incremental store must answer before it returns. The requests run on threads of their own, so that a caller on a
/// thread of Swift's cooperative pool does not wait for a task that needs this thread.
enum NetworkWork {
    private final class Executor: TaskExecutor {
        private let queue = DispatchQueue(label: "CoreDataServiceClient.network", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    private final class Outcome<Result: Sendable>: Sendable {
        let value = Mutex<Swift.Result<Result, any Error>?>(nil)
    }

    private static let executor = Executor()

    /// Runs the body and waits for it.
    static func wait<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
        let outcome = Outcome<Result>()
        let done = DispatchSemaphore(value: 0)
        Task(executorPreference: executor) {
            let result: Swift.Result<Result, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            outcome.value.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        guard let result = outcome.value.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }

    /// Runs a body that waits for locks on a thread that may wait.
    static func onThread<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}

/// Lets one task after the other run a body.
actor TaskLine {
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func run<Result: Sendable>(_ body: @Sendable () async throws -> Result) async rethrows -> Result {
        if isBusy { await withCheckedContinuation { waiting.append($0) } }
        isBusy = true
        defer { next() }
        return try await body()
    }

    private func next() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
}

/// Hands a value to another thread that alone uses it then.
struct Passed<Value>: @unchecked Sendable {
    // Safe because the sender does not use the value any more, and objects are used on their context's queue.
    let value: Value

    init(_ value: Value) { self.value = value }
}
