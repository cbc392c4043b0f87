import CSQLite
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
    // Safe because `lock` guards every variable below; connections are lent to one thread at a time.

    package let options: SQLiteOptions
    /// Whether one connection both reads and writes.
    private let usesOneConnection: Bool
    package let capabilities: SQLCapabilities

    /// Held for a moment only: who has to wait for a connection does so by one of `waiters`.
    private let lock = Mutex(())
    // Nothing is called while one of these changes: to have each access checked for overlaps too would cost a tenth of what
    // reading a row does.

    /// The connections that were opened to read, and those of them that nobody uses.
    @exclusivity(unchecked) private var readers: [SQLiteConnection] = []
    @exclusivity(unchecked) private var idleReaders: [SQLiteConnection] = []
    /// Places taken by connections that are being opened.
    @exclusivity(unchecked) private var openingCount = 0
    /// The connection that writes, once somebody has written.
    @exclusivity(unchecked) private var writer: SQLiteConnection?
    @exclusivity(unchecked) private var isWriting = false
    @exclusivity(unchecked) private var writingThread: pthread_t?
    /// How deeply the writing thread has entered the only connection.
    @exclusivity(unchecked) private var depth = 0
    /// How many connections are in the hands of reading threads.
    @exclusivity(unchecked) private var loanCount = 0
    @exclusivity(unchecked) private var observer: (any SQLObserver)?
    @exclusivity(unchecked) private var isClosed = false
    /// Of the threads that wait for what somebody will give back; see ``wake()``.
    @exclusivity(unchecked) private var waiters: [DispatchSemaphore] = []
    @exclusivity(unchecked) private var isSweepScheduled = false

    /// Opens the database, and creates the file if it is missing and the options allow it.
    ///
    /// - Throws: ``SQLFailure`` that names the file, for one that is missing, no database, or may not be opened.
    package init(_ options: SQLiteOptions) throws {
        self.options = options
        usesOneConnection = options.usesOneConnection
        let first = try SQLiteConnection(options, role: usesOneConnection ? .both : .writer)
        let limit = sqlite3_limit(first.handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1)
        capabilities = SQLCapabilities(maximumBindings: Int(limit))
        if usesOneConnection {
            writer = first
        } else {
            try first.becomeReader()
            readers = [first]
            idleReaders = [first]
        }
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
            let (writer, isOutermost) = try enterWriter(nesting: true)
            defer { leaveWriter(fromWrite: false) }
            return try writer.withoutTransaction(endsStatements: isOutermost, body)
        }
        let (connection, isInHand) = try takeReader()
        if isInHand { return try body(connection) }
        defer { giveBack(connection) }
        return try run(connection)
    }

    @discardableResult
    package func write<R>(_ body: (any SQLConnection) throws -> R, committed: (R) -> Void) throws -> R {
        let (writer, isOutermost) = try enterWriter(nesting: false)
        defer { leaveWriter(fromWrite: true) }
        writer.state.reports.removeAll(keepingCapacity: true)
        let result = try writer.writeTransaction(endsStatements: isOutermost, body)
        committed(result)
        return result
    }

    @discardableResult
    package func writeWithoutTransaction<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        let (writer, isOutermost) = try enterWriter(nesting: false)
        defer { leaveWriter(fromWrite: true) }
        writer.state.reports.removeAll(keepingCapacity: true)
        return try writer.withoutTransaction(endsStatements: isOutermost, body)
    }

    package func integrityProblems() throws -> [String] {
        try read { connection in
            let rows = try connection.rows("PRAGMA integrity_check")
            return rows.compactMap { row in
                guard case .text(let problem)? = row.first, problem != "ok" else { return nil }
                return problem
            }
        }
    }

    package func setObserver(_ observer: (any SQLObserver)?) {
        lock.withLock { _ in self.observer = observer }
    }

    package func interrupt() {
        lock.withLock { _ in
            guard !isClosed else { return }
            for reader in readers { sqlite3_interrupt(reader.handle) }
            if let writer { sqlite3_interrupt(writer.handle) }
        }
    }

    package func close() {
        let isFirst = lock.withLock { _ in
            defer { isClosed = true }
            wake()
            return !isClosed
        }
        guard isFirst else { return }
        while let waiter = lock.withLock({ _ in closeUnlessInUse() }) { waiter.wait() }
    }

    /// Closes what is left, or tells what to wait for. The lock must be held.
    private func closeUnlessInUse() -> DispatchSemaphore? {
        // Whoever closes from inside a call would wait for itself.
        let thread = pthread_self()
        let isInUse =
            loanCount > (connectionOf(thread) == nil ? 0 : 1) || openingCount > 0 || (isWriting && !isWriter(thread))
        if isInUse { return newWaiter() }
        closeIdleConnections()
        return nil
    }

    /// Closes what nobody uses; what the closing thread itself still uses is closed when it is given back. The
    /// writer goes last: the last connection to close empties the log into the file.
    private func closeIdleConnections() {
        for reader in idleReaders { reader.close() }
        readers.removeAll { reader in idleReaders.contains { $0 === reader } }
        idleReaders.removeAll()
        guard readers.isEmpty, !isWriting else { return }
        writer?.close()
        writer = nil
    }

    // MARK: The writer

    private func isWriter(_ thread: pthread_t) -> Bool {
        guard let writingThread else { return false }
        return pthread_equal(writingThread, thread) != 0
    }

    /// Takes the writing connection, waiting for it; `nesting` lets the thread that has it in again. Tells
    /// whether the thread has it for the first time.
    private func enterWriter(nesting: Bool) throws -> (SQLiteConnection, isOutermost: Bool) {
        while true {
            switch try lock.withLock({ _ in try takeWriter(nesting: nesting) }) {
            case .taken(let writer?, let isOutermost, _): return (writer, isOutermost)
            case .taken(nil, let isOutermost, let observer):
                return (try openWriter(for: observer, fromWrite: !nesting), isOutermost)
            case .mustWait(let waiter): waiter.wait()
            }
        }
    }

    /// What a thread that asks for the writing connection gets.
    private enum WriterEntry {
        /// The connection, if it is open, and whether the thread has it for the first time.
        case taken(SQLiteConnection?, isOutermost: Bool, (any SQLObserver)?)
        case mustWait(DispatchSemaphore)
    }

    private func openWriter(for observer: (any SQLObserver)?, fromWrite: Bool) throws -> SQLiteConnection {
        // Opening takes a while: readers go on. Nobody else opens it meanwhile, since this thread writes.
        do {
            let opened = try openWriter()
            opened.state.observer = observer
            lock.withLock { _ in writer = opened }
            return opened
        } catch {
            leaveWriter(fromWrite: fromWrite)
            throw error
        }
    }

    /// A file that was moved or replaced since is another one: what was read from the old one must not be written there.
    private func openWriter() throws -> SQLiteConnection {
        var options = options
        options.createsFile = false
        var hasMoved: Int32 = 0
        let reader = lock.withLock { _ in readers.first }
        if let reader { sqlite3_file_control(reader.handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) }
        guard hasMoved == 0 else {
            throw SQLFailure(
                kind: .cannotOpen, code: Int(SQLITE_CANTOPEN),
                message: "the file '\(options.path ?? "")' was moved or replaced while it was open")
        }
        return try SQLiteConnection(options, role: .writer)
    }

    /// The lock must be held.
    private func takeWriter(nesting: Bool) throws -> WriterEntry {
        try checkOpen()
        let thread = pthread_self()
        if isWriting, isWriter(thread) {
            guard nesting || (usesOneConnection && !isInWrite) else {
                throw SQLFailure.misuse("a write was begun inside a write")
            }
            depth += 1
            if !nesting { isInWrite = true }
            return .taken(writer, isOutermost: false, observer)
        }
        if isWriting { return .mustWait(newWaiter()) }
        isWriting = true
        endBursts()
        isInWrite = !nesting
        depth = 1
        writingThread = thread
        writer?.state.observer = observer
        return .taken(writer, isOutermost: true, observer)
    }

    /// Whether a write is among the calls that the writing thread is in.
    @exclusivity(unchecked) private var isInWrite = false

    private func leaveWriter(fromWrite: Bool) {
        lock.withLock { _ in
            depth -= 1
            if fromWrite { isInWrite = false }
            guard depth == 0 else { return }
            isWriting = false
            writingThread = nil
            if isClosed { closeIdleConnections() }
            wake()
        }
    }

    // MARK: Readers

    /// What a thread that asks for a connection to read with gets.
    private enum ReaderEntry {
        /// The one that it reads with already.
        case inHand(SQLiteConnection)
        case lent(SQLiteConnection)
        /// A place for one that it opens itself.
        case mayOpen
        case mustWait(DispatchSemaphore)
    }

    /// The connection that the thread reads with already, or one that is lent to it from now on.
    ///
    /// Reading a single row takes the lock twice, here and in ``giveBack(_:)``.
    private func takeReader() throws -> (connection: SQLiteConnection, isInHand: Bool) {
        while true {
            switch try lock.withLock({ _ in try enterReader() }) {
            case .inHand(let connection): return (connection, true)
            case .lent(let connection): return (connection, false)
            case .mayOpen: return (try openReader(), false)
            case .mustWait(let waiter): waiter.wait()
            }
        }
    }

    /// The lock must be held.
    private func enterReader() throws -> ReaderEntry {
        if loanCount > 0, let connection = connectionOf(pthread_self()) { return .inHand(connection) }
        try checkOpen()
        if let connection = idleReaders.popLast() {
            lend(connection)
            return .lent(connection)
        }
        guard readers.count + openingCount < max(1, options.readerCount) else { return .mustWait(newWaiter()) }
        openingCount += 1
        return .mayOpen
    }

    /// The connection that the thread reads with, with the lock held.
    private func connectionOf(_ thread: pthread_t) -> SQLiteConnection? {
        readers.first { $0.borrower.map { pthread_equal($0, thread) != 0 } ?? false }
    }

    /// Opening takes a while: the others go on.
    private func openReader() throws -> SQLiteConnection {
        let opened = Result { try SQLiteConnection(options, role: .reader) }
        return try lock.withLock { _ in
            openingCount -= 1
            guard case .success(let connection) = opened else {
                wake()
                return try opened.get()
            }
            readers.append(connection)
            lend(connection)
            return connection
        }
    }

    private func lend(_ connection: SQLiteConnection) {
        connection.noteLoan(at: Ticks.now)
        if connection.state.observer != nil || observer != nil { connection.state.observer = observer }
        connection.borrower = pthread_self()
        loanCount += 1
    }

    private func giveBack(_ connection: SQLiteConnection) {
        lock.withLock { _ in
            connection.borrower = nil
            loanCount -= 1
            idleReaders.append(connection)
            if connection.hasOpenBurst {
                if isWriting { connection.endBurst() } else if !isSweepScheduled { scheduleSweep() }
            }
            if isClosed { closeIdleConnections() }
            wake()
        }
    }

    /// What a thread waits for after it has let go of the lock, which must be held; then it asks again.
    private func newWaiter() -> DispatchSemaphore {
        let waiter = DispatchSemaphore(value: 0)
        waiters.append(waiter)
        return waiter
    }

    /// Lets all that wait ask again. The lock must be held.
    private func wake() {
        guard !waiters.isEmpty else { return }
        for waiter in waiters { waiter.signal() }
        waiters.removeAll(keepingCapacity: true)
    }

    // MARK: Bursts

    /// Ends the transactions that idle readers have left open: a writer's log can begin anew only without them.
    private func endBursts(notUsedSince ticks: Int64 = .max) {
        for reader in idleReaders where reader.hasOpenBurst && reader.lastLoan <= ticks { reader.endBurst() }
    }

    /// Looks after open transactions a moment after the last reads.
    private func scheduleSweep() {
        isSweepScheduled = true
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(Ticks.longestBurst)) {
            [weak self] in self?.sweep()
        }
    }

    private func sweep() {
        lock.withLock { _ in
            isSweepScheduled = false
            endBursts(notUsedSince: Ticks.now - Int64(Ticks.longestBurst))
            if idleReaders.contains(where: { $0.hasOpenBurst }) { scheduleSweep() }
        }
    }

    private func checkOpen() throws {
        if isClosed { throw SQLFailure.misuse("the database is closed") }
    }
}
