/// The pauses between attempts: each is twice as long as the one before, up to a limit.
struct Backoff {
    private let first: Duration
    private let limit: Duration
    private var pause: Duration

    init(first: Duration, limit: Duration) {
        (self.first, self.limit) = (first, limit)
        pause = first
    }

    /// The pause before the next attempt.
    mutating func next() -> Duration {
        defer { pause = min(pause * 2, limit) }
        return pause
    }

    /// Begins anew: an attempt has succeeded.
    mutating func reset() { pause = first }
}
