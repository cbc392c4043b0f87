/// The check that reads use the schema that the reader knows.
enum SchemaCheck {
    case none
    /// The next expectation of a schema is checked together with the reads.
    case awaited
    /// Sent after each reading statement. By then, the statement holds its table locks, so the check detects a
    /// migration that it waited for.
    case pending(version: Int64, otherwise: () throws -> Void)

    /// The way in which an expectation of a schema is checked.
    enum Expectation {
        /// The statement that records the note checks it.
        case sendNote(TransactionState.Note)
        /// The next read checks it.
        case later
        /// A separate statement checks it.
        case now
    }
}
