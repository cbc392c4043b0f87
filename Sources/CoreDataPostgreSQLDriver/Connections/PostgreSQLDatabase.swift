import CoreDataSQL
import Foundation
import Synchronization

/// A database on a server: a pool of reading connections up to a limit, and one writing connection.
///
///     let database = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(url)))
///     try database.write { try $0.execute("CREATE TABLE …") }
///
/// A reader sees one state of the database, that of its first statement. A writer locks out all other writers of the
/// server (``write(_:committed:)``), or runs concurrently with writers that verify their rows
/// (``writeBesideOthers(_:committed:)``).
///
/// Calls may be nested on one thread: a read in a read shares its connection and its state; a read in a write sees the
/// last committed state; a write in a write fails.
package final class PostgreSQLDatabase: SQLDatabase, @unchecked Sendable {
    // Safe because the condition guards all mutable state; a connection is lent to one thread at a time.

    private typealias Pool = ConnectionPool<PostgreSQLConnection>

    package let options: PostgreSQLOptions
    package let dialect: SQLDialect
    /// The server's capabilities, as the first connection found them.
    package let traits: ServerTraits
    package let engine: PostgreSQLEngine
    /// Guards the following state; signalled when a connection may be available.
    private let condition = NSCondition()
    private var pool: Pool
    private var observers: (set: (any SQLObserver)?, added: [any SQLObserver]) = (nil, [])
    private var observer: (any SQLObserver)?
    /// Identifies this client among all writers of the store.
    let writer = Int64.random(in: 1...Int64.max)
    private let transactionCount = Atomic<Int64>(0)
    /// Guards the snapshots that clients retain.
    private let states = Mutex(PinnedPostgreSQLStates())
    private var schemaCheck: (@Sendable (any SQLConnection) throws -> Void)?
    /// The replicas for reading; `nil` if the URL names none.
    private let replicas: PostgreSQLReplicas?

    /// Opens one connection, so that errors are detected at once.
    ///
    /// - Throws: ``SQLFailure`` with the server's name and message.
    package init(_ options: PostgreSQLOptions) throws {
        self.options = options
        replicas = options.address.replicas.isEmpty ? nil : PostgreSQLReplicas(options)
        let first = try Self.open(options, waitsForServer: false)
        (dialect, traits, engine) = (first.plannedDialect, first.traits, first.engine)
        pool = Pool(first, usesOneConnection: false, readerLimit: options.readerCount)
        guard traits.defersConstraints || options.address.constraints?.contains(.references) != true else {
            throw SQLFailure(
                kind: .cannotOpen, code: 0,
                message:
                    "constraints=foreign-keys is not for engine=\(engine.rawValue), which looks at them row by row: rows of one save come in any order"
            )
        }
    }

    package var wantedConstraints: ConstraintKinds? { options.isReplica ? nil : options.address.constraints }

    deinit {
        for connection in pool.connections { connection.close() }
    }

    // MARK: Reading

    @discardableResult
    package func read<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        if let replicas, let replica = replica(replicas) {
            let start = ReadProgress()
            do { return try replicas.read(replica) { try replica.readHere(body, start) } } catch is SQLFailure
                where !start.hasBegun
            { replicas.wait() }
        }
        return try readHere(body)
    }

    private func readHere<R>(_ body: (any SQLConnection) throws -> R, _ start: ReadProgress? = nil) throws -> R {
        try lend(body, start) { connection in
            let isChecked = condition.withLock { schemaCheck != nil }
            let callsNumber = try isChecked && connection.callsSchemaNumber()
            let result = try reading(connection, body)
            // The transaction's snapshot does not show a schema change that happened since it began.
            if isChecked, !callsNumber, traits.plansAnew { try checkSchemaNow(connection) }
            return result
        }
    }

    private func reading<R>(_ connection: PostgreSQLConnection, _ body: (any SQLConnection) throws -> R) throws -> R {
        connection.begin(ServerText.beginReading)
        defer { connection.endReading() }
        if options.isReplica { try connection.expectReplica() }
        return try connection.withSchemaCheck({ try checkSchema(connection) }, { try body(connection) })
    }

    /// Checks the current schema version in a separate statement.
    private func checkSchemaNow(_ connection: PostgreSQLConnection) throws {
        try connection.betweenTransactions(beginning: ServerText.beginReading) {
            try checkSchema(connection)
            try connection.settle()
        }
    }

    /// Calls `first` with a connection that is lent for it, or `body` with the connection that the thread already reads
    /// with.
    ///
    /// If the server ends the connection before its first answer, the reader has seen nothing, so the read is retried
    /// with another connection. There are at most two retries, since the statement itself may end the connection.
    private func lend<R>(
        _ body: (any SQLConnection) throws -> R, _ start: ReadProgress?, _ first: (PostgreSQLConnection) throws -> R
    ) throws -> R {
        var attempts = 1
        while true {
            let (connection, isInHand) = try takeReader()
            start?.hasBegun = true
            if isInHand { return try connection.attempting { try body(connection) } }
            defer { giveBack(connection) }
            let answers = connection.answerCount
            do { return try first(connection) } catch is PostgreSQLConnection.SchemaHasChanged {
                let hasNoAnswer = connection.answerCount == answers
                try checkSchemaNow(connection)
                // The model is the same, or the function reported a change that did not happen.
                connection.forgetSchemaNumber()
                guard attempts < 3, hasNoAnswer else {
                    throw SQLFailure(
                        kind: .serialization, code: 0, message: "the schema was changed while it was read")
                }
                attempts += 1
            } catch let failure as SQLFailure
                where connection.answerCount == answers && (failure.kind == .disconnected || failure.isVersionError)
            {
                if failure.isVersionError {
                    // The function was dropped or its permission revoked: the next attempt works without it.
                    connection.forgetSchemaNumber()
                    continue
                }
                start?.hasBegun = false
                // After a failure of a replica, the server itself is read.
                guard attempts < 3, !options.isReplica else { throw failure }
                attempts += 1
                note("read again, since the connection has ended: \(failure.message)")
            }
        }
    }

    /// Returns the replica to read from; `nil` while the thread reads here, or if no replica is up to date.
    private func replica(_ replicas: PostgreSQLReplicas) -> PostgreSQLDatabase? {
        isReading ? nil : replicas.choose(self)
    }

    /// Records whether a reader may have received data: failures before that can be retried elsewhere.
    private final class ReadProgress {
        var hasBegun = false
    }

    /// Whether the calling thread is reading.
    var isReading: Bool { condition.withLock { pool.isLent(to: Self.client) } }

    /// Returns the first value of a statement of ``ServerText``, in a transaction of its own.
    func ask(_ sql: String, _ values: [SQLValue] = []) throws -> SQLValue? {
        let (connection, isInHand) = try takeReader()
        defer { if !isInHand { giveBack(connection) } }
        return try connection.betweenTransactions(beginning: ServerText.beginReading) {
            try connection.rows(sql, values).first?.first
        }
    }

    @discardableResult
    package func readStatement<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        // Without persistent sessions, a single statement has no schema setting.
        guard traits.keepsSessions else { return try read(body) }
        if let replicas, let replica = replica(replicas) {
            let start = ReadProgress()
            do { return try replicas.read(replica) { try replica.readStatementHere(body, start) } } catch is SQLFailure
                where !start.hasBegun
            { replicas.wait() }
        }
        return try readStatementHere(body)
    }

    private func readStatementHere<R>(
        _ body: (any SQLConnection) throws -> R, _ start: ReadProgress? = nil
    ) throws -> R {
        try lend(body, start) { connection in
            if options.isReplica { try connection.expectReplica() }
            return try connection.withSchemaCheck({ try checkSchema(connection) }, { try body(connection) })
        }
    }

    private func checkSchema(_ connection: PostgreSQLConnection) throws {
        guard let check = condition.withLock({ self.schemaCheck }) else { return }
        try check(connection)
    }

    // MARK: Writing

    @discardableResult
    package func write<R>(_ body: (any SQLConnection) throws -> R, committed: (R) -> Void) throws -> R {
        try write(alone: true, atOnce: false, body, committed)
    }

    @discardableResult
    package func writeBesideOthers<R>(
        atOnce: Bool, _ body: (any SQLConnection) throws -> R, committed: (R) -> Void
    ) throws -> R { try write(alone: false, atOnce: atOnce, body, committed) }

    private func write<R>(
        alone: Bool, atOnce: Bool, _ body: (any SQLConnection) throws -> R, _ committed: (R) -> Void
    ) throws -> R {
        let connection = try takeWriter()
        defer { leaveWriter(connection) }
        try connection.detectCommitTable()
        // If the answer to the commit is lost, the recorded note shows whether the transaction was committed.
        connection.begin(
            ServerText.beginWriting, commitsAtOnce: atOnce && connection.hasCommits && traits.changesWithinQueries)
        let result: R
        do {
            try lock(connection, alone: alone)
            // In the same round trip; the server delivers the notification after the commit.
            if options.tellsOfCommits, traits.listens {
                try connection.runLater(ServerText.tell, [.text(ServerText.channel(options.address.schema))])
            }
            if connection.hasCommits { connection.note(nextNumber(), of: writer) }
            result = try body(connection)
            try connection.settle()
        } catch {
            connection.rollBack()
            // The caller must see the conflicting rows in their current state.
            replicas?.wait()
            guard var failure = error as? SQLFailure, isRetryable(failure, connection) else { throw error }
            failure.kind = .serialization
            throw failure
        }
        defer { replicas?.wait() }
        try commit(connection)
        replicas?.wait()
        committed(result)
        return result
    }

    /// Returns whether a retry may succeed: if a function or table was dropped or its permission revoked, the next
    /// attempt works without it.
    private func isRetryable(_ failure: SQLFailure, _ connection: PostgreSQLConnection) -> Bool {
        if failure.isVersionError {
            connection.forgetSchemaNumber()
            return true
        }
        if failure.isCommitRecordError, connection.hasCommits {
            connection.hasCommits = false
            return true
        }
        return failure.isConcurrentCreation && !traits.locksByNumber
    }

    private func lock(_ connection: PostgreSQLConnection, alone: Bool) throws {
        if traits.marksWriters { try connection.runLater(ServerText.markWriter, [.integer(writer)]) }
        try connection.lock(alone: alone)
    }

    /// Returns the next number, an even one: see ``ServerText/giveUpCommit``.
    private func nextNumber() -> Int64 { transactionCount.wrappingAdd(2, ordering: .relaxed).newValue }

    @discardableResult
    package func writeWithoutTransaction<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        let connection = try takeWriter()
        defer { leaveWriter(connection) }
        defer { replicas?.wait() }
        return try body(connection)
    }

    // MARK: Connections

    /// The calling thread.
    private static var client: Pool.Client { Pool.Client(number: UInt(truncatingIfNeeded: pthread_self())) }

    private static var closed: SQLFailure { .misuse("the database is closed") }

    /// Opens a new connection, with retries if the server does not answer.
    func open() throws -> PostgreSQLConnection { try Self.open(options, waitsForServer: !options.isReplica) }

    /// - Parameter waitsForServer: whether to retry also if the server is unreachable, and not only if it reports that
    ///   it is not ready.
    static func open(_ options: PostgreSQLOptions, waitsForServer: Bool) throws -> PostgreSQLConnection {
        let deadline = options.clock.deadline(in: options.connectTimeout)
        var backoff = Backoff(first: .milliseconds(50), limit: .seconds(1))
        while true {
            do { return try PostgreSQLConnection(options) } catch let failure as SQLFailure {
                let pause = backoff.next()
                // A wrong password does not become right by a retry.
                guard failure.isNotReady || waitsForServer && failure.isUnreachable,
                    options.clock.now() + pause < deadline
                else { throw failure }
                options.clock.sleep(pause)
            }
        }
    }

    /// Returns the connection that the thread already reads with, or lends it one.
    private func takeReader() throws -> (connection: PostgreSQLConnection, isInHand: Bool) {
        let client = Self.client
        var deadline: ContinuousClock.Instant?
        condition.lock()
        defer { condition.unlock() }
        while true {
            switch pool.enterReader(client) {
            case .inHand(let connection): return (connection, true)
            case .lent(let connection):
                guard connection.looksAlive() else {
                    pool.discard(connection)
                    connection.close()
                    continue
                }
                connection.observer = observer
                return (connection, false)
            case .mayOpen: return (try openReader(client), false)
            case .mustWait:
                let end = deadline ?? options.clock.deadline(in: options.connectTimeout)
                deadline = end
                guard options.clock.wait(for: condition, until: end) else {
                    throw SQLFailure(
                        kind: .busy, code: 0,
                        message:
                            "all \(options.readerCount) connections to '\(options.address.description)' were in use for \(Int(options.connectTimeout.seconds)) s"
                    )
                }
            case .isClosed: throw Self.closed
            }
        }
    }

    /// Opens a connection while the caller's lock is released, so that other threads continue.
    private func openReader(_ client: Pool.Client) throws -> PostgreSQLConnection {
        condition.unlock()
        let opened = Result { try open() }
        condition.lock()
        // `close()` did not wait for it.
        let connection = pool.isClosed ? nil : try? opened.get()
        pool.didOpenReader(connection, for: client)
        if let connection {
            connection.observer = observer
            return connection
        }
        condition.broadcast()
        try opened.get().close()
        throw Self.closed
    }

    private func giveBack(_ connection: PostgreSQLConnection) {
        // The next reader must not wait for a cancel request that was meant for this one.
        connection.settleCancellation()
        condition.lock()
        defer { condition.unlock() }
        connection.observer = nil
        if connection.isBroken {
            pool.discard(connection)
            connection.close()
        } else {
            pool.giveBack(connection)
        }
        if pool.isClosed { closeIdleConnections() }
        condition.broadcast()
    }

    private func takeWriter() throws -> PostgreSQLConnection {
        let client = Self.client
        var deadline: ContinuousClock.Instant?
        condition.lock()
        defer { condition.unlock() }
        while true {
            switch pool.enterWriter(client, isWrite: true) {
            case .taken(let known, _):
                let connection = try known.flatMap { $0.looksAlive() ? $0 : nil } ?? openWriter(inPlaceOf: known)
                connection.observer = observer
                return connection
            case .mustWait:
                let end = deadline ?? options.clock.deadline(in: options.lockTimeout)
                deadline = end
                guard options.clock.wait(for: condition, until: end) else {
                    throw SQLFailure(kind: .busy, code: 0, message: "another thread has been writing for too long")
                }
            case .isInWrite: throw SQLFailure.misuse("a write was begun inside a write")
            case .isClosed: throw Self.closed
            }
        }
    }

    /// Opens the writing connection while the caller's lock is released: readers continue. No other thread opens it,
    /// since this thread holds the writer.
    private func openWriter(inPlaceOf lost: PostgreSQLConnection?) throws -> PostgreSQLConnection {
        pool.discardWriter()
        lost?.close()
        condition.unlock()
        let opened = Result { try open() }
        condition.lock()
        do {
            let connection = try opened.get()
            pool.didOpenWriter(connection)
            return connection
        } catch {
            pool.leaveWriter(fromWrite: true)
            condition.broadcast()
            throw error
        }
    }

    private func leaveWriter(_ connection: PostgreSQLConnection) {
        // The next writer must not wait for a cancel request that was meant for this one.
        connection.settleCancellation()
        condition.lock()
        defer { condition.unlock() }
        pool.leaveWriter(fromWrite: true)
        connection.observer = nil
        if connection.isBroken {
            pool.discardWriter()
            connection.close()
        }
        if pool.isClosed { closeIdleConnections() }
        condition.broadcast()
    }

    private func closeIdleConnections() { for connection in pool.takeIdle() { connection.close() } }

    package func close() {
        replicas?.close()
        condition.lock()
        defer { condition.unlock() }
        guard pool.close() else { return }
        condition.broadcast()
        for state in states.withLock({ $0.all }) { state.close() }
        // A connection that is being opened is closed after opening: see ``openReader(_:)``.
        while pool.isInUse(besidesBy: Self.client, countsOpening: false) { condition.wait() }
        closeIdleConnections()
    }

    package func pinned() throws -> (any SQLDatabase)? {
        if condition.withLock({ pool.isClosed }) { throw Self.closed }
        guard states.withLock({ $0.count() }) < options.stateCount else {
            throw SQLFailure(
                kind: .tooManyStates, code: 0,
                message:
                    "\(options.stateCount) former states of '\(options.address.description)' are held already, each by a connection"
            )
        }
        let made = try PinnedPostgreSQLDatabase(open())
        let state = states.withLock { states in
            if let same = states.state(made.snapshot) { return same }
            states.add(made)
            return made
        }
        if condition.withLock({ pool.isClosed }) {
            // `close()` may have closed all snapshots before this one was added.
            state.close()
            throw Self.closed
        }
        return state
    }

    package func move(to path: String, check: (any SQLConnection) throws -> Void) throws {
        throw SQLFailure.misuse("a database on a server cannot be moved to the file '\(path)'")
    }

    package func interrupt() {
        replicas?.interrupt()
        // A request has no effect on a connection that waits for nothing.
        for cancellation in condition.withLock({ pool.connections.map(\.cancellation) }) { cancellation.request() }
        for state in states.withLock({ $0.all }) { state.interrupt() }
    }

    // MARK: Observers

    package func setObserver(_ observer: (any SQLObserver)?) { changeObservers { $0.set = observer } }
    package func addObserver(_ observer: any SQLObserver) { changeObservers { $0.added.append(observer) } }
    package func removeObserver(_ observer: any SQLObserver) {
        changeObservers { $0.added.removeAll { $0 === observer } }
    }

    private func changeObservers(
        _ change: (inout (set: (any SQLObserver)?, added: [any SQLObserver])) -> Void
    ) {
        condition.withLock { () -> Void in
            change(&observers)
            observer = SQLObservers.combining((observers.set.map { [$0] } ?? []) + observers.added)
            replicas?.setObserver(observer)
        }
    }

    package func note(_ text: @autoclosure () -> String) {
        let observer = condition.withLock { self.observer }
        observer?.note(text())
    }

    package func setSchemaCheck(_ check: (@Sendable (any SQLConnection) throws -> Void)?) {
        condition.withLock { schemaCheck = check }
        replicas?.setSchemaCheck(check)
    }

    /// Makes replicas unused for reads until they have caught up with the server's current state.
    func waitForReplicas() { replicas?.wait() }

    /// The server is listened to instead: see ``watchCommits(_:)``.
    package func makeCommitCounter() throws -> (any SQLCommitCounter)? { nil }
}

