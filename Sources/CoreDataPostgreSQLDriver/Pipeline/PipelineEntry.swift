import CoreDataSQL

/// Something that a session has sent, and the answer that it waits for.
struct PipelineEntry {
    enum Kind: Hashable, CaseIterable {
        /// A statement; its result is the caller's.
        case statement
        /// A text that the server prepares for a statement behind it.
        case preparation
        /// The check of the schema behind a statement; its result is nobody's.
        case schemaCheck
        /// Something without a result, such as `BEGIN`.
        case command
        /// The end of a batch: after a failure the server skips everything in front of it.
        case synchronization
    }

    var kind: Kind
    /// The number of rows that the statement counts on; any number for -1.
    var expectedRowCount = -1
    /// Whether the statement fails by itself if it finds another number of rows.
    var failsByItself = false
    var sql = ""
    /// The text that the entry prepares, or that it is an execution of.
    var text: NamedText?
    /// Runs if the statement finds another number of rows than expected.
    var mismatch: (() throws -> Void)?
    var observation: StatementObservation?

    /// Whether the rows of the result have to be counted.
    var countsRows: Bool { observation != nil || expectedRowCount >= 0 && mismatch != nil }
}

/// The observer of a statement, and when the statement was sent.
final class StatementObservation {
    let observer: any SQLObserver
    let start: ContinuousClock.Instant

    init(_ observer: any SQLObserver, start: ContinuousClock.Instant) {
        (self.observer, self.start) = (observer, start)
    }
}
