import Foundation
import Synchronization

// Blocks on the coordinator's queue.
extension NSPersistentStoreCoordinator {
    /// Runs the block on the coordinator's queue, waits for it and returns its result.
    @discardableResult
    public final func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try runAndWait(block) }

    final func runAndWait<T>(_ block: () throws -> T) rethrows -> T {
        // Waiting for the queue inside one of its own blocks would stop the program.
        if owner.load(ordering: .relaxed) == Self.thread { return try block() }
        return try queue.sync { try owning(block) }
    }

    /// Runs the block, which the queue has begun, with its thread as the owner of the queue.
    final func owning<T>(_ block: () throws -> T) rethrows -> T {
        owner.store(Self.thread, ordering: .relaxed)
        defer { owner.store(0, ordering: .relaxed) }
        return try block()
    }

    /// The calling thread.
    private static var thread: UInt { UInt(bitPattern: Unmanaged.passUnretained(Thread.current).toOpaque()) }

    /// Runs the block on the coordinator's queue and returns its result.
    @preconcurrency
    public final func perform<T>(
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping @Sendable () throws -> T
    ) async rethrows -> T {
        try await queue.result(of: block, within: { body in self.owning(body) }, rescue: { throw $0 })
    }
}
