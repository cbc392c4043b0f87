import Foundation

/// The one place where the driver has the time from: for deadlines, for pauses, and for how long statements take.
struct PostgreSQLClock: Sendable {
    /// The time, which never goes back.
    var now: @Sendable () -> ContinuousClock.Instant
    /// Blocks the calling thread.
    var sleep: @Sendable (Duration) -> Void

    /// The clock of the system.
    static let system = PostgreSQLClock(now: { .now }, sleep: { Thread.sleep(forTimeInterval: $0.seconds) })

    func deadline(in duration: Duration) -> ContinuousClock.Instant { now() + duration }

    /// Waits for the condition, which is locked, until it is signalled or the deadline has come; to be called until what the caller waits for
    /// is so.
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
    /// As a number of seconds.
    var seconds: TimeInterval { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
