import Dispatch
import Foundation

/// Computes passwords: a bounded number at once, and a bounded number that wait.
///
/// ```
/// compute ──▶ free slot? ──▶ running ──▶ done: the slot passes to the first that waits
///                 │ no
///                 ▼
///             room to wait? ──no──▶ AccountError.busy
/// ```
actor PasswordComputer {
    private let slots: Int
    private let places: Int
    private var running = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private let queue = DispatchQueue(label: "CoreDataAccounts.passwords", attributes: .concurrent)
    /// How many computations have begun.
    private(set) var computations = 0

    init(slots: Int, places: Int) {
        self.slots = max(1, slots)
        self.places = max(0, places)
    }

    /// Runs the computation on a thread of its own when a slot is free.
    ///
    /// - Throws: ``AccountError/busy(retryAfter:)`` if too many wait; the error of the computation.
    func compute<T: Sendable>(
        _ computation: @escaping @Sendable () throws(AccountError) -> T
    ) async throws(AccountError) -> T {
        try await begin()
        computations += 1
        defer { end() }
        let result: Result<T, AccountError> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { () throws(AccountError) in try computation() }) }
        }
        return try result.get()
    }

    private func begin() async throws(AccountError) {
        if running < slots {
            running += 1
            return
        }
        guard waiting.count < places else { throw AccountError.busy(retryAfter: 1 + places / (2 * slots)) }
        // The computation that ends passes its slot on, so `running` stays.
        await withCheckedContinuation { waiting.append($0) }
    }

    private func end() {
        if waiting.isEmpty { running -= 1 } else { waiting.removeFirst().resume() }
    }
}
