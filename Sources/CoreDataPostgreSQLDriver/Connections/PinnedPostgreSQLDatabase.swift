import CoreDataSQL
import Foundation

/// A snapshot of a database: a transaction that stays open on a connection of its own.
///
/// While it is retained, the server keeps old versions of rows that were changed or deleted since.
final class PinnedPostgreSQLDatabase: SQLDatabase, @unchecked Sendable {
    // Safe because the lock guards the connection.

    let dialect: SQLDialect
    /// The identifier of the snapshot.
    let snapshot: String
    private let connection: PostgreSQLConnection
    /// The schema's version according to its function when the snapshot began; `nil` without such a function.
    private let schemaNumber: Int64?
    /// Held by the reading thread; recursive, so that reads can be nested.
    private let lock = NSRecursiveLock()
    private var isClosed = false

    /// Takes ownership of the connection and closes it in the end.
    init(_ connection: PostgreSQLConnection) throws {
        self.connection = connection
        dialect = connection.plannedDialect
        do {
            let callsNumber = try connection.callsSchemaNumber()
            connection.begin(ServerText.beginReading)
            let text = connection.traits.namesSnapshots ? ServerText.snapshot : ServerText.unnamedSnapshot
            guard case .text(let snapshot)? = try connection.rows(text).first?.first else {
                throw SQLFailure.misuse("the server tells of no snapshot")
            }
            self.snapshot = snapshot
            if callsNumber, case .integer(let number)? = try connection.rows(ServerText.selectSchemaNumber).first?.first
            {
                schemaNumber = number
            } else {
                schemaNumber = nil
            }
        } catch {
            connection.close()
            throw error
        }
    }

    deinit { end() }

    private func end() {
        guard !isClosed else { return }
        isClosed = true
        connection.endReading()
        connection.close()
    }

    func close() { lock.withLock { end() } }

    func read<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        try lock.withLock {
            if isClosed || connection.isBroken {
                throw SQLFailure(kind: .stateGone, code: 0, message: "the connection that kept the state is gone")
            }
            do {
                return try connection.withSchemaCheck({
                    if let schemaNumber { try connection.expectSchemaVersion(schemaNumber, otherwise: {}) }
                }) {
                    // A failed statement would abort the transaction, and the snapshot with it.
                    try connection.attempting { try body(connection) }
                }
            } catch is PostgreSQLConnection.SchemaHasChanged {
                // A table that was rewritten meanwhile would appear empty.
                throw SQLFailure(kind: .stateGone, code: 0, message: "the store was migrated or replaced since")
            }
        }
    }

    func readStatement<R>(_ body: (any SQLConnection) throws -> R) throws -> R { try read(body) }

    private static var readOnly: SQLFailure {
        SQLFailure(kind: .readOnly, code: 0, message: "a former state can only be read")
    }

    func write<R>(_ body: (any SQLConnection) throws -> R, committed: (R) -> Void) throws -> R { throw Self.readOnly }
    func writeWithoutTransaction<R>(_ body: (any SQLConnection) throws -> R) throws -> R { throw Self.readOnly }
    func move(to path: String, check: (any SQLConnection) throws -> Void) throws { throw Self.readOnly }
    func analyze() throws { throw Self.readOnly }
    func vacuum() throws { throw Self.readOnly }

    func interrupt() { connection.cancellation.request() }
    func setObserver(_ observer: (any SQLObserver)?) { lock.withLock { connection.observer = observer } }
    func addObserver(_ observer: any SQLObserver) {}
    func removeObserver(_ observer: any SQLObserver) {}
    func note(_ text: @autoclosure () -> String) {}
    func setSchemaCheck(_ check: (@Sendable (any SQLConnection) throws -> Void)?) {}
    func makeCommitCounter() throws -> (any SQLCommitCounter)? { nil }
    func integrityProblems() throws -> [String] { [] }
    func settings() throws -> [String: String] { [:] }

    func plan(of query: SQLText) throws -> [String] { try read { try $0.serverPlan(of: query) } }
}

/// The retained snapshots of one database, each with a connection.
struct PinnedPostgreSQLStates {
    private struct Held {
        weak var database: PinnedPostgreSQLDatabase?
    }

    private var held: [Held] = []

    /// Returns the number of snapshots.
    mutating func count() -> Int {
        held.removeAll { $0.database == nil }
        return held.count
    }

    func state(_ snapshot: String) -> PinnedPostgreSQLDatabase? {
        held.lazy.compactMap(\.database).first { $0.snapshot == snapshot }
    }

    mutating func add(_ database: PinnedPostgreSQLDatabase) { held.append(Held(database: database)) }

    var all: [PinnedPostgreSQLDatabase] { held.compactMap(\.database) }
}
