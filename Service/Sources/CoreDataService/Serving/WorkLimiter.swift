import Synchronization

/// Bounds how many requests work on the store at once; the others wait in order, and not longer than a limit.
package final class WorkLimiter: Sendable {
    private struct State {
        var free: Int
        var nextID = 0
        /// Those that wait, the first one first.
        var waiting: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    /// Guards the numbers and the queue.
    private let state: Mutex<State>
    private let maximumWaiting: Int
    private let patience: Duration

    package init(count: Int, maximumWaiting: Int, patience: Duration) {
        state = Mutex(State(free: max(1, count)))
        self.maximumWaiting = maximumWaiting
        self.patience = patience
    }

    /// Runs `body` when there is room for it.
    ///
    /// - Throws: ``Problem/busy`` if too many wait, or the wait takes too long; the errors of `body`.
    package func run<R>(_ body: () async throws -> R) async throws -> R {
        try await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async throws {
        let id: Int? = state.withLock { state in
            if state.free > 0 {
                state.free -= 1
                return nil
            }
            state.nextID += 1
            return state.nextID
        }
        guard let id else { return }
        let timer = Task { [self] in
            try await Task.sleep(for: patience)
            giveUp(id)
        }
        defer { timer.cancel() }
        let entered = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    guard state.waiting.count < maximumWaiting else { return false }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            giveUp(id)
        }
        guard entered else { throw Problem.busy }
    }

    private func giveUp(_ id: Int) {
        let continuation = state.withLock { state in
            state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).continuation }
        }
        continuation?.resume(returning: false)
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
