import CoreDataSQL

/// The transaction of a session, which begins with the first statement that is sent in it.
///
/// ```
///         begin              takeBegin, didBegin           commit, endReading, rollBack
///  none ─────────▶ announced ────────────────────▶ open ─────────────────────────────────▶ none
///                      └──────── commit, endReading, rollBack: nothing was sent ─────────▶ none
/// ```
struct TransactionState {
    /// The number by which a transaction is known later, and whose it is.
    struct Note: Hashable {
        var writer: Int64
        var number: Int64
    }

    private enum Phase {
        case none
        /// The text that begins it.
        case announced(String)
        case open
    }

    private var phase = Phase.none
    private var note: Note?
    private(set) var isWriting = false
    /// Whether the commit goes with the statements: one that finds another number of rows than expected fails by itself.
    private(set) var commitsAtOnce = false
    /// Whether statements may wait for others and be sent as one with them.
    var runsInAnyOrder = false
    /// By what the server can be asked for the outcome of the last transaction.
    var token: CommitToken?

    /// Whether the server has the transaction.
    var isOpen: Bool {
        if case .open = phase { true } else { false }
    }

    /// Whether what is sent next is a part of a transaction.
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

    /// The text to be sent before the first statement; ``didBegin()`` tells that it was.
    mutating func takeBegin() -> String? {
        guard case .announced(let sql) = phase else { return nil }
        phase = .none
        return sql
    }

    mutating func didBegin() { phase = .open }

    // MARK: Within

    /// Has the next statement write down the number, as a part of the transaction.
    mutating func add(_ note: Note) {
        self.note = note
        token = .noted(note.number)
    }

    /// The note that is to be written down, once.
    mutating func takeNote() -> Note? {
        guard let note else { return nil }
        self.note = nil
        return note
    }

    /// Whether a statement that counts on so many rows goes with the commit. If it cannot, the commit waits for all results.
    ///
    /// - Parameter isRefused: whether the server refuses the form of the statement that fails by itself.
    mutating func commitsAtOnce(counting rows: Int, isRefused: Bool) -> Bool {
        if rows != 1 || isRefused { commitsAtOnce = false }
        return commitsAtOnce
    }

    // MARK: Ending

    /// - Returns: whether `COMMIT` is to be sent; ``didCommit()`` tells that the server has answered it.
    mutating func commit() -> Bool {
        if isOpen { return true }
        end()
        return false
    }

    mutating func didCommit() { end() }

    /// - Returns: whether `COMMIT` is to be sent, for whose answer nobody waits.
    mutating func endReading() -> Bool {
        defer { end() }
        return isOpen
    }

    /// - Returns: whether `ROLLBACK` is to be sent.
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
