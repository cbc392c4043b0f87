import CSQLite
import CoreDataSQL
import Foundation
import Synchronization

/// A snapshot of a database: one connection with a read transaction that stays open.
///
/// SQLite shows a reader of a file in WAL mode the state that was committed when its transaction began. Later commits,
/// in this process or another, do not change it. The transaction ends when this object is released, or when the
/// snapshot is invalidated because the log has become too long:
///
/// ```
///             released
///     open ───────────────────────▶ the connection serves the next snapshot
///       │     the log is too long, the database is closed or moved
///       └──────────────▶ invalidated: reading fails with SQLFailure.Kind.stateGone, and never shows newer data
/// ```
/// Readers use the connection one at a time; calls may be nested on one thread.
final class PinnedDatabase: SQLDatabase, @unchecked Sendable {
    // Safe because the thread that uses the connection holds `turn`, and `open` guards its closing.

    let dialect: SQLDialect
    private let base: SQLiteDatabase
    /// The log's position; `nil` if it is unknown, because another client committed while the transaction began.
    private let state: WriteAheadLogIndex.State?
    private let turn = NSRecursiveLock()
    /// The nesting depth of the calls of the thread that holds `turn`.
    private var depth = 0
    private let isInvalidated = Atomic<Bool>(false)
    /// The connection until it is closed; used to interrupt it and to read its view of the log.
    private let open: Mutex<SQLiteConnection?>

    /// Makes a snapshot from a connection whose transaction is already open.
    init(_ base: SQLiteDatabase, _ connection: SQLiteConnection, _ state: WriteAheadLogIndex.State?) {
        self.base = base
        self.state = state
        dialect = base.dialect
        open = Mutex(connection)
    }

    deinit {
        if let connection = open.withLock({ $0 }) {
            connection.endReading()
            base.states.offer(connection)
        }
        base.states.countRelease()
    }

    /// Whether no client has committed since.
    var isNewest: Bool {
        guard let state, !isInvalidated.load(ordering: .acquiring) else { return false }
        return open.withLock { $0?.logIndex?.state == state }
    }

    /// The current length of the log; 0 if this snapshot does not prevent its reset.
    var logByteCount: Int { open.withLock { $0?.logIndex?.state.logByteCount ?? 0 } }

    /// Ends the transaction now, or when the current reader has finished; `waits` decides whether the call waits for
    /// that.
    func invalidate(waits: Bool) {
        isInvalidated.store(true, ordering: .releasing)
        if waits { turn.lock() } else if !turn.try() { return }
        defer { turn.unlock() }
        if depth == 0 { closeConnection() }
    }

    private func closeConnection() {
        let connection = open.withLock { open in
            defer { open = nil }
            return open
        }
        connection?.close()
    }

    private static var gone: SQLFailure {
        SQLFailure(
            // SQLITE_BUSY_SNAPSHOT
            kind: .stateGone, code: Int(SQLITE_BUSY | 2 << 8),
            message:
                "the query generation is no longer kept: the store was closed or moved, or its log grew beyond the limit"
        )
    }

    // MARK: Reading

    @discardableResult
    func read<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        turn.lock()
        defer { turn.unlock() }
        depth += 1
        defer {
            depth -= 1
            if depth == 0, isInvalidated.load(ordering: .acquiring) { closeConnection() }
        }
        guard !isInvalidated.load(ordering: .acquiring), let connection = open.withLock({ $0 }) else { throw Self.gone }
        // Without its transaction, the connection would show the current state.
        guard sqlite3_get_autocommit(connection.handle) == 0 else { throw lost() }
        if depth == 1 { connection.state.observer = base.observer }
        defer { if depth == 1 { connection.resetStatements() } }
        let result = try body(connection)
        guard sqlite3_get_autocommit(connection.handle) == 0 else { throw lost() }
        return result
    }

    @discardableResult
    func readStatement<R>(_ body: (any SQLConnection) throws -> R) throws -> R { try read(body) }

    func stopping<R>(when isStopped: @escaping @Sendable () -> Bool, _ body: () throws -> R) throws -> R {
        // Prevents other threads from reading with the connection meanwhile.
        turn.lock()
        defer { turn.unlock() }
        let connection = open.withLock { $0 }
        let outer = connection?.state.stop
        connection?.state.stop = StatementStop(isStopped)
        defer { connection?.state.stop = outer }
        return try body()
    }

    /// Handles a transaction that SQLite ended by itself.
    private func lost() -> SQLFailure {
        isInvalidated.store(true, ordering: .releasing)
        return Self.gone
    }

    func pinned() throws -> (any SQLDatabase)? { self }

    // MARK: Operations that a snapshot does not support

    private static var readOnly: SQLFailure { .misuse("a former state of a database was to be changed") }

    @discardableResult
    func write<R>(_ body: (any SQLConnection) throws -> R, committed: (R) -> Void) throws -> R { throw Self.readOnly }

    @discardableResult
    func writeWithoutTransaction<R>(_ body: (any SQLConnection) throws -> R) throws -> R { throw Self.readOnly }

    func move(to path: String, check: (any SQLConnection) throws -> Void) throws { throw Self.readOnly }
    func analyze() throws { throw Self.readOnly }
    func vacuum() throws { throw Self.readOnly }

    func close() { invalidate(waits: true) }
    func interrupt() { open.withLock { if let handle = $0?.handle { sqlite3_interrupt(handle) } } }
    func setObserver(_ observer: (any SQLObserver)?) { base.setObserver(observer) }
    func addObserver(_ observer: any SQLObserver) { base.addObserver(observer) }
    func removeObserver(_ observer: any SQLObserver) { base.removeObserver(observer) }
    func note(_ text: @autoclosure () -> String) { base.note(text()) }
    /// The schema is that of the time when the snapshot was pinned.
    func setSchemaCheck(_ check: (@Sendable (any SQLConnection) throws -> Void)?) {}
    func makeCommitCounter() throws -> (any SQLCommitCounter)? { nil }
    func integrityProblems() throws -> [String] { try base.integrityProblems() }
    func plan(of query: SQLText) throws -> [String] { try base.plan(of: query) }
    func settings() throws -> [String: String] { try base.settings() }
}
