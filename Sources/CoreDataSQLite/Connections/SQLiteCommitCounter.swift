import CSQLite
import CoreDataSQL
import Synchronization

/// Counts commits with `PRAGMA data_version` on a connection that never writes: the value changes after each commit of
/// another connection.
final class SQLiteCommitCounter: SQLCommitCounter {
    /// Guards the connection, which is `nil` after closing.
    private let connection: Mutex<SQLiteConnection?>

    init(_ options: SQLiteOptions) throws { connection = Mutex(try SQLiteConnection(options, role: .reader)) }

    func value() throws -> Int64 {
        try connection.withLock { connection in
            guard let connection else { throw SQLFailure.misuse("the database is closed") }
            let statement = try connection.statement("PRAGMA data_version")
            defer { statement.reset() }
            return try statement.step() ? statement.integer(0) : 0
        }
    }

    func close() {
        connection.withLock { connection in
            connection?.close()
            connection = nil
        }
    }
}

extension SQLiteDatabase {
    package func makeCommitCounter() throws -> (any SQLCommitCounter)? {
        guard options.path != nil, !options.usesOneConnection else { return nil }
        return try SQLiteCommitCounter(options)
    }
}
