import Foundation

/// Runs blocks on threads of its own, as many as have work.
///
/// A statement that takes seconds keeps its thread. The global queue has as many threads as processors, and timers,
/// other statements and the answers of other requests need them. The number of blocks at once is bounded by the callers:
/// see ``WorkLimiter``.
package final class WorkerThreads: @unchecked Sendable {
    // Safe because the condition guards all variables.
    private let condition = NSCondition()
    private var jobs: [@Sendable () -> Void] = []
    private var idle = 0
    /// The time after which a thread without work ends.
    private let patience: TimeInterval

    /// The threads of all services of the process.
    package static let shared = WorkerThreads()

    package init(patience: TimeInterval = 10) { self.patience = patience }

    /// Runs the block on an idle thread, or on a new one.
    package func run(_ block: @escaping @Sendable () -> Void) {
        condition.lock()
        defer { condition.unlock() }
        jobs.append(block)
        if idle >= jobs.count { return condition.signal() }
        let thread = Thread { [self] in work() }
        thread.name = "service"
        thread.stackSize = 1 << 20
        thread.start()
    }

    private func work() {
        while let job = next() { job() }
    }

    /// Returns the next block; `nil` if none came for some time.
    private func next() -> (@Sendable () -> Void)? {
        condition.lock()
        defer { condition.unlock() }
        let end = Date(timeIntervalSinceNow: patience)
        while jobs.isEmpty {
            idle += 1
            let isInTime = condition.wait(until: end)
            idle -= 1
            if !isInTime, jobs.isEmpty { return nil }
        }
        return jobs.removeFirst()
    }
}
