import CoreDataSQL
import Foundation

/// By what a transaction is known, once the connection on which it was committed is lost.
enum CommitToken {
    /// It wrote this number into the writer's row, as its first statement.
    case noted(Int64)
    /// The server's own number for it: where the store has no table for the other. A server that crashes may give out the number again.
    case transaction(Int64)
}

/// What a server knows a session by: a number that others get later, and when it began.
struct ServerSession {
    var process: Int64
    var start: String

    init?(process: SQLValue, start: SQLValue) {
        guard case .integer(let process) = process, case .text(let start) = start else { return nil }
        (self.process, self.start) = (process, start)
    }
}

extension PostgreSQLConnection {
    /// Looks whether transactions can note in the store that they are committed; to be asked of a session that is in none.
    func lookForCommits() throws {
        guard !hasCommits else { return }
        try betweenTransactions { try lookOnce() }
    }

    private func lookOnce() throws {
        if !traits.locksByNumber { hasMetadata = try !rows(ServerText.hasMetadata).isEmpty }
        guard try rows(ServerText.hasCommits).first?.first == .integer(1) else { return }
        hasCommits = true
        if traits.keepsSessions { try callsSchemaNumber() }
        // Of writers that are long gone; where this may not delete nothing is lost.
        do { try attempting { try execute(ServerText.forgetCommits) } } catch let failure as SQLFailure where !isBroken
        {
            observer?.note("what writers of old have noted is left: \(failure.message)")
        }
    }
}

extension PostgreSQLDatabase {
    /// Commits. Where the connection is lost meanwhile the server is asked what became of it, as often as it takes to be told.
    ///
    /// - Throws: ``SQLFailure`` where it was not committed; of the kind `.unknownOutcome` where nobody could be asked.
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
                // The table is no longer there: whoever took it away has taken the answer, too.
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

    /// - Returns: `nil` where the server does not know yet.
    private func wasCommitted(
        _ token: CommitToken, _ session: ServerSession?, _ other: PostgreSQLConnection
    ) throws -> Bool? {
        // The server may not have seen yet that nobody is at the other end; what it has not committed by now it never shall.
        if let session {
            _ = try other.rows(ServerText.endSession, [.integer(session.process), .text(session.start)])
        } else if other.traits.marksWriters {
            _ = try other.rows(ServerText.endSessionOfWriter, [.integer(writer)])
        }
        switch token {
        case .noted(let number):
            // Waits for the transaction that has the row; one that has not come so far comes to nothing from now on.
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
