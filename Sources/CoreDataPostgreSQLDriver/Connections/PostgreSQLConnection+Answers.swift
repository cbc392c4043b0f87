import CPostgreSQL
import CoreDataSQL

// Reads the server's answers.
extension PostgreSQLConnection {
    /// Ends the batch and waits for all answers; returns the last result.
    ///
    /// - Throws: the first failure; the server skipped all statements after it.
    @discardableResult
    func finish() throws -> QueryResult? {
        try sendHeld()
        pipeline.willWait()
        cancellation.begin()
        defer { cancellation.end() }
        guard PQpipelineSync(handle) == 1 else { throw broken(nil) }
        pipeline.queue.append(PipelineEntry(kind: .synchronization))
        return try collect()
    }

    /// Reads all answers of a batch whose end was sent.
    @discardableResult
    func collect() throws -> QueryResult? {
        var last: OpaquePointer?
        defer { if let last { PQclear(last) } }
        while pipeline.queue.awaitsAnswer {
            guard let result = PQgetResult(handle) else { throw broken(nil) }
            var isKept = false
            defer { if !isKept { PQclear(result) } }
            let status = PQresultStatus(result)
            let receipt = pipeline.queue.receive(PipelineQueue.Answer(status))
            if receipt == .outOfStep { throw broken(nil) }
            if status != PGRES_PIPELINE_SYNC { while let more = PQgetResult(handle) { PQclear(more) } }
            switch receipt {
            case .keepResult(let countsRows):
                if let last { PQclear(last) }
                (last, isKept) = (result, true)
                if countsRows { count(result, status) }
            case .countRows: count(result, status)
            case .readFailure: fail(result, status)
            case .dropResult, .outOfStep: break
            }
        }
        switch pipeline.endAnswers(leavesFailedTransaction: PQtransactionStatus(handle) == PQTRANS_INERROR) {
        case .success: break
        case .mismatches(let mismatches): try withoutSchemaCheck { for mismatch in mismatches { try mismatch() } }
        case .failure(let failure): throw failure
        }
        defer { last = nil }
        return last.map { QueryResult($0) }
    }

    private func count(_ result: OpaquePointer, _ status: ExecStatusType) {
        let rows = status == PGRES_TUPLES_OK ? Int(PQntuples(result)) : QueryResult.changeCount(result)
        if let (sql, observation) = pipeline.queue.count(rows) { notify(observation, of: sql, rows: rows) }
    }

    private func fail(_ result: OpaquePointer, _ status: ExecStatusType) {
        if PQstatus(handle) != CONNECTION_OK { pipeline.lose() }
        let sql = pipeline.queue.failedSQL
        let failure =
            isBroken && status != PGRES_FATAL_ERROR
            ? SQLFailure.lost(handle, sql: sql) : naming(SQLFailure.of(result, sql: sql))
        if failure.kind == .disconnected { pipeline.lose() }
        pipeline.queue.fail(failure)
    }

    func notify(_ observation: StatementObservation, of sql: String, rows: Int) {
        observation.observer.didRun(sql, duration: observation.start.duration(to: clock.now()), rows: rows)
    }

    /// Returns the failure of an unusable connection.
    func broken(_ sql: String?) -> SQLFailure {
        pipeline.abandon()
        return .lost(handle, sql: sql)
    }

    // MARK: Requests to cancel

    /// Waits for a cancel request in flight, and closes the connection if the request does not arrive in time.
    func settleCancellation() { if !isBroken, !cancellation.settle() { pipeline.lose() } }

    /// Waits for a cancel request in flight: it would cancel the next statement.
    func awaitCancellation() throws {
        guard cancellation.settle() else {
            pipeline.lose()
            throw SQLFailure(
                kind: .disconnected, code: 0,
                message:
                    "a request to cancel a statement has not reached the server in time; the connection is closed, since the request would cancel the next statement"
            )
        }
    }

    /// Distinguishes a statement that this program cancelled from one that the server cancelled after its time limit:
    /// both have the same SQLSTATE.
    func naming(_ failure: SQLFailure) -> SQLFailure {
        guard failure.kind == .timedOut, cancellation.isMeant else { return failure }
        var interrupted = failure
        interrupted.kind = .interrupted
        return interrupted
    }
}

extension PipelineQueue.Answer {
    fileprivate init(_ status: ExecStatusType) {
        self =
            switch status {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: .success
            case PGRES_PIPELINE_ABORTED: .skipped
            case PGRES_PIPELINE_SYNC: .synchronization
            default: .failure
            }
    }
}
