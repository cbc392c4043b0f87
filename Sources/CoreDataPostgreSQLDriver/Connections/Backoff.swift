/// The pauses between attempts: an exponential backoff with a limit.
struct Backoff {
    private let first: Duration
    private let limit: Duration
    private var pause: Duration

    init(first: Duration, limit: Duration) {
        (self.first, self.limit) = (first, limit)
        pause = first
    }

    /// Returns the pause before the next attempt.
    mutating func next() -> Duration {
        defer { pause = min(pause * 2, limit) }
        return pause
    }

    /// Starts again at the first pause, after a successful attempt.
    mutating func reset() { pause = first }
}
