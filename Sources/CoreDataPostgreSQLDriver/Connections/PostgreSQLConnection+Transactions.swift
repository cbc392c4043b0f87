import CPostgreSQL
import CoreDataSQL

// Transactions, and parts of one that may fail without it.
extension PostgreSQLConnection {
    /// What the last transaction is known by.
    var token: CommitToken? { pipeline.transaction.token }

    /// Whether the commit can go with what is sent, which fails by itself where it does not find the rows that it counts on.
    var commitsAtOnce: Bool { pipeline.transaction.commitsAtOnce }

    var runsInAnyOrder: Bool {
        get { pipeline.transaction.runsInAnyOrder }
        set { pipeline.transaction.runsInAnyOrder = newValue }
    }

    /// Has a transaction begin with the next statement.
    ///
    /// - Parameter commitsAtOnce: whether nobody needs to know what the statements gave before they are committed.
    func begin(_ sql: String, commitsAtOnce: Bool = false) {
        pipeline.begin(sql, commitsAtOnce: commitsAtOnce)
        notices.reports.removeAll()
    }

    /// Has the transaction write down what it is known by, as a part of it: with the look at the schema that comes next, or by itself.
    func note(_ number: Int64, of writer: Int64) {
        pipeline.transaction.add(TransactionState.Note(writer: writer, number: number))
    }

    /// Has the transaction be told again later; see ``ServerText/transactionStatus``.
    func takeToken() throws {
        if case .integer(let value)? = try rows(ServerText.transactionToken).first?.first {
            pipeline.transaction.token = .transaction(value)
        }
    }

    /// Runs what is asked for between transactions: where sessions are not kept, in one of its own.
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

    /// Keeps others out until the transaction ends: all that write, or who does that.
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

    /// Commits, and learns whether that was done.
    func commit() throws {
        guard pipeline.transaction.commit() else { return }
        let sql = ServerText.commit
        try prepareToSend(.command)
        try observer?.willRun(sql, bindings: [])
        try sendCommand(sql)
        pipeline.queue.append(PipelineEntry(kind: .statement, sql: sql, observation: observation))
        guard let result = try finish(), let tag = PQcmdStatus(result.pointer) else { throw broken(sql) }
        pipeline.transaction.didCommit()
        // What the server says where a statement has failed, which nobody minded.
        guard String(cString: tag) == sql else {
            throw SQLFailure.misuse("a statement of the transaction has failed, so that nothing was committed")
        }
    }

    /// Ends a transaction that only read; what comes of that nobody waits for.
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
        letGo()
        // What was sent and not asked for yet comes to nothing with it.
        guard pipeline.rollBack() else { return }
        observer = nil
        do {
            try prepareToSend(.command)
            try sendCommand(ServerText.rollback)
            pipeline.queue.append(PipelineEntry(kind: .command))
            try finish()
        } catch { pipeline.lose() }
    }

    // MARK: Attempts

    /// Runs a part of a transaction that may fail without it: what the server cannot compute is tried again in memory. Where there
    /// is no transaction a statement fails by itself.
    func attempting<R>(_ body: () throws -> R) throws -> R {
        guard pipeline.transaction.isBegun else { return try body() }
        // What was put off is told of now: its surprises are none of the attempt's.
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
