/// The end of turns, which ends events: of the main thread, of blocks of `perform`, of jobs of an actor.
///
/// Invariants:
/// - ``watchesNextChange`` is `true` only in a main-queue context that has no block in the main queue yet. The next
///   change enqueues one.
struct TurnFollowing {
    /// Whether the next change waits for the end of the main thread's turn.
    var watchesNextChange: Bool
    /// Called after the changes of a turn, of a block or of a job were processed.
    var didEnd: (() -> Void)?
}

extension NSManagedObjectContext {
    /// Called after the changes of a turn of the main thread, of a block or of a job of an actor were processed.
    package final var turnDidEnd: (() -> Void)? {
        get { turns.didEnd }
        set { turns.didEnd = newValue }
    }
}
