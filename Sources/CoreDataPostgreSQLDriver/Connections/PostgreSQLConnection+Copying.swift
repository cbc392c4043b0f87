import CPostgreSQL
import CoreDataSQL
import Foundation

/// A COPY that is in progress in a session.
struct CopyInProgress {
    let sql: String
    let observation: StatementObservation?
}

// Sends rows with COPY, for which libpq must leave pipeline mode.
extension PostgreSQLConnection {
    func copy(_ statement: CopyStatement) throws -> (any SQLRowCopy)? {
        guard traits.copies, let description = try self.statement(statement.description) as? PostgreSQLStatement,
            description.prepared.columnTypes.allSatisfy(PostgreSQLRowCopy.takes)
        else { return nil }
        let sql = statement.text(in: dialect).sql
        try prepareToSend(.statement)
        try observer?.willRun(sql, bindings: [])
        // Take the results of all earlier statements; from then until the end of the copy, the session is not in
        // pipeline mode.
        try finish()
        try prepareToSend(.command)
        // Until the copy ends.
        pipeline.willWait()
        cancellation.begin()
        guard PQexitPipelineMode(handle) == 1, let result = PQexec(handle, sql).map(QueryResult.init) else {
            throw broken(sql)
        }
        copying = CopyInProgress(sql: sql, observation: observation)
        guard PQresultStatus(result.pointer) == PGRES_COPY_IN else {
            defer { cancellation.end() }
            if PQstatus(handle) != CONNECTION_OK { throw broken(sql) }
            let failure = naming(SQLFailure.of(result.pointer, sql: sql))
            try backToPipeline()
            throw failure
        }
        return PostgreSQLRowCopy(self, description.prepared.columnTypes)
    }

    func sendCopy(_ bytes: UnsafeRawBufferPointer) throws {
        var first = 0
        while first < bytes.count {
            let count = min(bytes.count - first, 1 << 30)
            let part = bytes.baseAddress.map { ($0 + first).assumingMemoryBound(to: CChar.self) }
            guard PQputCopyData(handle, part, Int32(count)) == 1 else { throw broken(copying?.sql) }
            first += count
        }
    }

    func endCopy() throws {
        defer { cancellation.end() }
        guard PQputCopyEnd(handle, nil) == 1, let result = PQgetResult(handle).map(QueryResult.init) else {
            throw broken(copying?.sql)
        }
        while let more = PQgetResult(handle) { PQclear(more) }
        if PQstatus(handle) != CONNECTION_OK { throw broken(copying?.sql) }
        let copied = copying
        try backToPipeline()
        guard PQresultStatus(result.pointer) == PGRES_COMMAND_OK else {
            throw naming(SQLFailure.of(result.pointer, sql: copied?.sql ?? ""))
        }
        if let copied, let observation = copied.observation {
            notify(observation, of: copied.sql, rows: result.changeCount)
        }
    }

    func giveUpCopy() {
        defer { cancellation.end() }
        guard !isBroken else { return }
        guard PQputCopyEnd(handle, "given up") == 1 else { return pipeline.lose() }
        while let result = PQgetResult(handle) { PQclear(result) }
        do { try backToPipeline() } catch { pipeline.lose() }
    }

    private func backToPipeline() throws {
        let sql = copying?.sql
        copying = nil
        guard PQenterPipelineMode(handle) == 1 else { throw broken(sql) }
    }
}
