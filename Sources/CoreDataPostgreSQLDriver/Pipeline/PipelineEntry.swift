import CoreDataSQL

/// A message that a session has sent and whose answer is pending.
struct PipelineEntry {
    enum Kind: Hashable, CaseIterable {
        /// A statement; its result belongs to the caller.
        case statement
        /// A text that the server prepares for a later statement.
        case preparation
        /// The schema check after a statement; its result belongs to no caller.
        case schemaCheck
        /// A command without a result, such as `BEGIN`.
        case command
        /// The end of a batch: after a failure, the server skips everything before it.
        case synchronization
    }

    var kind: Kind
    /// The expected number of rows; -1 for any number.
    var expectedRowCount = -1
    /// Whether the statement fails by itself if it finds another number of rows.
    var failsByItself = false
    var sql = ""
    /// The text that the entry prepares or executes.
    var text: NamedText?
    /// Runs if the statement finds another number of rows than expected.
    var mismatch: (() throws -> Void)?
    var observation: StatementObservation?

    /// Whether the rows of the result must be counted.
    var countsRows: Bool { observation != nil || expectedRowCount >= 0 && mismatch != nil }
}

/// The observer of a statement, and the time when it was sent.
final class StatementObservation {
    let observer: any SQLObserver
    let start: ContinuousClock.Instant

    init(_ observer: any SQLObserver, start: ContinuousClock.Instant) {
        (self.observer, self.start) = (observer, start)
    }
}
