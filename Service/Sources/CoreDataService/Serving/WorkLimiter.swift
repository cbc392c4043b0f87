import Synchronization

/// Bounds how many requests work on the store at once; the others wait in order, and not longer than a limit.
///
/// One account has a share of the places at most, so that its slow statements leave places to others: a request that
/// waits for the share of its account is overtaken by those of other accounts.
package final class WorkLimiter: Sendable {
    private struct State {
        var free: Int
        let share: Int
        var nextID = 0
        /// The number of requests that work, by account.
        var working: [String: Int] = [:]
        /// Those that wait, the first one first.
        var waiting: [(id: Int, account: String?, continuation: CheckedContinuation<Bool, Never>)] = []

        /// Takes a place, if there is one for the account.
        mutating func take(_ account: String?) -> Bool {
            guard free > 0, account.map({ working[$0, default: 0] < share }) ?? true else { return false }
            free -= 1
            if let account { working[account, default: 0] += 1 }
            return true
        }

        mutating func release(_ account: String?) {
            free += 1
            guard let account, let count = working[account] else { return }
            working[account] = count > 1 ? count - 1 : nil
        }
    }

    /// Guards the numbers and the queue.
    private let state: Mutex<State>
    private let maximumWaiting: Int
    private let patience: Duration

    /// - Parameter share: the number of places that one account may have.
    package init(count: Int, maximumWaiting: Int, patience: Duration, share: Int = .max) {
        state = Mutex(State(free: max(1, count), share: max(1, share)))
        self.maximumWaiting = maximumWaiting
        self.patience = patience
    }

    /// Runs `body` when there is room for it.
    ///
    /// - Parameter account: the account whose share counts; `nil` for none.
    /// - Throws: ``Problem/busy`` if too many wait, or the wait takes too long; the errors of `body`.
    package func run<R>(for account: String? = nil, _ body: () async throws -> R) async throws -> R {
        try await enter(account)
        defer { leave(account) }
        return try await body()
    }

    private func enter(_ account: String?) async throws {
        let id: Int? = state.withLock { state in
            if state.take(account) { return nil }
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
                    if state.take(account) { return true }
                    guard state.waiting.count < maximumWaiting else { return false }
                    state.waiting.append((id, account, continuation))
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

    private func leave(_ account: String?) {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            state.release(account)
            guard let index = state.waiting.indices.first(where: { state.take(state.waiting[$0].account) }) else {
                return nil
            }
            return state.waiting.remove(at: index).continuation
        }
        next?.resume(returning: true)
    }
}
