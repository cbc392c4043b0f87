import CoreDataSQL
import Foundation
import Synchronization

/// A database on a server: connections that read, as many as are asked for at once up to a limit, and one that writes.
///
///     let database = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(url)))
///     try database.write { try $0.execute("CREATE TABLE …") }
///
/// Who reads sees one state of the database, as it is when the first statement runs. Who writes is alone on the whole server
/// (``write(_:committed:)``), or beside others who see to it (``writeBesideOthers(_:committed:)``).
///
/// Calls may be nested on one thread: a read in a read shares its connection and its state; a read in a write sees the last
/// committed state; a write in a write fails.
package final class PostgreSQLDatabase: SQLDatabase, @unchecked Sendable {
    // Safe because the condition guards all that changes; connections are lent to one thread at a time.

    private typealias Pool = ConnectionPool<PostgreSQLConnection>

    package let options: PostgreSQLOptions
    package let dialect: SQLDialect
    /// What the server can, as the first connection found.
    package let traits: ServerTraits
    package let engine: PostgreSQLEngine
    /// Guards what follows, and tells who waits for a connection that there may be one.
    private let condition = NSCondition()
    private var pool: Pool
    private var observers: (set: (any SQLObserver)?, added: [any SQLObserver]) = (nil, [])
    private var observer: (any SQLObserver)?
    /// What the store knows this by, among all who write to it.
    let writer = Int64.random(in: 1...Int64.max)
    private let transactionCount = Atomic<Int64>(0)
    /// Guards the former states that somebody holds.
    private let states = Mutex(PinnedPostgreSQLStates())
    private var schemaCheck: (@Sendable (any SQLConnection) throws -> Void)?
    /// Who is read from instead, as far as may be; `nil` where the URL names nobody.
    private let replicas: PostgreSQLReplicas?

    /// Connects once, so that what is wrong shows at once.
    ///
    /// - Throws: ``SQLFailure`` that names the server and what it says.
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
            let start = Start()
            do { return try replicas.read(replica) { try replica.readHere(body, start) } } catch is SQLFailure
                where !start.hasBegun
            { replicas.wait() }
        }
        return try readHere(body)
    }

    private func readHere<R>(_ body: (any SQLConnection) throws -> R, _ start: Start? = nil) throws -> R {
        try lend(body, start) { connection in
            let isChecked = condition.withLock { schemaCheck != nil }
            let callsNumber = try isChecked && connection.callsSchemaNumber()
            let result = try reading(connection, body)
            // What is read by a transaction's first state is not told by it that there is another since.
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

    /// Looks at the schema as it is now, by itself.
    private func checkSchemaNow(_ connection: PostgreSQLConnection) throws {
        try connection.betweenTransactions(beginning: ServerText.beginReading) {
            try checkSchema(connection)
            try connection.settle()
        }
    }

    /// Has `first` read with a connection of its own, or `body` with the one that the thread reads with already.
    ///
    /// Where the server ends the connection before it has answered anything, nobody has seen anything of that, and another is lent: twice, since it may be the
    /// statement that ends it.
    private func lend<R>(
        _ body: (any SQLConnection) throws -> R, _ start: Start?, _ first: (PostgreSQLConnection) throws -> R
    ) throws -> R {
        var attempts = 1
        while true {
            let (connection, isInHand) = try takeReader()
            start?.hasBegun = true
            if isInHand { return try connection.attempting { try body(connection) } }
            defer { giveBack(connection) }
            let answers = connection.answerCount
            do { return try first(connection) } catch is PostgreSQLConnection.SchemaHasChanged {
                let isUntold = connection.answerCount == answers
                try checkSchemaNow(connection)
                // The model is the same, or the function tells of a change that there was not.
                connection.forgetSchemaNumber()
                guard attempts < 3, isUntold else {
                    throw SQLFailure(
                        kind: .serialization, code: 0, message: "the schema was changed while it was read")
                }
                attempts += 1
            } catch let failure as SQLFailure
                where connection.answerCount == answers && (failure.kind == .disconnected || failure.isOfSchemaNumber)
            {
                if failure.isOfSchemaNumber {
                    // Somebody has taken the function away, or the right to call it: the next attempt does without.
                    connection.forgetSchemaNumber()
                    continue
                }
                start?.hasBegun = false
                // Instead of a replica the server itself is read from.
                guard attempts < 3, !options.isReplica else { throw failure }
                attempts += 1
                note("read again, since the connection has ended: \(failure.message)")
            }
        }
    }

    /// Who is to be read from instead: nobody while the thread reads here, or where nobody else has all that is here.
    private func replica(_ replicas: PostgreSQLReplicas) -> PostgreSQLDatabase? {
        isReading ? nil : replicas.choose(self)
    }

    /// Whether somebody who reads may have been told something: what failed before that is no failure of his.
    private final class Start {
        var hasBegun = false
    }

    /// Whether the calling thread reads.
    var isReading: Bool { condition.withLock { pool.isLent(to: Self.client) } }

    /// The first value of a statement of ``ServerText``, in no transaction that others know of.
    func ask(_ sql: String, _ values: [SQLValue] = []) throws -> SQLValue? {
        let (connection, isInHand) = try takeReader()
        defer { if !isInHand { giveBack(connection) } }
        return try connection.betweenTransactions(beginning: ServerText.beginReading) {
            try connection.rows(sql, values).first?.first
        }
    }

    @discardableResult
    package func readStatement<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        // A statement by itself knows no schema where sessions are not kept.
        guard traits.keepsSessions else { return try read(body) }
        if let replicas, let replica = replica(replicas) {
            let start = Start()
            do { return try replicas.read(replica) { try replica.readStatementHere(body, start) } } catch is SQLFailure
                where !start.hasBegun
            { replicas.wait() }
        }
        return try readStatementHere(body)
    }

    private func readStatementHere<R>(
        _ body: (any SQLConnection) throws -> R, _ start: Start? = nil
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
        try connection.lookForCommits()
        // What was committed is told by the note, where nobody hears of it.
        connection.begin(
            ServerText.beginWriting, commitsAtOnce: atOnce && connection.hasCommits && traits.changesWithinQueries)
        let result: R
        do {
            try lock(connection, alone: alone)
            // On the same way; the server tells it once the transaction is committed.
            if options.tellsOfCommits, traits.listens {
                try connection.runLater(ServerText.tell, [.text(ServerText.channel(options.address.schema))])
            }
            if connection.hasCommits { connection.note(nextNumber(), of: writer) }
            result = try body(connection)
            try connection.settle()
        } catch {
            connection.rollBack()
            // What was in the way has to be looked at as it is.
            replicas?.wait()
            guard var failure = error as? SQLFailure, isToBeTriedAgain(failure, connection) else { throw error }
            failure.kind = .serialization
            throw failure
        }
        defer { replicas?.wait() }
        try commit(connection)
        replicas?.wait()
        committed(result)
        return result
    }

    /// Whether the same may succeed: where somebody has taken a function or a table away, or the right to it, the next attempt does without.
    private func isToBeTriedAgain(_ failure: SQLFailure, _ connection: PostgreSQLConnection) -> Bool {
        if failure.isOfSchemaNumber {
            connection.forgetSchemaNumber()
            return true
        }
        if failure.isOfNotes, connection.hasCommits {
            connection.hasCommits = false
            return true
        }
        return failure.isOfTwoMakers && !traits.locksByNumber
    }

    private func lock(_ connection: PostgreSQLConnection, alone: Bool) throws {
        if traits.marksWriters { try connection.runLater(ServerText.markWriter, [.integer(writer)]) }
        try connection.lock(alone: alone)
    }

    /// Even ones: see ``ServerText/giveUpCommit``.
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

    /// A connection of its own, after some attempts where the server does not answer.
    func open() throws -> PostgreSQLConnection { try Self.open(options, waitsForServer: !options.isReplica) }

    /// - Parameter waitsForServer: whether to try again where nobody answers, too, and not only where the server says that it is not ready.
    static func open(_ options: PostgreSQLOptions, waitsForServer: Bool) throws -> PostgreSQLConnection {
        let deadline = options.clock.deadline(in: options.connectTimeout)
        var backoff = Backoff(first: .milliseconds(50), limit: .seconds(1))
        while true {
            do { return try PostgreSQLConnection(options) } catch let failure as SQLFailure {
                let pause = backoff.next()
                // A wrong password is wrong the next time, too.
                guard failure.mayPass || waitsForServer && failure.isSilence, options.clock.now() + pause < deadline
                else { throw failure }
                options.clock.sleep(pause)
            }
        }
    }

    /// The connection that the thread reads with already, or one that is lent to it from now on.
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

    /// Opens a connection outside the lock, which the caller has: the others go on.
    private func openReader(_ client: Pool.Client) throws -> PostgreSQLConnection {
        condition.unlock()
        let opened = Result { try open() }
        condition.lock()
        // close() did not wait for it.
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
        // The next reader does not wait for a request that was meant for this one.
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

    /// Opens the writing connection outside the lock, which the caller has: readers go on, and nobody else opens it, since the thread writes.
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
        // The next writer does not wait for a request that was meant for this one.
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
        // A connection that is being opened ends when it is open: see ``openReader(_:)``.
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
            // close() may have looked for states before this one was among them.
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
        // Of a connection that waits for nothing a request does nothing.
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

    /// Has replicas be read from again only once they have what is here now.
    func waitForReplicas() { replicas?.wait() }

    /// A server is listened to instead: see ``watchCommits(_:)``.
    package func makeCommitCounter() throws -> (any SQLCommitCounter)? { nil }
}

extension SQLFailure {
    /// Whether a commit could not be noted.
    var isOfNotes: Bool {
        (kind == .readOnly || kind == .unreadable || kind == .missingTable) && sql.map(ServerText.isNote) ?? false
    }

    /// Whether the schema's number could not be had of its function.
    var isOfSchemaNumber: Bool {
        kind != .expectation && !isOfTheMoment && sql.map(ServerText.asksSchemaNumber) ?? false
    }

    /// Whether somebody else has made the same tables at the same time, which only who can lock what is not there yet rules out.
    var isOfTwoMakers: Bool {
        ["42P07", "42P06", "42710"].contains { code == Self.number(ofState: $0) }
            || kind == .constraint && message.contains("pg_")
    }

    /// Whether the server says that to wait a little may help.
    fileprivate var mayPass: Bool {
        kind == .cannotOpen
            && ["starting up", "shutting down", "recovery", "too many", "remaining connection slots"].contains(
                where: message.contains)
    }

    /// Whether nobody answers.
    fileprivate var isSilence: Bool {
        kind == .disconnected
            || kind == .cannotOpen
                && ["Connection refused", "No such file", "timeout", "closed the connection", "reset by peer"].contains(
                    where: message.contains)
    }
}
