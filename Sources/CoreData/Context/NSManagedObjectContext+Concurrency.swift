import Foundation

extension NSManagedObjectContext {
    /// When the asynchronous `perform` runs its block.
    public enum ScheduledTaskType: Sendable {
        /// Runs immediately if the caller is already on the context's queue, else as soon as the queue is free.
        case immediate
        /// After all blocks that wait.
        case enqueued
    }

    /// What ``perform(_:)`` does.
    nonisolated final func enqueue(_ block: @escaping @Sendable () -> Void) {
        let work: @Sendable () -> Void = {
            Confinement.with(self) {
                block()
                self.endEvent()
            }
        }
        if concurrencyType == .mainQueueConcurrencyType { return MainQueueWork.shared.async(work) }
        dispatchQueue.async(execute: work)
    }

    /// What ``performAndWait(_:)`` does.
    nonisolated final func runAndWait<T>(_ block: () throws -> T) rethrows -> T {
        if isOwnedByCurrentThread || concurrencyType == .confinementConcurrencyType {
            return try Confinement.with(self, block)
        }
        return try dispatchQueue.sync { try Confinement.with(self, block) }
    }

    /// Runs the block on the context's queue, waits for it and returns its result. If the caller is already on the
    /// queue, the block runs immediately.
    ///
    ///     let count = try context.performAndWait { try context.count(for: request) }
    ///     let name = context.performAndWait { item.name }
    @discardableResult
    public nonisolated final func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        // A subclass may have its own way to run blocks.
        if type(of: self) == NSManagedObjectContext.self { return try runAndWait(block) }
        return try runAndWait(block, rescue: { throw $0 })
    }

    /// Calls ``performAndWait(_:)``, which a subclass may override; `rescue` throws the block's error.
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

    /// Runs the block on the context's queue and returns its result. Changes are processed after it.
    ///
    ///     let count = try await context.perform { try context.count(for: request) }
    ///
    /// If the caller is already on the context's queue, for example an actor that runs there, the block runs
    /// immediately unless the schedule is `.enqueued`. Cancelling the task does not stop the block.
    @preconcurrency
    public final func perform<T>(
        isolation: isolated (any Actor)? = #isolation, schedule: ScheduledTaskType = .immediate,
        _ block: @escaping @Sendable () throws -> T
    ) async rethrows -> T {
        if schedule == .immediate, Confinement.isOwned(self) { return try block() }
        return try await dispatchQueue.result(
            of: block,
            within: { body in
                Confinement.with(self) {
                    body()
                    self.endEvent()
                }
            }, rescue: { throw $0 })
    }

    /// Names the context in messages.
    nonisolated final var contextName: String {
        name.map { "'\($0)'" } ?? "\(Unmanaged.passUnretained(self).toOpaque())"
    }

    /// Ends the event of a block, or of a turn of an actor.
    nonisolated final func endEvent() {
        processPendingChanges()
        endUndoEvent()
        turns.didEnd?()
    }

    nonisolated final var dispatchQueue: DispatchQueue {
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
        case .privateQueueConcurrencyType: Confinement.isOwned(self) || isUnbound
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
