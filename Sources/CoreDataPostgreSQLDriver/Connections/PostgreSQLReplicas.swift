import CoreDataSQL
import Foundation
import Synchronization

/// Servers that follow another, from which is read what need not be newer than they have it.
///
/// ```
///  waiting ── has the replica what the server has? ──▶ reading from it ── something was written ──▶ waiting
///     ▲            no: the server is read from                │
///     └── another one, or the same later ◀── gone ◀── lost ───┘
/// ```
/// One is read from at a time: what a reader has seen does not become older.
final class PostgreSQLReplicas: Sendable {
    private struct State {
        var current: PostgreSQLDatabase?
        /// Of the next one that is tried.
        var index = 0
        var retry: ContinuousClock.Instant
        var isOpening = false
        var isClosed = false
        /// How often something happened that whoever is read from has to have, and up to which of these the current one has it.
        var goal = 1
        var reached = 0
        var observer: (any SQLObserver)?
        var check: (@Sendable (any SQLConnection) throws -> Void)?
    }

    private let options: [PostgreSQLOptions]
    /// Guards what is known of them.
    private let state: Mutex<State>
    private let clock: PostgreSQLClock
    /// How long one that is gone is left alone.
    private static let pause = Duration.seconds(5)

    init(_ options: PostgreSQLOptions) {
        self.options = options.address.replicas.map { options.options(ofReplica: $0) }
        clock = options.clock
        state = Mutex(State(retry: options.clock.now()))
    }

    /// Has nobody be read from who has not what the server has by now.
    func wait() { state.withLock { $0.goal += 1 } }

    /// Who has all that `server` has, as far as this program has to know; `nil` where the server itself is to be asked.
    func choose(_ server: PostgreSQLDatabase) -> PostgreSQLDatabase? {
        guard let replica = current(server) else {
            wait()
            return nil
        }
        if replica.isReading { return replica }
        let goal = state.withLock { $0.goal }
        if state.withLock({ $0.reached >= goal }) { return replica }
        do {
            // Asked of the server after whatever it was that the replica has to have.
            guard let position = try server.ask(ServerText.position) else { return nil }
            if try read(replica, { try replica.ask(ServerText.hasReached, [position]) }) == .integer(1) {
                state.withLock { if $0.current === replica { $0.reached = max($0.reached, goal) } }
                return replica
            }
        } catch {
            server.note("reads are the server's own: \(error)")
        }
        // What is read from the server now the replica has to have, too.
        wait()
        return nil
    }

    /// Reads, and takes leave of who is gone.
    func read<R>(_ replica: PostgreSQLDatabase, _ body: () throws -> R) throws -> R {
        do { return try body() } catch let failure as SQLFailure
            where failure.kind == .disconnected || failure.kind == .cannotOpen
        {
            leave(replica)
            throw failure
        }
    }

    private func leave(_ replica: PostgreSQLDatabase) {
        let isCurrent = state.withLock { state in
            guard state.current === replica else { return false }
            state.current = nil
            state.reached = 0
            state.index = (state.index + 1) % options.count
            // The others are tried at once.
            state.retry = state.index == 0 ? clock.deadline(in: Self.pause) : clock.now()
            return true
        }
        // Whoever reads from it still finds out for himself.
        if isCurrent { Thread.detachNewThread { replica.close() } }
    }

    private func current(_ server: PostgreSQLDatabase) -> PostgreSQLDatabase? {
        let (known, index) = state.withLock { state -> (PostgreSQLDatabase?, Int?) in
            if state.current != nil || state.isOpening || state.isClosed || state.retry > clock.now() {
                return (state.current, nil)
            }
            state.isOpening = true
            return (nil, state.index)
        }
        guard let index else { return known }
        let opened = Result { try PostgreSQLDatabase(options[index]) }
        let replica = try? opened.get()
        if case .failure(let error) = opened { server.note("a replica is not to be had: \(error)") }
        let isWanted = state.withLock { state in
            state.isOpening = false
            guard let replica, !state.isClosed else {
                state.index = (state.index + 1) % options.count
                state.retry = state.index == 0 ? clock.deadline(in: Self.pause) : clock.now()
                return false
            }
            state.current = replica
            state.reached = 0
            replica.setObserver(state.observer)
            replica.setSchemaCheck(state.check)
            return true
        }
        if !isWanted { replica?.close() }
        return isWanted ? replica : nil
    }

    func setObserver(_ observer: (any SQLObserver)?) {
        state.withLock { state in
            state.observer = observer
            state.current?.setObserver(observer)
        }
    }

    func setSchemaCheck(_ check: (@Sendable (any SQLConnection) throws -> Void)?) {
        state.withLock { state in
            state.check = check
            state.current?.setSchemaCheck(check)
        }
    }

    func interrupt() { state.withLock { $0.current }?.interrupt() }

    func close() {
        let replica = state.withLock { state -> PostgreSQLDatabase? in
            state.isClosed = true
            defer { state.current = nil }
            return state.current
        }
        replica?.close()
    }
}

extension PostgreSQLConnection {
    /// Sees, with what is read next, that the server follows another still: one that does not any more is another store.
    func expectReplica() throws {
        let statement = try statement(ServerText.isReplica)
        defer { statement.reset() }
        try statement.runLater(expecting: 1) {
            throw SQLFailure(kind: .disconnected, code: 0, message: "the replica follows its server no longer")
        }
    }
}
