import CPostgreSQL
import CoreDataSQL
import Foundation

// Whether the server is still there.
extension PostgreSQLConnection {
    /// Whether the server has ended the session, as far as can be seen from here.
    func looksAlive() -> Bool {
        guard !isBroken, PQstatus(handle) == CONNECTION_OK else { return false }
        // What is still to come of the last transaction; or what the server says as it leaves, and then the end.
        for _ in 0..<8 {
            var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 0) > 0 else { return true }
            guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { return false }
        }
        return true
    }

    /// Sends a statement whose result nobody waits for: it shows whether the server still answers.
    func sendProbe(_ sql: String) throws {
        guard PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1) == 1, PQpipelineSync(handle) == 1,
            PQflush(handle) == 0
        else { throw broken(sql) }
        pipeline.queue.append(PipelineEntry(kind: .statement, sql: sql))
        pipeline.queue.append(PipelineEntry(kind: .synchronization))
    }

    /// Takes the result of a probe.
    ///
    /// - Returns: whether it has arrived.
    func takeProbe() throws -> Bool {
        guard PQisBusy(handle) == 0 else { return false }
        try collect()
        return true
    }
}
