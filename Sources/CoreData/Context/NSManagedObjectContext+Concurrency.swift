import Foundation

extension NSManagedObjectContext {
    /// When the asynchronous `perform` runs its block.
    public enum ScheduledTaskType: Sendable {
        /// At once where the caller is on the context's queue already, else as soon as it is free.
        case immediate
        /// After all blocks that wait.
        case enqueued
    }

    /// Runs the block on the context's queue, later; changes are processed after it (Q2).
    @preconcurrency
    public nonisolated final func perform(_ block: @escaping @Sendable () -> Void) {
        dispatchQueue.async {
            Confinement.with(self) {
                block()
                self.processPendingChanges()
            }
        }
    }

    /// Runs the block on the context's queue and waits for it; at once where the caller is on it already (Q2).
    ///
    ///     let count = try context.performAndWait { try context.count(for: request) }
    public nonisolated final func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        if isOwnedByCurrentThread || concurrencyType == .confinementConcurrencyType {
            return try Confinement.with(self, block)
        }
        return try dispatchQueue.sync { try Confinement.with(self, block) }
    }

    /// Runs the block on the context's queue and returns its result; changes are processed after it (Q3).
    ///
    /// Cancelling the task does not stop the block.
    @preconcurrency
    public nonisolated final func perform<T, E: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () throws(E) -> T
    ) async throws(E) -> T {
        if schedule == .immediate, Confinement.isOwned(self) { return try block() }
        let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<Outcome<T, E>, Never>) in
            dispatchQueue.async {
                let outcome = Confinement.with(self) {
                    let outcome = Outcome { () throws(E) -> T in try block() }
                    self.processPendingChanges()
                    return outcome
                }
                continuation.resume(returning: outcome)
            }
        }
        return try outcome.result.get()
    }

    /// A result on its way from the context's queue to the caller, which alone has it from then on.
    private struct Outcome<T, E: Error>: @unchecked Sendable {
        // Safe because the block's queue lets go of the value before the caller gets it.
        let result: Result<T, E>

        init(_ body: () throws(E) -> T) {
            do throws(E) { result = .success(try body()) } catch { result = .failure(error) }
        }
    }

    private nonisolated final var dispatchQueue: DispatchQueue {
        switch concurrencyType {
        case .mainQueueConcurrencyType: return .main
        case .privateQueueConcurrencyType: return queue ?? .main
        case .confinementConcurrencyType:
            preconditionFailure(
                "A context of the confinement type has no queue; make it with .privateQueueConcurrencyType.")
        }
    }

    /// Whether the calling thread may use the context now.
    nonisolated final var isOwnedByCurrentThread: Bool {
        switch concurrencyType {
        case .confinementConcurrencyType: true
        case .mainQueueConcurrencyType: Confinement.isOwned(self) || Confinement.isMain
        case .privateQueueConcurrencyType: Confinement.isOwned(self)
        }
    }

    /// Stops the program when the context is used off its queue.
    final func checkOwned(_ operation: String) {
        #if DEBUG
            let checks = true
        #else
            let checks = Confinement.isCheckedInRelease
        #endif
        if checks, !isOwnedByCurrentThread { Confinement.stop(operation + " was called", context: self) }
    }
}
