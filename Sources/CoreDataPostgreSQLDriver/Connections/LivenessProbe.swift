/// Decides whether a listening session is still alive: a state machine without a clock or a server.
///
/// ```
///  listening ── idle for an interval: sendProbe ──▶ probing ── didAnswer ──▶ listening
///                                                      └── limit passed ──▶ the session is lost
/// ```
/// A network may drop a connection without notifying either side; only a probe detects that.
struct LivenessProbe {
    enum Step: Hashable {
        case wait
        case sendProbe
        /// Reads the answer if it has arrived; if so, the caller calls ``didAnswer(at:)``.
        case takeAnswer
    }

    /// The time between probes, and the limit for an answer.
    private let interval: Duration
    private let limit: Duration
    private var isAsked = false
    /// The time of the next probe; while a probe is pending, the time when the session counts as lost.
    private(set) var deadline: ContinuousClock.Instant

    init(interval: Duration, limit: Duration, now: ContinuousClock.Instant) {
        (self.interval, self.limit) = (interval, limit)
        deadline = now + interval
    }

    /// Returns the next step; after ``Step/sendProbe``, the probe counts as pending.
    mutating func step(at now: ContinuousClock.Instant) -> Step {
        if isAsked { return .takeAnswer }
        guard now >= deadline else { return .wait }
        isAsked = true
        deadline = now + limit
        return .sendProbe
    }

    mutating func didAnswer(at now: ContinuousClock.Instant) {
        isAsked = false
        deadline = now + interval
    }

    /// Returns whether the session did not answer in time.
    func isLost(at now: ContinuousClock.Instant) -> Bool { now >= deadline }
}
