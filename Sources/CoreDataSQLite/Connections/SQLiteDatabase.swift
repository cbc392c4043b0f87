import CSQLite
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Synchronization

/// An open SQLite file, or a database in memory.
///
/// A file has one writing connection and several readers, each with its own transaction: readers see the last committed
/// state and do not wait for the writer. The first connection is opened like the writer, so that a missing write
/// permission is detected at once; then it becomes a reader. The first write opens the writer. A database in memory
/// (and a file with `locking_mode` EXCLUSIVE) has one connection, which readers and the writer use one at a time.
///
///     let database = try SQLiteDatabase(SQLiteOptions(path: "/data/Shop.sqlite"))
///     try database.write { try $0.execute("CREATE TABLE …") }
///
/// Calls may be nested on one thread: a read in a read shares its connection and state; a read in a write of a file
/// sees the last committed state; a write in a write fails.
package final class SQLiteDatabase: SQLDatabase, @unchecked Sendable {
    // Safe because the lock guards all mutable state; a connection is lent to one thread at a time.

    typealias Pool = ConnectionPool<SQLiteConnection>

    /// The state that the threads share.
    struct Shared {
        var pool: Pool
        var options: SQLiteOptions
        /// The file that the connections have open.
        var file: OpenDatabaseFiles.Identity?
        /// Notifies all observers.
        var observer: (any SQLObserver)?
        /// The observer that was set, and those that were added.
        var observers: (set: (any SQLObserver)?, added: [any SQLObserver]) = (nil, []) {
            didSet { observer = SQLObservers.combining((observers.set.map { [$0] } ?? []) + observers.added) }
        }
        /// Threads whose statements can be stopped, the most recent last.
        var stops: [(client: Pool.Client, stop: StatementStop)] = []
        /// The semaphores of the threads that wait for a connection.
        var waiters: [DispatchSemaphore] = []
        var isSweepScheduled = false
    }

    package var options: SQLiteOptions { shared.withLock { $0.options } }
    package let dialect: SQLDialect
    private let usesOneConnection: Bool
    let schemaWatch = SchemaWatch()
    /// Held only briefly: a thread that must wait for a connection uses one of the waiters.
    private let shared: Mutex<Shared>
    /// The pinned snapshots that clients retain.
    let states = PinnedStates()

    /// Opens the database, and creates the file if it is missing and the options allow it.
    ///
    /// - Throws: ``SQLFailure`` with the file's name if the file is missing, is not a database, or cannot be opened.
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
        // The client that opens the database reads the schema through this connection.
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
            // Avoiding a transaction pays off only if another statement follows soon.
            if connection.countsAsBurst() { return try connection.burstTransaction(body) }
            return try connection.withoutTransaction(endsStatements: true, body)
        }
    }

    /// Runs `body` on the connection that the thread holds, or with `run` on a reader.
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

    package func synchronize() throws {
        guard let path = options.path else { return }
        try SQLiteFile.synchronizeCommits(of: path)
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

    /// The observer of statements that begin from now on.
    var observer: (any SQLObserver)? { shared.withLock { $0.observer } }

    package func close() {
        let isFirst = shared.withLock { shared in
            shared.wake()
            return shared.pool.close()
        }
        guard isFirst else { return }
        states.invalidateAll(waits: true, closes: true)
        let client = Self.client
        while let waiter = shared.withLock({ shared -> DispatchSemaphore? in
            if shared.pool.isInUse(besidesBy: client) { return shared.newWaiter() }
            shared.closeIdleConnections()
            return nil
        }) { waiter.wait() }
    }

    /// Makes the connection the first of a new pool, after the old connections are no longer in use.
    func replaceConnections(with first: SQLiteConnection, _ options: SQLiteOptions) throws {
        let client = Self.client
        while let waiter = try shared.withLock({ shared throws -> DispatchSemaphore? in
            if shared.pool.isClosed { throw Self.closed }
            if shared.pool.isInUse(besidesBy: client) { return shared.newWaiter() }
            if shared.pool.isInUse(by: client) {
                throw SQLFailure.misuse("a database was moved while it was being read")
            }
            shared.closeIdleConnections()
            states.invalidateAll(waits: false)
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

    /// Acquires the writing connection, waiting if necessary. Returns whether this is the thread's outermost call.
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
                    // The log can be reset only without the transactions that idle readers left open.
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
        // Opening takes time: readers continue. No other thread opens it meanwhile, since this thread holds the writer.
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

    /// Opens the writer. A file that was moved or replaced is another database: data read from the old one must not be
    /// written there.
    private func openWriter() throws -> SQLiteConnection {
        var (options, file) = shared.withLock { ($0.options, $0.file) }
        options.createsFile = false
        // The readers' connections may be in use by other threads, or closed by them.
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
            // The only connection may be the database itself: its next user ends the stuck transaction.
            if let writer, writer.isStuck, !usesOneConnection {
                shared.pool.discardWriter()
                writer.close()
            }
            if shared.pool.isClosed { shared.closeIdleConnections() }
            shared.wake()
        }
    }

    // MARK: Readers

    /// Returns the connection that the thread already reads with, or lends it one.
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

    /// Opening takes time: other threads continue.
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
                // Transactions are ended outside the lock, which every reader needs.
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

    /// Schedules a check for open transactions shortly after the last reads.
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

    /// Ends the transactions of connections that were lent for that, and returns the connections.
    ///
    /// This happens outside the lock, which every reader needs: ending a transaction makes system calls, and an
    /// observer of its statement may take time.
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