extension SQLFailure {
    /// Whether the failure means that a commit could not be recorded.
    var isCommitRecordError: Bool {
        (kind == .readOnly || kind == .unreadable || kind == .missingTable) && sql.map(ServerText.isNote) ?? false
    }

    /// Whether the failure means that the schema version's function could not be called.
    var isVersionError: Bool {
        kind != .expectation && !isTemporaryFailure && sql.map(ServerText.asksSchemaNumber) ?? false
    }

    /// Whether another client created the same tables concurrently; only advisory locks can prevent that, because the
    /// tables do not exist yet.
    var isConcurrentCreation: Bool {
        ["42P07", "42P06", "42710"].contains { code == Self.number(ofState: $0) }
            || kind == .constraint && message.contains("pg_")
    }

    /// Whether the server reports a temporary condition, so that a retry may succeed.
    fileprivate var isNotReady: Bool {
        kind == .cannotOpen
            && ["starting up", "shutting down", "recovery", "too many", "remaining connection slots"].contains(
                where: message.contains)
    }

    /// Whether the server is unreachable.
    fileprivate var isUnreachable: Bool {
        kind == .disconnected
            || kind == .cannotOpen
                && ["Connection refused", "No such file", "timeout", "closed the connection", "reset by peer"].contains(
                    where: message.contains)
    }
}
