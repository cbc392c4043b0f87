/// Whether a session that only listens is still there: a value that decides, without a clock and a server.
///
/// ```
///  listening ── nothing asked for an interval: sendProbe ──▶ asked ── didAnswer ──▶ listening
///                                                              └── limit passed ──▶ the session is lost
/// ```
/// A network may drop a connection without telling either side; nothing else shows that.
struct LivenessProbe {
    enum Step: Hashable {
        case wait
        case sendProbe
        /// Reads the answer if it has come, and calls ``didAnswer(at:)`` then.
        case takeAnswer
    }

    /// After how long a session is asked, and how long it may take to answer.
    private let interval: Duration
    private let limit: Duration
    private var isAsked = false
    /// When the session is asked next; or if it is asked already, when it is lost.
    private(set) var deadline: ContinuousClock.Instant

    init(interval: Duration, limit: Duration, now: ContinuousClock.Instant) {
        (self.interval, self.limit) = (interval, limit)
        deadline = now + interval
    }

    /// What to do now; if that is ``Step/sendProbe``, the session counts as asked.
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

    /// Whether the session has not answered in time.
    func isLost(at now: ContinuousClock.Instant) -> Bool { now >= deadline }
}
