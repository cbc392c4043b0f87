import CoreDataSQL
import Foundation

/// Identifies a transaction after the connection that committed it was lost.
enum CommitToken {
    /// The number that the transaction's first statement wrote to the writer's row.
    case noted(Int64)
    /// The server's transaction ID, used if the store has no table for such numbers. A server may reuse the ID after a
    /// crash.
    case transaction(Int64)
}

/// Identifies a session on the server: a process ID, which is reused later, and the session's start time.
struct ServerSession {
    var process: Int64
    var start: String

    init?(process: SQLValue, start: SQLValue) {
        guard case .integer(let process) = process, case .text(let start) = start else { return nil }
        (self.process, self.start) = (process, start)
    }
}

extension PostgreSQLConnection {
    /// Finds out whether transactions can record their commit in the store. Call it on a session without a transaction.
    func detectCommitTable() throws {
        guard !hasCommits else { return }
        try betweenTransactions { try queryCommitTable() }
    }

    private func queryCommitTable() throws {
        if !traits.locksByNumber { hasMetadata = try !rows(ServerText.hasMetadata).isEmpty }
        guard try rows(ServerText.hasCommits).first?.first == .integer(1) else { return }
        hasCommits = true
        if traits.keepsSessions { try callsSchemaNumber() }
        // Deletes the rows of writers that terminated long ago; a missing permission does no harm.
        do { try attempting { try execute(ServerText.forgetCommits) } } catch let failure as SQLFailure where !isBroken
        {
            observer?.note("what writers of old have noted is left: \(failure.message)")
        }
    }
}

extension PostgreSQLDatabase {
    /// Commits. If the connection is lost meanwhile, asks the server for the outcome, and retries until it answers.
    ///
    /// - Throws: ``SQLFailure`` if the transaction was not committed; of the kind `.unknownOutcome` if no server
    ///   answered in time.
    func commit(_ connection: PostgreSQLConnection) throws {
        do { try connection.commit() } catch let failure as SQLFailure {
            let (token, session) = (connection.token, connection.session)
            connection.rollBack()
            guard connection.isBroken else { throw failure }
            guard let token else { throw Self.unknownOutcome(failure, "it could not be noted in the store") }
            guard try wasCommitted(token, session, failure) else {
                throw SQLFailure(kind: .disconnected, code: failure.code, message: failure.message, sql: failure.sql)
            }
        }
    }

    private func wasCommitted(_ token: CommitToken, _ session: ServerSession?, _ failure: SQLFailure) throws -> Bool {
        let deadline = options.clock.deadline(in: max(options.connectTimeout, options.lockTimeout))
        var last = failure
        repeat {
            do {
                let other = try open()
                defer { other.close() }
                let told = try other.betweenTransactions { try wasCommitted(token, session, other) }
                if let committed = told {
                    return committed
                }
            } catch let failure as SQLFailure {
                last = failure
                // The table no longer exists: the outcome is lost with it.
                if failure.kind == .missingTable { break }
            }
            options.clock.sleep(.milliseconds(50))
        } while options.clock.now() < deadline
        throw Self.unknownOutcome(failure, last.message)
    }

    private static func unknownOutcome(_ failure: SQLFailure, _ reason: String) -> SQLFailure {
        SQLFailure(
            kind: .unknownOutcome, code: failure.code,
            message:
                "the connection was lost while the transaction was committed (\(failure.message)), and whether it was cannot be told (\(reason))",
            sql: failure.sql)
    }

    /// Returns whether the transaction was committed; `nil` if the server does not know yet.
    private func wasCommitted(
        _ token: CommitToken, _ session: ServerSession?, _ other: PostgreSQLConnection
    ) throws -> Bool? {
        // The server may not have detected that the client disconnected. Ending the session ensures that it commits
        // nothing more.
        if let session {
            _ = try other.rows(ServerText.endSession, [.integer(session.process), .text(session.start)])
        } else if other.traits.marksWriters {
            _ = try other.rows(ServerText.endSessionOfWriter, [.integer(writer)])
        }
        switch token {
        case .noted(let number):
            // The statement waits for a transaction that holds the row. A transaction that has not reached it can no
            // longer commit.
            return try other.rows(ServerText.giveUpCommit, [.integer(writer), .integer(number)]).first?.first
                == .integer(number)
        case .transaction(let number):
            switch try other.rows(ServerText.transactionStatus, [.integer(number)]).first?.first {
            case .text("committed")?: return true
            case .text("aborted")?: return false
            default: return nil
            }
        }
    }
}
