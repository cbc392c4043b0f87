/// The check that what is read is of the schema that the reader knows.
enum SchemaCheck {
    case none
    /// The next expectation of a schema is to be checked with what is read.
    case awaited
    /// Goes behind each statement that reads, which has the locks of its tables by then: a migration that it has waited for is seen.
    case pending(version: Int64, otherwise: () throws -> Void)

    /// What is done with an expectation of a schema.
    enum Expectation {
        /// It is checked by the statement that writes the note.
        case sendNote(TransactionState.Note)
        /// It is checked with what is read next.
        case later
        /// A statement of its own checks it.
        case now
    }
}
