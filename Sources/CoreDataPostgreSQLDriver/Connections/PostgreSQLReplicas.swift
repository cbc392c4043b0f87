import CoreDataSQL
import Foundation
import Synchronization

/// Read replicas of a server, which serve reads whenever they have all data that this program has seen.
///
/// ```
///  waiting ── is the replica up to date? ──▶ reading from it ── a write ──▶ waiting
///     ▲            no: read from the server           │
///     └── next replica, or a pause ◀── connection lost ┘
/// ```
/// Only one replica is used at a time, so that a reader never sees an older state than before.
final class PostgreSQLReplicas: Sendable {
    private struct State {
        var current: PostgreSQLDatabase?
        /// The index of the next replica to try.
        var index = 0
        var retry: ContinuousClock.Instant
        var isOpening = false
        var isClosed = false
        /// The number of events that a replica must contain, and the number that the current one is known to contain.
        var goal = 1
        var reached = 0
        var observer: (any SQLObserver)?
        var check: (@Sendable (any SQLConnection) throws -> Void)?
    }

    private let options: [PostgreSQLOptions]
    /// Guards the state of the replicas.
    private let state: Mutex<State>
    private let clock: PostgreSQLClock
    /// The pause before a lost replica is tried again.
    private static let pause = Duration.seconds(5)

    init(_ options: PostgreSQLOptions) {
        self.options = options.address.replicas.map { options.options(ofReplica: $0) }
        clock = options.clock
        state = Mutex(State(retry: options.clock.now()))
    }

    /// Makes replicas unused for reads until they contain the server's current state.
    func wait() { state.withLock { $0.goal += 1 } }

    /// Returns a replica that contains everything in `server` that this program has seen; `nil` if the server itself
    /// must be read.
    func choose(_ server: PostgreSQLDatabase) -> PostgreSQLDatabase? {
        guard let replica = current(server) else {
            wait()
            return nil
        }
        if replica.isReading { return replica }
        let goal = state.withLock { $0.goal }
        if state.withLock({ $0.reached >= goal }) { return replica }
        do {
            // Query the position after the event that the replica must contain.
            guard let position = try server.ask(ServerText.position) else { return nil }
            if try read(replica, { try replica.ask(ServerText.hasReached, [position]) }) == .integer(1) {
                state.withLock { if $0.current === replica { $0.reached = max($0.reached, goal) } }
                return replica
            }
        } catch {
            server.note("reads are the server's own: \(error)")
        }
        // The replica must later contain what is now read from the server.
        wait()
        return nil
    }

    /// Reads from a replica, and removes it if its connection is lost.
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
            // Other replicas are tried at once.
            state.retry = state.index == 0 ? clock.deadline(in: Self.pause) : clock.now()
            return true
        }
        // Other readers of this replica notice the loss themselves.
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
    /// Verifies, with the next read, that the server is still a replica: after a promotion it is a different store.
    func expectReplica() throws {
        let statement = try statement(ServerText.isReplica)
        defer { statement.reset() }
        try statement.runLater(expecting: 1) {
            throw SQLFailure(kind: .disconnected, code: 0, message: "the replica follows its server no longer")
        }
    }
}
