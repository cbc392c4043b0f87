import CSQLite
import CoreDataSQL
import Foundation
import Synchronization

/// A state of a database that others have gone on from: one connection, in a read transaction that stays open.
///
/// SQLite shows a reader of a file with a write-ahead log what was committed when its transaction began, whoever commits later,
/// in this process or another. The transaction ends when nobody holds this object any more, or when the state is given up because
/// the log has become too long:
///
/// ```
///             nobody holds it
///    open ───────────────────────▶ the connection serves the next state
///      │ the log is too long, the database is closed or moved
///      └──────────────▶ given up: reading fails with SQLFailure.Kind.stateGone, and never shows anything newer
/// ```
/// Whoever reads waits for others who do; calls may be nested on one thread.
final class PinnedDatabase: SQLDatabase, @unchecked Sendable {
    // Safe because `turn` is held by whoever uses the connection, and `open` guards who closes it.

    let dialect: SQLDialect
    private let base: SQLiteDatabase
    /// Where the log stood; `nil` where that is not known, since somebody committed meanwhile.
    private let state: WriteAheadLogIndex.State?
    private let turn = NSRecursiveLock()
    /// How deeply the thread is in calls that has the turn.
    private var depth = 0
    private let isGivenUp = Atomic<Bool>(false)
    /// The connection until it is closed: to be interrupted, and for its view of the log.
    private let open: Mutex<SQLiteConnection?>

    /// The connection has its transaction.
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

    /// Whether nobody has committed since.
    var isNewest: Bool {
        guard let state, !isGivenUp.load(ordering: .acquiring) else { return false }
        return open.withLock { $0?.logIndex?.state == state }
    }

    /// How long the log is now; 0 for a state that stands in no log's way.
    var logByteCount: Int { open.withLock { $0?.logIndex?.state.logByteCount ?? 0 } }

    /// Ends the transaction, now or when whoever reads at the moment has finished; `waits` for that.
    func giveUp(waits: Bool) {
        isGivenUp.store(true, ordering: .releasing)
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
            if depth == 0, isGivenUp.load(ordering: .acquiring) { closeConnection() }
        }
        guard !isGivenUp.load(ordering: .acquiring), let connection = open.withLock({ $0 }) else { throw Self.gone }
        // Without its transaction the connection would show what is there now.
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
        // Nobody else reads with the connection meanwhile.
        turn.lock()
        defer { turn.unlock() }
        let connection = open.withLock { $0 }
        let outer = connection?.state.stop
        connection?.state.stop = StatementStop(isStopped)
        defer { connection?.state.stop = outer }
        return try body()
    }

    /// SQLite has ended the transaction by itself.
    private func lost() -> SQLFailure {
        isGivenUp.store(true, ordering: .releasing)
        return Self.gone
    }

    func pinned() throws -> (any SQLDatabase)? { self }

    // MARK: What a former state has not

    private static var readOnly: SQLFailure { .misuse("a former state of a database was to be changed") }

    @discardableResult
    func write<R>(_ body: (any SQLConnection) throws -> R, committed: (R) -> Void) throws -> R { throw Self.readOnly }

    @discardableResult
    func writeWithoutTransaction<R>(_ body: (any SQLConnection) throws -> R) throws -> R { throw Self.readOnly }

    func move(to path: String, check: (any SQLConnection) throws -> Void) throws { throw Self.readOnly }
    func analyze() throws { throw Self.readOnly }
    func vacuum() throws { throw Self.readOnly }

    func close() { giveUp(waits: true) }
    func interrupt() { open.withLock { if let handle = $0?.handle { sqlite3_interrupt(handle) } } }
    func setObserver(_ observer: (any SQLObserver)?) { base.setObserver(observer) }
    func addObserver(_ observer: any SQLObserver) { base.addObserver(observer) }
    func removeObserver(_ observer: any SQLObserver) { base.removeObserver(observer) }
    func note(_ text: @autoclosure () -> String) { base.note(text()) }
    /// The schema is what it was when the state was pinned.
    func setSchemaCheck(_ check: (@Sendable (any SQLConnection) throws -> Void)?) {}
    func makeCommitCounter() throws -> (any SQLCommitCounter)? { nil }
    func integrityProblems() throws -> [String] { try base.integrityProblems() }
    func plan(of query: SQLText) throws -> [String] { try base.plan(of: query) }
    func settings() throws -> [String: String] { try base.settings() }
}
