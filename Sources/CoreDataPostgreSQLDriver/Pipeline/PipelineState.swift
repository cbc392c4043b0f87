/// Decides what a session in pipeline mode sends next, and interprets answers: a state machine without a server.
///
/// ```
///                     nextStep: settleCancellation, takeAnswers, sendNote, begin, sendHeld
///                        ┌──┐
///              nextStep  │  ▼      send          willWait            endAnswers
///  idle ────────────────▶ steps ─────────▶ sent ──────────▶ waiting ────────────▶ idle
///                                            │                  │
///                                            └──── lose ────────┴──────────────▶ broken, permanently
/// ```
/// Each call returns the session's next action; ``PostgreSQLConnection`` performs it with libpq, step by step, until it
/// may send. This type enforces three rules:
///
/// - Nothing is sent while a cancel request may be in flight: it would cancel the new statement. Such a request is made
///   only while the session waits, so the first step after each wait is to settle it.
/// - A transaction begins with the first statement that is sent in it. The messages before that statement have a fixed
///   order: the end of the last transaction (behind a pooler), the note, `BEGIN`, the held statements.
/// - After a failure that leaves the server in an unknown state, nothing more is sent.
struct PipelineState {
    /// The maximum number of statements in one group, and of their values.
    static let groupLimit = (statements: 8, values: 256)

    /// The kind of message to send.
    enum Purpose: Hashable, CaseIterable {
        case statement
        /// A statement that is held back for a group.
        case waitingStatement
        /// A command outside a transaction, or one that ends a transaction.
        case command
    }

    /// A step before sending.
    enum Step: Hashable {
        /// Waits for a cancel request in flight.
        case settleCancellation
        /// Takes the answers of the last transaction.
        case takeAnswers
        case sendNote(TransactionState.Note)
        /// Sends the text that begins the transaction, and calls ``TransactionState/didBegin()``.
        case begin(String)
        /// Sends the held statements, and calls ``didSendHeld()``.
        case sendHeld
        /// No further steps are necessary.
        case send
    }

    /// The decision for a statement that may be grouped with others.
    enum Holding: Hashable {
        /// It is sent by itself.
        case none
        /// It joins the held statements.
        case join
        /// The held statements are sent first; then it is held.
        case joinAfterSending
    }

    /// The step that is necessary before the outcome of everything sent is known.
    enum Settling: Hashable {
        case nothing
        /// The transaction's ID is requested from the server.
        case takeToken
        /// The schema check is sent, and all answers are taken.
        case checkSchema
        case takeAnswers
    }

    var queue = PipelineQueue()
    var transaction = TransactionState()
    var schemaCheck = SchemaCheck.none
    /// Whether the connection is lost, or its protocol state does not match the server's.
    private(set) var isBroken = false
    /// Whether the session has waited since a cancel request was last settled.
    private var hasWaited = false
    /// The number of held statements, and of their values.
    private var held = (statements: 0, values: 0)

    // MARK: Before something is sent

    /// Returns the next step before sending a message of that kind; call it until it returns ``Step/send``.
    ///
    /// - Parameter keepsSessions: whether the next transaction runs in the same server session. A pooler that reassigns
    ///   sessions may do so while a part of the next transaction is in flight.
    mutating func nextStep(before purpose: Purpose, keepsSessions: Bool) -> Step {
        if hasWaited {
            hasWaited = false
            return .settleCancellation
        }
        if purpose != .command {
            if !keepsSessions, !transaction.isOpen, queue.endsWithSynchronization { return .takeAnswers }
            if let note = transaction.takeNote() { return .sendNote(note) }
            if let sql = transaction.takeBegin() { return .begin(sql) }
        }
        return held.statements > 0 && purpose != .waitingStatement ? .sendHeld : .send
    }

    // MARK: Held statements

    /// - Parameter count: the number of rows that the statement expects, if any.
    func holding(valueCount: Int, expecting count: Int?) -> Holding {
        guard transaction.commitsAtOnce, transaction.runsInAnyOrder, count == nil || count == 1,
            valueCount <= Self.groupLimit.values
        else { return .none }
        let isFull =
            held.statements == Self.groupLimit.statements || held.values + valueCount > Self.groupLimit.values
        return isFull ? .joinAfterSending : .join
    }

    mutating func didHold(valueCount: Int) {
        held.statements += 1
        held.values += valueCount
    }

    mutating func didSendHeld() { held = (0, 0) }

    // MARK: Waiting for answers

    /// Records that the session waits for the server from now on, and can be cancelled.
    mutating func willWait() { hasWaited = true }

    /// Ends a batch after all answers were taken.
    ///
    /// - Parameter leavesFailedTransaction: whether the server is in a failed transaction.
    mutating func endAnswers(leavesFailedTransaction: @autoclosure () -> Bool) -> PipelineQueue.Outcome {
        let outcome = queue.end()
        // A COMMIT whose answer was not awaited was cancelled: the failed transaction is still open.
        if case .failure = outcome, !transaction.isOpen, leavesFailedTransaction() { isBroken = true }
        return outcome
    }

    /// Records that the connection is lost; answers that have arrived are still taken.
    mutating func lose() { isBroken = true }

    /// Records that the connection is lost, or its state is unknown: no more answers are taken.
    mutating func abandon() {
        isBroken = true
        queue.abandon()
    }

    // MARK: The schema

    mutating func expectSchema(
        _ version: Int64, otherwise: @escaping () throws -> Void
    ) -> SchemaCheck.Expectation {
        if let note = transaction.takeNote() { return .sendNote(note) }
        guard case .awaited = schemaCheck else { return .now }
        schemaCheck = .pending(version: version, otherwise: otherwise)
        return .later
    }

    // MARK: Transactions

    mutating func begin(_ sql: String, commitsAtOnce: Bool) {
        transaction.begin(sql, commitsAtOnce: commitsAtOnce)
        schemaCheck = .none
    }

    /// Returns the step that is necessary before the outcome of everything sent is known.
    ///
    /// - Parameter tellsTransactions: whether the server has transaction IDs.
    func settling(tellsTransactions: Bool) -> Settling {
        if transaction.commitsAtOnce { return .nothing }
        if transaction.isOpen, transaction.isWriting, transaction.token == nil, tellsTransactions { return .takeToken }
        if case .pending = schemaCheck { return .checkSchema }
        return queue.awaitsMoreThanSynchronization ? .takeAnswers : .nothing
    }

    /// Rolls back.
    ///
    /// - Returns: whether to send `ROLLBACK`.
    mutating func rollBack() -> Bool {
        schemaCheck = .none
        held = (0, 0)
        guard transaction.rollBack(), !isBroken else { return false }
        queue.ignoreStatements()
        return true
    }
}
