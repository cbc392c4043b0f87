import CSQLite
import CoreDataSQL
import Foundation
import Synchronization

/// The retained snapshots of one database, each with a connection.
///
/// While a snapshot is retained, the log only grows, since its start may be needed. The ``SQLiteOptions`` limit the log
/// and the number of snapshots. If the log exceeds its limit, all snapshots are invalidated, because the log can be
/// reset only when no client reads from it.
final class PinnedStates: Sendable {
    private struct Held {
        weak var database: PinnedDatabase?
    }

    private struct State {
        /// Oldest first; some may have been released.
        var held: [Held] = []
        var isClosed = false

        var databases: [PinnedDatabase] { held.compactMap(\.database) }
    }

    /// Guards the list, also while a snapshot is added.
    private let state = Mutex(State())
    /// A connection that is not in use.
    private let spare = Mutex<SQLiteConnection?>(nil)
    private let count = Atomic<Int>(0)

    deinit { takeSpare()?.close() }

    // MARK: Adding

    /// Returns the newest snapshot; an existing one if no client has committed since. `nil` if the file has no
    /// write-ahead log.
    func pin(_ base: SQLiteDatabase, _ options: SQLiteOptions) throws -> PinnedDatabase? {
        // Released outside the lock.
        var present: [PinnedDatabase] = []
        let made = try state.withLock { state throws -> (PinnedDatabase, isFirst: Bool)? in
            if state.isClosed { throw SQLFailure.misuse("the database is closed") }
            present = state.databases
            state.held.removeAll { $0.database == nil }
            if let newest = present.last, newest.isNewest { return (newest, false) }
            if let newest = present.last, newest.logByteCount > options.stateLogByteCount {
                present.forEach { $0.invalidate(waits: false) }
            } else if present.count >= options.stateCount {
                throw SQLFailure(
                    kind: .tooManyStates, code: Int(SQLITE_BUSY),
                    message: "\(present.count) query generations are held already, as many as may be at once")
            }
            let connection = try takeSpare() ?? SQLiteConnection(options, role: .reader)
            do {
                guard let pin = try connection.pin() else {
                    connection.close()
                    return nil
                }
                let made = PinnedDatabase(base, connection, pin.state)
                state.held.append(Held(database: made))
                return (made, count.wrappingAdd(1, ordering: .relaxed).newValue == 1)
            } catch {
                connection.close()
                throw error
            }
        }
        withExtendedLifetime(present) {}
        if let made, made.isFirst { scheduleLogCheck(base) }
        return made?.0
    }

    // MARK: Releasing

    func countRelease() { count.wrappingSubtract(1, ordering: .relaxed) }

    /// Keeps a connection for the next snapshot, or closes it.
    func offer(_ connection: SQLiteConnection) {
        let isKept = state.withLock { state in
            !state.isClosed
                && spare.withLock { spare in
                    guard spare == nil else { return false }
                    spare = connection
                    return true
                }
        }
        if !isKept { connection.close() }
    }

    private func takeSpare() -> SQLiteConnection? {
        spare.withLock { spare in
            defer { spare = nil }
            return spare
        }
    }

    /// Invalidates all snapshots. Snapshots that are being read end after that; `waits` makes the call wait.
    func invalidateAll(waits: Bool, closes: Bool = false) {
        let present = state.withLock { state in
            if closes { state.isClosed = true }
            return state.databases
        }
        for database in present { database.invalidate(waits: waits) }
        takeSpare()?.close()
    }

    func interrupt() {
        for database in state.withLock({ $0.databases }) { database.interrupt() }
    }

    // MARK: The log

    /// After a commit: invalidates the snapshots if the log is too long.
    @inline(__always)
    func checkLog(of writer: SQLiteConnection, _ options: @autoclosure () -> SQLiteOptions) {
        guard count.load(ordering: .relaxed) > 0, let index = writer.logIndex else { return }
        let limit = options().stateLogByteCount
        guard index.state.logByteCount > limit else { return }
        invalidateAll(waits: false)
        // A snapshot pinned after the whole log is in the file does not need the log, which can then be reset despite
        // that reader. The reset truncates the log to the limit.
        sqlite3_exec(writer.handle, "PRAGMA journal_size_limit = \(limit)", nil, nil, nil)
        sqlite3_wal_checkpoint_v2(writer.handle, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }

    /// Schedules a check of the log: while snapshots are retained, other processes may commit unnoticed.
    private func scheduleLogCheck(_ base: SQLiteDatabase) {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(2)) { [weak base] in
            guard let base else { return }
            let present = base.states.state.withLock { $0.databases }
            guard !present.isEmpty else { return base.states.repeatLogCheck(base) }
            let limit = base.options.stateLogByteCount
            if present.contains(where: { $0.logByteCount > limit }) { base.states.invalidateAll(waits: false) }
            base.states.repeatLogCheck(base)
        }
    }

    private func repeatLogCheck(_ base: SQLiteDatabase) {
        if count.load(ordering: .relaxed) > 0 { scheduleLogCheck(base) }
    }
}

extension SQLiteDatabase {
    package func pinned() throws -> (any SQLDatabase)? {
        let options = options
        guard options.path != nil, !options.usesOneConnection else { return nil }
        return try states.pin(self, options)
    }
}

extension SQLiteConnection {
    /// Begins a transaction that sees the newest state and stays open. Returns the log's position, unless another
    /// client committed meanwhile; `nil` if the file has no shared log.
    func pin() throws -> (state: WriteAheadLogIndex.State?, Void)? {
        guard try rows("PRAGMA journal_mode" as SQLText).first?.first == .text("wal"), let index = logIndex else {
            return nil
        }
        state.observer = nil
        for attempt in 0..<8 {
            let before = index.state
            try begin(.beginDeferred)
            do {
                // The first read fixes the state that the transaction sees.
                _ = try schemaVersion()
            } catch {
                endReading()
                throw error
            }
            if index.state == before { return (before, ()) }
            if attempt < 7 { endReading() }
        }
        return (nil, ())
    }
}
