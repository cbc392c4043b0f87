import CSQLite
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Synchronization

/// A SQLite file, or a database in memory, that is open.
///
/// A file has one connection that writes and a few that read, each in a transaction of its own: readers see the last
/// committed state and do not wait for the writer. The first one is opened as the writer is, so that a file which
/// cannot be written shows at once, and then reads; the writer is opened by the first write. A database in memory (and
/// a file with `locking_mode` EXCLUSIVE) has one connection, which readers and the writer take in turns.
///
///     let database = try SQLiteDatabase(SQLiteOptions(path: "/data/Shop.sqlite"))
///     try database.write { try $0.execute("CREATE TABLE …") }
///
/// Calls may be nested on one thread: a read in a read shares its connection and its state; a read in a write of a file
/// sees the last committed state; a write in a write fails.
package final class SQLiteDatabase: SQLDatabase, @unchecked Sendable {
    // Safe because the lock owns all that changes; connections are lent to one thread at a time.

    typealias Pool = ConnectionPool<SQLiteConnection>

    /// What the threads share.
    struct Shared {
        var pool: Pool
        var options: SQLiteOptions
        /// The file that the connections have open.
        var file: OpenDatabaseFiles.Identity?
        /// Tells all that observe.
        var observer: (any SQLObserver)?
        /// The one that was set, and those that were added.
        var observers: (set: (any SQLObserver)?, added: [any SQLObserver]) = (nil, []) {
            didSet { observer = SQLObservers.combining((observers.set.map { [$0] } ?? []) + observers.added) }
        }
        /// Threads whose statements somebody may stop, the last one last.
        var stops: [(client: Pool.Client, stop: StatementStop)] = []
        /// Of the threads that wait for what somebody will give back.
        var waiters: [DispatchSemaphore] = []
        var isSweepScheduled = false
    }

    package var options: SQLiteOptions { shared.withLock { $0.options } }
    package let dialect: SQLDialect
    private let usesOneConnection: Bool
    let schemaWatch = SchemaWatch()
    /// Held for a moment only: who has to wait for a connection does so by one of the waiters.
    private let shared: Mutex<Shared>
    /// The former states that somebody holds.
    let states = PinnedStates()

    /// Opens the database, and creates the file if it is missing and the options allow it.
    ///
    /// - Throws: ``SQLFailure`` that names the file, for one that is missing, no database, or may not be opened.
    package init(_ options: SQLiteOptions) throws {
        usesOneConnection = options.usesOneConnection
        let first = try SQLiteConnection(
            options, role: usesOneConnection ? .both : .writer, leavesFile: options.isLookedAtFirst)
        let limit = sqlite3_limit(first.handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1)
        dialect = options.dialect.binding(atMost: Int(limit))
        if !usesOneConnection { try first.becomeReader() }
        shared = Mutex(
            Shared(
                pool: Pool(first, usesOneConnection: usesOneConnection, readerLimit: options.readerCount),
                options: options, file: first.openFile))
        // Who opens the database looks at the schema by this connection.
        if !usesOneConnection { first.watchSchema(schemaWatch, isNew: false) }
    }

    deinit { closeIdleConnections() }

    @discardableResult
    package func read<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        try read(body) { try $0.readTransaction(body) }
    }

    @discardableResult
    package func readStatement<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        try read(body) { connection in
            // Sparing a transaction is worth something only where another statement follows soon.
            if connection.countsAsBurst() { return try connection.burstTransaction(body) }
            return try connection.withoutTransaction(endsStatements: true, body)
        }
    }

    /// Runs `body` on the connection that the thread has, else as `run` does on a reader.
    private func read<R>(
        _ body: (any SQLConnection) throws -> R, _ run: (SQLiteConnection) throws -> R
    ) throws -> R {
        if usesOneConnection {
            let (writer, isOutermost) = try enterWriter(isWrite: false)
            defer { leaveWriter(fromWrite: false) }
            if isOutermost, let stop = shared.withLock({ $0.stop(of: Self.client) }) { writer.state.stop = stop }
            defer { if isOutermost, writer.state.stop != nil { writer.state.stop = nil } }
            return try writer.withoutTransaction(endsStatements: isOutermost, body)
        }
        let (connection, isInHand) = try takeReader()
        if isInHand { return try body(connection) }
        defer { giveBack(connection) }
        return try run(connection)
    }

    @discardableResult
    package func write<R>(_ body: (any SQLConnection) throws -> R, committed: (R) -> Void) throws -> R {
        let (writer, isOutermost) = try enterWriter(isWrite: true)
        defer { leaveWriter(fromWrite: true, writer) }
        writer.state.reports.removeAll(keepingCapacity: true)
        let result = try writer.writeTransaction(endsStatements: isOutermost, body)
        committed(result)
        states.checkLog(of: writer, options)
        return result
    }

    @discardableResult
    package func writeWithoutTransaction<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        let (writer, isOutermost) = try enterWriter(isWrite: true)
        defer { leaveWriter(fromWrite: true, writer) }
        writer.state.reports.removeAll(keepingCapacity: true)
        defer { states.checkLog(of: writer, options) }
        return try writer.withoutTransaction(endsStatements: isOutermost, body)
    }

    package func prepareFile() throws {
        let options = options
        guard options.isLookedAtFirst, !options.isReadOnly, options.path != nil else { return }
        if usesOneConnection {
            let (only, _) = try enterWriter(isWrite: false)
            defer { leaveWriter(fromWrite: false) }
            return try only.prepareFile(options)
        }
        let (first, isInHand) = try takeReader()
        defer { if !isInHand { giveBack(first) } }
        try first.prepareFile(options)
    }

    package func setObserver(_ observer: (any SQLObserver)?) {
        shared.withLock { $0.observers.set = observer }
    }

    package func addObserver(_ observer: any SQLObserver) {
        shared.withLock { $0.observers.added.append(observer) }
    }

    package func removeObserver(_ observer: any SQLObserver) {
        shared.withLock { shared in shared.observers.added.removeAll { $0 === observer } }
    }

    package func note(_ text: @autoclosure () -> String) {
        let observer = shared.withLock { $0.observer }
        observer?.note(text())
    }

    package func interrupt() {
        shared.withLock { shared in
            guard !shared.pool.isClosed else { return }
            for connection in shared.pool.connections { sqlite3_interrupt(connection.handle) }
        }
        states.interrupt()
    }

    package func stopping<R>(when isStopped: @escaping @Sendable () -> Bool, _ body: () throws -> R) throws -> R {
        let (client, stop) = (Self.client, StatementStop(isStopped))
        shared.withLock { $0.stops.append((client, stop)) }
        defer { shared.withLock { shared in shared.stops.removeAll { $0.stop === stop } } }
        return try body()
    }

    /// Who is shown the statements that begin from now on.
    var observer: (any SQLObserver)? { shared.withLock { $0.observer } }

    package func close() {
        let isFirst = shared.withLock { shared in
            shared.wake()
            return shared.pool.close()
        }
        guard isFirst else { return }
        states.giveUpAll(waits: true, closes: true)
        let client = Self.client
        while let waiter = shared.withLock({ shared -> DispatchSemaphore? in
            if shared.pool.isInUse(besidesBy: client) { return shared.newWaiter() }
            shared.closeIdleConnections()
            return nil
        }) { waiter.wait() }
    }

    /// Has that connection be the first of a new pool, once nobody uses the old one.
    func takePlace(with first: SQLiteConnection, _ options: SQLiteOptions) throws {
        let client = Self.client
        while let waiter = try shared.withLock({ shared throws -> DispatchSemaphore? in
            if shared.pool.isClosed { throw Self.closed }
            if shared.pool.isInUse(besidesBy: client) { return shared.newWaiter() }
            if shared.pool.isInUse(by: client) {
                throw SQLFailure.misuse("a database was moved while it was being read")
            }
            shared.closeIdleConnections()
            states.giveUpAll(waits: false)
            shared.options = options
            shared.file = first.openFile
            shared.pool = Pool(
                first, usesOneConnection: usesOneConnection, readerLimit: options.readerCount)
            shared.wake()
            return nil
        }) { waiter.wait() }
    }

    private func closeIdleConnections() {
        shared.withLock { $0.closeIdleConnections() }
    }

    @inline(__always)
    private static var client: Pool.Client { Pool.Client(number: UInt(truncatingIfNeeded: pthread_self())) }

    private static var closed: SQLFailure { .misuse("the database is closed") }

    // MARK: The writer

    /// Takes the writing connection, waiting for it. Tells whether the thread has it for the first time.
    private func enterWriter(isWrite: Bool) throws -> (SQLiteConnection, isOutermost: Bool) {
        let client = Self.client
        while true {
            var observer: (any SQLObserver)?
            var waiter: DispatchSemaphore?
            var bursting: [SQLiteConnection] = []
            let entry = shared.withLock { shared in
                let entry = shared.pool.enterWriter(client, isWrite: isWrite)
                observer = shared.observer
                switch entry {
                case .taken(let writer, true):
                    // A writer's log can begin anew only without the transactions that idle readers have left open.
                    bursting = shared.pool.lendIdle(to: client) { $0.hasOpenBurst }
                    writer?.state.observer = shared.observer
                case .mustWait: waiter = shared.newWaiter()
                case .taken, .isInWrite, .isClosed: break
                }
                return entry
            }
            endBursts(of: bursting)
            switch entry {
            case .taken(let writer?, let isOutermost): return (writer, isOutermost)
            case .taken(nil, let isOutermost): return (try openWriter(for: observer, fromWrite: isWrite), isOutermost)
            case .mustWait: waiter?.wait()
            case .isInWrite: throw SQLFailure.misuse("a write was begun inside a write")
            case .isClosed: throw Self.closed
            }
        }
    }

    private func openWriter(for observer: (any SQLObserver)?, fromWrite: Bool) throws -> SQLiteConnection {
        // Opening takes a while: readers go on. Nobody else opens it meanwhile, since this thread writes.
        do {
            let opened = try openWriter()
            opened.state.observer = observer
            shared.withLock { $0.pool.didOpenWriter(opened) }
            return opened
        } catch {
            leaveWriter(fromWrite: fromWrite)
            throw error
        }
    }

    /// A file that was moved or replaced since is another one: what was read from the old one must not be written there.
    private func openWriter() throws -> SQLiteConnection {
        var (options, file) = shared.withLock { ($0.options, $0.file) }
        options.createsFile = false
        // The readers' connections are other threads' at the moment, or closed by them.
        guard let path = options.path, let file, OpenDatabaseFiles.Identity(path: path) == file else {
            throw SQLFailure(
                kind: .cannotOpen, code: Int(SQLITE_CANTOPEN),
                message: "the file '\(options.path ?? "")' was moved or replaced while it was open")
        }
        return try SQLiteConnection(options, role: .writer)
    }

    private func leaveWriter(fromWrite: Bool, _ writer: SQLiteConnection? = nil) {
        shared.withLock { shared in
            shared.pool.leaveWriter(fromWrite: fromWrite)
            guard !shared.pool.isWriting else { return }
            // The only connection may be the database itself: its next user ends what it is stuck in.
            if let writer, writer.isStuck, !usesOneConnection {
                shared.pool.discardWriter()
                writer.close()
            }
            if shared.pool.isClosed { shared.closeIdleConnections() }
            shared.wake()
        }
    }

    // MARK: Readers

    /// The connection that the thread reads with already, or one that is lent to it from now on.
    ///
    /// Reading a single row takes the lock twice, here and in ``giveBack(_:)``.
    private func takeReader() throws -> (connection: SQLiteConnection, isInHand: Bool) {
        let client = Self.client
        while true {
            var waiter: DispatchSemaphore?
            let entry = shared.withLock { shared in
                let entry = shared.pool.enterReader(client)
                switch entry {
                case .lent(let connection): shared.prepare(connection, client)
                case .mustWait: waiter = shared.newWaiter()
                case .inHand, .mayOpen, .isClosed: break
                }
                return entry
            }
            switch entry {
            case .inHand(let connection): return (connection, true)
            case .lent(let connection): return (connection, false)
            case .mayOpen: return (try openReader(for: client), false)
            case .mustWait: waiter?.wait()
            case .isClosed: throw Self.closed
            }
        }
    }

    /// Opening takes a while: the others go on.
    private func openReader(for client: Pool.Client) throws -> SQLiteConnection {
        let options = options
        let opened = Result { try SQLiteConnection(options, role: .reader) }
        if case .success(let connection) = opened { connection.watchSchema(schemaWatch, isNew: true) }
        shared.withLock { shared in
            shared.pool.didOpenReader(try? opened.get(), for: client)
            if case .success(let connection) = opened { shared.prepare(connection, client) } else { shared.wake() }
        }
        return try opened.get()
    }

    private func giveBack(_ connection: SQLiteConnection) {
        var sweeps = false
        while !shared.withLock({ shared in
            if connection.hasOpenBurst {
                // A transaction ends outside the lock, which everybody needs who reads.
                if shared.pool.isWriting { return false }
                sweeps = shared.beginSweep()
            }
            if connection.state.stop != nil { connection.state.stop = nil }
            if connection.isStuck {
                shared.pool.discard(connection)
                connection.close()
            } else {
                shared.pool.giveBack(connection)
            }
            if shared.pool.isClosed { shared.closeIdleConnections() }
            shared.wake()
            return true
        }) { connection.endBurst() }
        if sweeps { scheduleSweep() }
    }

    // MARK: Bursts

    /// Looks after open transactions a moment after the last reads.
    private func scheduleSweep() {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(Ticks.longestBurst)) {
            [weak self] in self?.sweep()
        }
    }

    private func sweep() {
        let (client, ticks) = (Self.client, Ticks.now - Int64(Ticks.longestBurst))
        endBursts(
            of: shared.withLock { shared in
                shared.isSweepScheduled = false
                return shared.pool.lendIdle(to: client) { $0.hasOpenBurst && $0.lastLoan <= ticks }
            })
        let goesOn = shared.withLock { shared in
            shared.pool.idleReaders.contains { $0.hasOpenBurst } && shared.beginSweep()
        }
        if goesOn { scheduleSweep() }
    }

    /// Ends the transactions of connections that are lent to the caller for that, and gives them back.
    ///
    /// Outside the lock, which everybody needs who reads: to end one asks the system, and whoever observes its statement may take a while.
    private func endBursts(of connections: [SQLiteConnection]) {
        guard !connections.isEmpty else { return }
        for connection in connections { connection.endBurst() }
        shared.withLock { shared in
            for connection in connections { shared.pool.giveBack(connection) }
            if shared.pool.isClosed { shared.closeIdleConnections() }
            shared.wake()
        }
    }
}
