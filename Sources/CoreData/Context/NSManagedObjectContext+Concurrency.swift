import Foundation

extension NSManagedObjectContext {
    /// When the asynchronous `perform` runs its block.
    public enum ScheduledTaskType: Sendable {
        /// At once where the caller is on the context's queue already, else as soon as it is free.
        case immediate
        /// After all blocks that wait.
        case enqueued
    }

    /// What ``perform(_:)`` does.
    nonisolated final func enqueue(_ block: @escaping @Sendable () -> Void) {
        dispatchQueue.async {
            Confinement.with(self) {
                block()
                self.processPendingChanges()
                self.endUndoEvent()
            }
        }
    }

    /// What ``performAndWait(_:)`` does.
    nonisolated final func runAndWait<T>(_ block: () throws -> T) rethrows -> T {
        if isOwnedByCurrentThread || concurrencyType == .confinementConcurrencyType {
            return try Confinement.with(self, block)
        }
        return try dispatchQueue.sync { try Confinement.with(self, block) }
    }

    /// Runs the block on the context's queue, waits for it and returns its result; at once where the caller is on it
    /// already.
    ///
    ///     let count = try context.performAndWait { try context.count(for: request) }
    ///     let name = context.performAndWait { item.name }
    @discardableResult
    public nonisolated final func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        // A subclass may have its own way to run blocks.
        if type(of: self) == NSManagedObjectContext.self { return try runAndWait(block) }
        return try runAndWait(block, rescue: { throw $0 })
    }

    /// Goes through ``performAndWait(_:)``, which is overridden perhaps; `rescue` throws what the block threw.
    private nonisolated final func runAndWait<T>(
        _ block: () throws -> T, rescue: (any Error) throws -> T
    ) rethrows -> T {
        var result: Result<T, any Error>?
        performAndWait { () -> Void in result = Result { try block() } }
        switch result {
        case .success(let value): return value
        case .failure(let error): return try rescue(error)
        case nil: preconditionFailure("\(type(of: self)).performAndWait(_:) did not run its block.")
        }
    }

    /// Runs the block on the context's queue and returns its result; changes are processed after it.
    ///
    ///     let count = try await context.perform { try context.count(for: request) }
    ///
    /// Cancelling the task does not stop the block.
    @preconcurrency
    public nonisolated final func perform<T>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () throws -> T
    ) async rethrows -> T {
        if schedule == .immediate, Confinement.isOwned(self) { return try block() }
        return try await run(block, rescue: { throw $0 })
    }

    /// `rescue` throws what the block threw, which `rethrows` allows only a parameter to do.
    private nonisolated final func run<T>(
        _ block: @escaping @Sendable () throws -> T, rescue: (any Error) throws -> T
    ) async rethrows -> T {
        let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<Outcome<T>, Never>) in
            dispatchQueue.async {
                let outcome = Confinement.with(self) {
                    let outcome = Outcome(result: Result { try block() })
                    self.processPendingChanges()
                    self.endUndoEvent()
                    return outcome
                }
                continuation.resume(returning: outcome)
            }
        }
        switch outcome.result {
        case .success(let value): return value
        case .failure(let error): return try rescue(error)
        }
    }

    /// A result on its way from the context's queue to the caller, which alone has it from then on.
    private struct Outcome<T>: @unchecked Sendable {
        // Safe because the block's queue lets go of the value before the caller gets it.
        let result: Result<T, any Error>
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

    /// Stops the program when the context is used off its queue, or logs it; see ``Confinement``.
    final func checkOwned(_ operation: String) {
        #if DEBUG
            let checks = true
        #else
            let checks = Confinement.stopsProgram
        #endif
        if checks, !isOwnedByCurrentThread { Confinement.report(operation + " was called", context: self) }
    }
}
