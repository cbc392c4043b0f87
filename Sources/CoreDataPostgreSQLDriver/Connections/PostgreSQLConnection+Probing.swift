import CPostgreSQL
import CoreDataSQL
import Foundation

// Checks whether the server still answers.
extension PostgreSQLConnection {
    /// Returns whether the session appears to be open, judged only on the client side.
    func looksAlive() -> Bool {
        guard !isBroken, PQstatus(handle) == CONNECTION_OK else { return false }
        // Read remaining answers of the last transaction, or the server's final message and the end of the connection.
        for _ in 0..<8 {
            var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 0) > 0 else { return true }
            guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { return false }
        }
        return true
    }

    /// Sends a statement without waiting for its result, to check whether the server still answers.
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
