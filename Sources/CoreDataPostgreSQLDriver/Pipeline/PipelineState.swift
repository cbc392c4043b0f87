/// What a session in pipeline mode sends next, and what answers mean: a value that decides, without a server.
///
/// ```
///                     nextStep: settleCancellation, takeAnswers, sendNote, begin, sendHeld
///                        ┌──┐
///              nextStep  │  ▼      send          willWait            endAnswers
///  idle ────────────────▶ steps ─────────▶ sent ──────────▶ waiting ────────────▶ idle
///                                            │                  │
///                                            └──── lose ────────┴──────────────▶ broken, for good
/// ```
/// Each call returns what the session does; ``PostgreSQLConnection`` does it with libpq, one step after the other, until it may send.
/// Three rules are decided here and nowhere else:
///
/// - Nothing is sent while a request to cancel may be on its way: it would cancel what is sent. Such a request is only made while the
///   session waits, so the first step after each wait is to settle it.
/// - A transaction begins with the first statement that is sent in it, and what goes before that statement goes in one order: the end of
///   the last transaction (if a pooler stands between), the note, `BEGIN`, the statements that wait.
/// - After a failure that leaves the server in an unknown state nothing is sent any more.
struct PipelineState {
    /// The most statements, with the most values, that are sent as one.
    static let groupLimit = (statements: 8, values: 256)

    /// What is about to be sent.
    enum Purpose: Hashable, CaseIterable {
        case statement
        /// A statement that joins those that wait.
        case waitingStatement
        /// What belongs to no transaction, or ends one.
        case command
    }

    /// What is done before that.
    enum Step: Hashable {
        /// Waits for a request to cancel that is on its way.
        case settleCancellation
        /// Takes what came of the last transaction.
        case takeAnswers
        case sendNote(TransactionState.Note)
        /// Sends the text that begins the transaction, and calls ``TransactionState/didBegin()``.
        case begin(String)
        /// Sends the statements that wait, and calls ``didSendHeld()``.
        case sendHeld
        /// There is nothing more to be done before.
        case send
    }

    /// What becomes of a statement that may be sent with others.
    enum Holding: Hashable {
        /// It is sent by itself.
        case none
        /// It waits beside those that wait.
        case join
        /// It waits; those that waited are sent.
        case joinAfterSending
    }

    /// What has to be done before the outcome of everything sent is known.
    enum Settling: Hashable {
        case nothing
        /// The server is asked by what it knows the transaction.
        case takeToken
        /// The check of the schema is sent, and all answers are taken.
        case checkSchema
        case takeAnswers
    }

    var queue = PipelineQueue()
    var transaction = TransactionState()
    var schemaCheck = SchemaCheck.none
    /// Whether the server is gone, or nobody knows what it will say next.
    private(set) var isBroken = false
    /// Whether the session has waited since a request to cancel was settled.
    private var hasWaited = false
    /// The number of statements that wait, and of their values.
    private var held = (statements: 0, values: 0)

    // MARK: Before something is sent

    /// What the session does before it sends something of that kind; to be asked until it is ``Step/send``.
    ///
    /// - Parameter keepsSessions: whether the server's session is the same in the next transaction. A pooler that gives it to others when the
    ///   transaction ends may do so with a part of the next one on its way.
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

    // MARK: Statements that wait for others

    /// - Parameter count: the number of rows that the statement counts on, if it does.
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

    /// The session waits for the server from now on, and may be cancelled.
    mutating func willWait() { hasWaited = true }

    /// Ends a batch whose answers were all taken.
    ///
    /// - Parameter leavesFailedTransaction: whether the server is in a transaction that has failed.
    mutating func endAnswers(leavesFailedTransaction: @autoclosure () -> Bool) -> PipelineQueue.Outcome {
        let outcome = queue.end()
        // A COMMIT that nobody waited for was cancelled: the failed transaction is still open.
        if case .failure = outcome, !transaction.isOpen, leavesFailedTransaction() { isBroken = true }
        return outcome
    }

    /// The connection is lost; what has arrived before is still taken.
    mutating func lose() { isBroken = true }

    /// The connection is lost, or out of step: no answer is taken any more.
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

    /// What is missing until it is known what came of everything that was sent.
    ///
    /// - Parameter tellsTransactions: whether the server has numbers for transactions.
    func settling(tellsTransactions: Bool) -> Settling {
        if transaction.commitsAtOnce { return .nothing }
        if transaction.isOpen, transaction.isWriting, transaction.token == nil, tellsTransactions { return .takeToken }
        if case .pending = schemaCheck { return .checkSchema }
        return queue.awaitsMoreThanSynchronization ? .takeAnswers : .nothing
    }

    /// - Returns: whether `ROLLBACK` is to be sent.
    mutating func rollBack() -> Bool {
        schemaCheck = .none
        held = (0, 0)
        guard transaction.rollBack(), !isBroken else { return false }
        queue.ignoreStatements()
        return true
    }
}
