import Foundation

/// The driver's only source of time: for timeouts, pauses, and the duration of statements.
struct PostgreSQLClock: Sendable {
    /// The current time, which is monotonic.
    var now: @Sendable () -> ContinuousClock.Instant
    /// Blocks the calling thread.
    var sleep: @Sendable (Duration) -> Void

    /// The clock of the system.
    static let system = PostgreSQLClock(now: { .now }, sleep: { Thread.sleep(forTimeInterval: $0.seconds) })

    func deadline(in duration: Duration) -> ContinuousClock.Instant { now() + duration }

    /// Waits for the condition, whose lock the caller holds, until it is signalled or the deadline passes. Call it in a
    /// loop that checks the caller's condition.
    ///
    /// - Returns: false, at once, if the deadline has passed.
    func wait(for condition: NSCondition, until deadline: ContinuousClock.Instant) -> Bool {
        let rest = now().duration(to: deadline)
        guard rest > .zero else { return false }
        _ = condition.wait(until: Date(timeIntervalSinceNow: rest.seconds))
        return true
    }
}

extension Duration {
    /// The duration in seconds.
    var seconds: TimeInterval { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
