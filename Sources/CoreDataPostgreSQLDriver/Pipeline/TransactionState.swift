import CoreDataSQL

/// The state of a session's transaction, which begins with the first statement that is sent in it.
///
/// ```
///         begin              takeBegin, didBegin           commit, endReading, rollBack
///  none ─────────▶ announced ────────────────────▶ open ─────────────────────────────────▶ none
///                      └──────── commit, endReading, rollBack: nothing was sent ─────────▶ none
/// ```
struct TransactionState {
    /// The number that identifies a transaction later, and its writer.
    struct Note: Hashable {
        var writer: Int64
        var number: Int64
    }

    private enum Phase {
        case none
        /// The text that begins the transaction.
        case announced(String)
        case open
    }

    private var phase = Phase.none
    private var note: Note?
    private(set) var isWriting = false
    /// Whether the commit is sent with the statements: a statement that finds another number of rows than expected
    /// fails by itself.
    private(set) var commitsAtOnce = false
    /// Whether statements may be held back and sent as a group.
    var runsInAnyOrder = false
    /// The token for asking the server for the outcome of the last transaction.
    var token: CommitToken?

    /// Whether the server has begun the transaction.
    var isOpen: Bool {
        if case .open = phase { true } else { false }
    }

    /// Whether the next message is part of a transaction.
    var isBegun: Bool {
        if case .none = phase { false } else { true }
    }

    // MARK: Beginning

    mutating func begin(_ sql: String, commitsAtOnce: Bool) {
        phase = .announced(sql)
        self.commitsAtOnce = commitsAtOnce
        runsInAnyOrder = false
        note = nil
        isWriting = sql == ServerText.beginWriting
        token = nil
    }

    /// Returns the text to send before the first statement; the caller then calls ``didBegin()``.
    mutating func takeBegin() -> String? {
        guard case .announced(let sql) = phase else { return nil }
        phase = .none
        return sql
    }

    mutating func didBegin() { phase = .open }

    // MARK: Within

    /// Makes the next statement record the number, as part of the transaction.
    mutating func add(_ note: Note) {
        self.note = note
        token = .noted(note.number)
    }

    /// Returns the note to record, once.
    mutating func takeNote() -> Note? {
        guard let note else { return nil }
        self.note = nil
        return note
    }

    /// Returns whether a statement that expects this number of rows can be sent with the commit. If not, the commit
    /// waits for all results.
    ///
    /// - Parameter isRefused: whether the server refuses the variant that fails by itself.
    mutating func commitsAtOnce(counting rows: Int, isRefused: Bool) -> Bool {
        if rows != 1 || isRefused { commitsAtOnce = false }
        return commitsAtOnce
    }

    // MARK: Ending

    /// Commits.
    ///
    /// - Returns: whether to send `COMMIT`; after the server's answer, the caller calls ``didCommit()``.
    mutating func commit() -> Bool {
        if isOpen { return true }
        end()
        return false
    }

    mutating func didCommit() { end() }

    /// Ends a read-only transaction.
    ///
    /// - Returns: whether to send `COMMIT`, without waiting for its answer.
    mutating func endReading() -> Bool {
        defer { end() }
        return isOpen
    }

    /// Rolls back.
    ///
    /// - Returns: whether to send `ROLLBACK`.
    mutating func rollBack() -> Bool {
        defer { end() }
        return isOpen
    }

    private mutating func end() {
        phase = .none
        note = nil
        commitsAtOnce = false
        runsInAnyOrder = false
    }
}
