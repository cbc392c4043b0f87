import Dispatch
import Foundation
import Synchronization

/// Work that blocks, away from the threads of tasks. It ends early, between two of its steps, when its task is cancelled.
enum BackgroundWork {
    /// Whether the task that waits for the work was cancelled.
    final class Cancellation: Sendable {
        private struct State {
            var isCancelled = false
            var action: (@Sendable () -> Void)?
        }

        /// Guards the flag and what is to be done once it is set.
        private let state = Mutex(State())

        /// - Throws: `CancellationError` once the task was cancelled.
        func check() throws {
            if state.withLock(\.isCancelled) { throw CancellationError() }
        }

        /// Has the action done when the task is cancelled, at once where it is.
        func whenCancelled(_ action: @escaping @Sendable () -> Void) {
            let isCancelled = state.withLock { state in
                state.action = action
                return state.isCancelled
            }
            if isCancelled { action() }
        }

        fileprivate func cancel() {
            let action = state.withLock { state in
                state.isCancelled = true
                return state.action
            }
            action?()
        }
    }

    static func run<T>(_ body: @escaping @Sendable (Cancellation) throws -> T) async throws -> T {
        let cancellation = Cancellation()
        let result: Passed<Result<T, any Error>> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global(qos: .userInitiated).async {
                    continuation.resume(returning: Passed(Result { try body(cancellation) }))
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.value.get()
    }
}

/// A value that is handed from one thread to another, which the first then leaves alone.
struct Passed<Value>: @unchecked Sendable {
    // Safe because whoever passes a value no longer uses it.
    let value: Value

    init(_ value: Value) { self.value = value }
}
