import CPostgreSQL
import CoreDataSQL

// Transactions and savepoints.
extension PostgreSQLConnection {
    /// The identity of the last transaction, for finding out its outcome.
    var token: CommitToken? { pipeline.transaction.token }

    /// Whether the commit can be sent with the statements, which then fail by themselves if they do not find the
    /// expected rows.
    var commitsAtOnce: Bool { pipeline.transaction.commitsAtOnce }

    var runsInAnyOrder: Bool {
        get { pipeline.transaction.runsInAnyOrder }
        set { pipeline.transaction.runsInAnyOrder = newValue }
    }

    /// Begins a transaction with the next statement.
    ///
    /// - Parameter commitsAtOnce: whether no results are needed before the commit.
    func begin(_ sql: String, commitsAtOnce: Bool = false) {
        pipeline.begin(sql, commitsAtOnce: commitsAtOnce)
        notices.reports.removeAll()
    }

    /// Makes the transaction record its identity: together with the next schema check, or in a statement of its own.
    func note(_ number: Int64, of writer: Int64) {
        pipeline.transaction.add(TransactionState.Note(writer: writer, number: number))
    }

    /// Requests the transaction's ID, to ask for its outcome later; see ``ServerText/transactionStatus``.
    func takeToken() throws {
        if case .integer(let value)? = try rows(ServerText.transactionToken).first?.first {
            pipeline.transaction.token = .transaction(value)
        }
    }

    /// Runs statements between transactions; without persistent sessions, in a transaction of their own.
    func betweenTransactions<R>(
        beginning text: String = ServerText.beginWriting, _ body: () throws -> R
    ) throws -> R {
        guard !traits.keepsSessions, !pipeline.transaction.isBegun else { return try body() }
        begin(text)
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Locks the store until the transaction ends: against all writers, or only against exclusive ones.
    func lock(alone: Bool) throws {
        guard traits.locksByNumber, let locks else {
            guard hasMetadata else { return }
            return try runLater(alone ? ServerText.lockRowAlone : ServerText.lockRowBeside, [])
        }
        let sql = alone ? locks.alone : locks.beside
        try prepareToSend(.statement)
        try observer?.willRun(sql, bindings: [])
        try sendCommand(sql)
        pipeline.queue.append(PipelineEntry(kind: .statement, sql: sql, observation: observation))
    }

    // MARK: Ending

    /// Commits, and waits for the server's confirmation.
    func commit() throws {
        guard pipeline.transaction.commit() else { return }
        let sql = ServerText.commit
        try prepareToSend(.command)
        try observer?.willRun(sql, bindings: [])
        try sendCommand(sql)
        pipeline.queue.append(PipelineEntry(kind: .statement, sql: sql, observation: observation))
        guard let result = try finish(), let tag = PQcmdStatus(result.pointer) else { throw broken(sql) }
        pipeline.transaction.didCommit()
        // The server reports ROLLBACK if a statement failed and its failure was ignored.
        guard String(cString: tag) == sql else {
            throw SQLFailure.misuse("a statement of the transaction has failed, so that nothing was committed")
        }
    }

    /// Ends a read-only transaction without waiting for the answer.
    func endReading() {
        guard pipeline.transaction.endReading() else { return }
        if let observer { try? observer.willRun(ServerText.commit, bindings: []) }
        guard !isBroken, (try? prepareToSend(.command)) != nil, (try? sendCommand(ServerText.commit)) != nil,
            PQpipelineSync(handle) == 1
        else { return pipeline.lose() }
        pipeline.queue.append(PipelineEntry(kind: .command))
        pipeline.queue.append(PipelineEntry(kind: .synchronization))
        if PQflush(handle) != 0 { pipeline.lose() }
        observer?.didRun(ServerText.commit, duration: .zero, rows: 0)
    }

    func rollBack() {
        discardHeld()
        // Unsent and unread statements are discarded with the transaction.
        guard pipeline.rollBack() else { return }
        observer = nil
        do {
            try prepareToSend(.command)
            try sendCommand(ServerText.rollback)
            pipeline.queue.append(PipelineEntry(kind: .command))
            try finish()
        } catch { pipeline.lose() }
    }

    // MARK: Savepoints

    /// Runs a part of a transaction in a savepoint: an operation that the server cannot compute is retried in memory.
    /// Without a transaction, a statement fails on its own.
    func attempting<R>(_ body: () throws -> R) throws -> R {
        guard pipeline.transaction.isBegun else { return try body() }
        // Read pending results first, so that their failures are not attributed to this part.
        if pipeline.queue.awaitsStatement { try finish() }
        try beginAttempt()
        do {
            let result = try body()
            try endAttempt()
            return result
        } catch {
            giveUpAttempt()
            throw error
        }
    }

    func beginAttempt() throws {
        try prepareToSend(.statement)
        try sendHousekeeping(ServerText.beginAttempt)
    }

    func endAttempt() throws { try sendHousekeeping(ServerText.endAttempt) }

    func giveUpAttempt() {
        guard !isBroken else { return }
        do {
            try sendHousekeeping(ServerText.giveUpAttempt)
            try sendHousekeeping(ServerText.endAttempt)
            try finish()
        } catch { pipeline.lose() }
    }
}
