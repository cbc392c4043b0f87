import CSQLite
import CoreDataSQL
import Foundation
import Synchronization

/// The former states of one database that somebody holds, each with a connection.
///
/// As long as one is held the log only grows, since its beginning may be needed: what it may grow to, and how many states are
/// held, is bounded by the ``SQLiteOptions``. Where the log has become longer all states are given up, for it can begin anew only
/// when nobody reads any of it.
final class PinnedStates: Sendable {
    private struct Held {
        weak var database: PinnedDatabase?
    }

    private struct State {
        /// Oldest first; some may have been let go of.
        var held: [Held] = []
        var isClosed = false

        var databases: [PinnedDatabase] { held.compactMap(\.database) }
    }

    /// Guards the list, also while a state is added.
    private let state = Mutex(State())
    /// A connection that nobody uses at the moment.
    private let spare = Mutex<SQLiteConnection?>(nil)
    private let count = Atomic<Int>(0)

    deinit { takeSpare()?.close() }

    // MARK: Adding

    /// The newest state; the one that is held where nobody has committed since. `nil` where the file has no write-ahead log.
    func pin(_ base: SQLiteDatabase, _ options: SQLiteOptions) throws -> PinnedDatabase? {
        // Let go of outside the lock.
        var present: [PinnedDatabase] = []
        let made = try state.withLock { state throws -> (PinnedDatabase, isFirst: Bool)? in
            if state.isClosed { throw SQLFailure.misuse("the database is closed") }
            present = state.databases
            state.held.removeAll { $0.database == nil }
            if let newest = present.last, newest.isNewest { return (newest, false) }
            if let newest = present.last, newest.logByteCount > options.stateLogByteCount {
                present.forEach { $0.giveUp(waits: false) }
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
        if let made, made.isFirst { scheduleLook(base) }
        return made?.0
    }

    // MARK: Letting go

    func countRelease() { count.wrappingSubtract(1, ordering: .relaxed) }

    /// Keeps a connection for the next state, or closes it.
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

    /// Gives all states up: those that are being read, when that has ended, or waits for it.
    func giveUpAll(waits: Bool, closes: Bool = false) {
        let present = state.withLock { state in
            if closes { state.isClosed = true }
            return state.databases
        }
        for database in present { database.giveUp(waits: waits) }
        takeSpare()?.close()
    }

    func interrupt() {
        for database in state.withLock({ $0.databases }) { database.interrupt() }
    }

    // MARK: The log

    /// After a commit: gives the states up where the log has become too long.
    @inline(__always)
    func checkLog(of writer: SQLiteConnection, _ options: @autoclosure () -> SQLiteOptions) {
        guard count.load(ordering: .relaxed) > 0, let index = writer.logIndex else { return }
        let limit = options().stateLogByteCount
        guard index.state.logByteCount > limit else { return }
        giveUpAll(waits: false)
        // Whoever pins the newest state once all of the log is in the file does not need the log, which then begins anew whoever
        // reads. It is cut to the limit by that.
        sqlite3_exec(writer.handle, "PRAGMA journal_size_limit = \(limit)", nil, nil, nil)
        sqlite3_wal_checkpoint_v2(writer.handle, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }

    /// While states are held, others may write whom nobody here sees.
    private func scheduleLook(_ base: SQLiteDatabase) {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(2)) { [weak base] in
            guard let base else { return }
            let present = base.states.state.withLock { $0.databases }
            guard !present.isEmpty else { return base.states.lookAgain(base) }
            let limit = base.options.stateLogByteCount
            if present.contains(where: { $0.logByteCount > limit }) { base.states.giveUpAll(waits: false) }
            base.states.lookAgain(base)
        }
    }

    private func lookAgain(_ base: SQLiteDatabase) {
        if count.load(ordering: .relaxed) > 0 { scheduleLook(base) }
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
    /// Begins a transaction that sees the newest state and stays open: where the log stood, if nobody committed meanwhile. `nil` where
    /// the file has no log that others share.
    func pin() throws -> (state: WriteAheadLogIndex.State?, Void)? {
        guard try rows("PRAGMA journal_mode" as SQLText).first?.first == .text("wal"), let index = logIndex else {
            return nil
        }
        state.observer = nil
        for attempt in 0..<8 {
            let before = index.state
            try begin(.beginDeferred)
            do {
                // The first read fixes what the transaction sees.
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
