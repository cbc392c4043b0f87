import Dispatch
import Foundation
import Synchronization

/// Runs blocking work outside the threads of tasks. If its task is cancelled, the work stops between two of its steps.
enum BackgroundWork {
    /// The cancellation state of the task that waits for the work.
    final class Cancellation: Sendable {
        private struct State {
            var isCancelled = false
            var action: (@Sendable () -> Void)?
        }

        /// Guards the flag and the action for a cancellation.
        private let state = Mutex(State())

        /// - Throws: `CancellationError` if the task was cancelled.
        func check() throws {
            if state.withLock(\.isCancelled) { throw CancellationError() }
        }

        /// Runs the action when the task is cancelled; at once if it is cancelled already.
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
        let result: TransferBox<Result<T, any Error>> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global(qos: .userInitiated).async {
                    continuation.resume(returning: TransferBox(Result { try body(cancellation) }))
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.value.get()
    }
}

/// A value that one thread passes to another and does not use afterwards.
struct TransferBox<Value>: @unchecked Sendable {
    // Safe because the sender no longer uses the value.
    let value: Value

    init(_ value: Value) { self.value = value }
}
