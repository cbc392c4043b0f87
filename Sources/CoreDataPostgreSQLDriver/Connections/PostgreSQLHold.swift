import CoreDataSQL
import Foundation

/// An advisory lock in a transaction on a separate connection. The transaction form also works behind a transaction
/// pooler.
final class PostgreSQLHold: SQLHold, @unchecked Sendable {
    // Safe because the lock guards the connection.
    private let lock = NSLock()
    private var connection: PostgreSQLConnection?
    private let name: String

    init(_ connection: PostgreSQLConnection, _ name: String) { (self.connection, self.name) = (connection, name) }

    deinit { release() }

    func check() throws {
        try lock.withLock {
            guard let connection else { throw SQLFailure.misuse("'\(name)' was let go") }
            do { try connection.rows(ServerText.isThere) } catch let failure as SQLFailure {
                throw SQLFailure(
                    kind: .disconnected, code: failure.code,
                    message:
                        "the connection that had the turn is lost, so that another program may have it: \(failure.message)"
                )
            }
        }
    }

    func release() {
        lock.withLock {
            connection?.rollBack()
            connection?.close()
            connection = nil
        }
    }
}

extension PostgreSQLDatabase {
    package func hold(_ name: String) throws -> SQLHolding {
        guard traits.locksByNumber else { return .unknown }
        let connection = try open()
        do {
            // For a read-only transaction, the server would keep old row versions.
            connection.begin(ServerText.beginWriting)
            try connection.expectPauses()
            let text = "OpenCoreData \(options.address.schema) \(name)"
            guard try connection.rows(ServerText.tryLock, [.text(text)]).first?.first == .integer(1) else {
                connection.rollBack()
                connection.close()
                return .others
            }
            return .own(PostgreSQLHold(connection, name))
        } catch {
            connection.close()
            throw error
        }
    }
}
