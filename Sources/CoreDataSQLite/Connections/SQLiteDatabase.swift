import CSQLite
import CoreDataSQL
import Foundation

/// A SQLite file, or a database in memory, that is open.
///
/// A file has one connection that writes and a few that read, each in a transaction of its own: readers see the last
/// committed state and do not wait for the writer. The first one is opened as the writer is, so that a file which
/// cannot be written shows at once, and then reads; the writer is opened by the first write. A database in memory (and a file with `locking_mode`
/// EXCLUSIVE) has one connection, which readers and the writer take in turns.
///
///     let database = try SQLiteDatabase(SQLiteOptions(path: "/data/Shop.sqlite"))
///     try database.write { try $0.execute("CREATE TABLE …") }
///
/// Calls may be nested on one thread: a read in a read shares its connection and its state; a read in a write of a file
/// sees the last committed state; a write in a write fails.
package final class SQLiteDatabase: SQLDatabase, @unchecked Sendable {
    // Safe because `condition` guards every variable below; connections are lent to one thread at a time.

    package let options: SQLiteOptions
    package let capabilities: SQLCapabilities

    private let condition = NSCondition()
    /// The connections that were opened to read, and those of them that nobody uses.
    private var readers: [SQLiteConnection] = []
    private var idleReaders: [SQLiteConnection] = []
    /// Places taken by connections that are being opened.
    private var openingCount = 0
    /// The connection that writes, once somebody has written.
    private var writer: SQLiteConnection?
    private var isWriting = false
    private var writingThread: pthread_t?
    /// How deeply the writing thread has entered the only connection.
    private var depth = 0
    private var loans: [Loan] = []
    private var observer: (any SQLObserver)?
    private var isClosed = false

    /// A connection in the hands of a reading thread.
    private struct Loan {
        var thread: pthread_t
        var connection: SQLiteConnection
    }

    /// Opens the database, and creates the file if it is missing and the options allow it.
    ///
    /// - Throws: ``SQLFailure`` that names the file, for one that is missing, no database, or may not be opened.
    package init(_ options: SQLiteOptions) throws {
        self.options = options
        let first = try SQLiteConnection(options, role: options.usesOneConnection ? .both : .writer)
        let limit = sqlite3_limit(first.handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1)
        capabilities = SQLCapabilities(maximumBindings: Int(limit))
        if options.usesOneConnection {
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
        try read(body) { try $0.withoutTransaction(endsStatements: true, body) }
    }

    /// Runs `body` on the connection that the thread has, else as `run` does on a reader.
    private func read<R>(
        _ body: (any SQLConnection) throws -> R, _ run: (SQLiteConnection) throws -> R
    ) throws -> R {
        if options.usesOneConnection {
            let (writer, isOutermost) = try enterWriter(nesting: true)
            defer { leaveWriter(fromWrite: false) }
            return try writer.withoutTransaction(endsStatements: isOutermost, body)
        }
        if let connection = try connectionInHand() { return try body(connection) }
        let connection = try borrowReader()
        defer { giveBack(connection) }
        return try run(connection)
    }

    @discardableResult
    package func write<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        let (writer, isOutermost) = try enterWriter(nesting: false)
        defer { leaveWriter(fromWrite: true) }
        writer.state.reports.removeAll(keepingCapacity: true)
        return try writer.writeTransaction(endsStatements: isOutermost, body)
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
        condition.withLock { self.observer = observer }
    }

    package func interrupt() {
        condition.withLock {
            guard !isClosed else { return }
            for reader in readers { sqlite3_interrupt(reader.handle) }
            if let writer { sqlite3_interrupt(writer.handle) }
        }
    }

    package func close() {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { return }
        isClosed = true
        condition.broadcast()
        // Whoever closes from inside a call would wait for itself.
        let thread = pthread_self()
        while loans.contains(where: { pthread_equal($0.thread, thread) == 0 }) || openingCount > 0
            || (isWriting && !isWriter(thread))
        {
            condition.wait()
        }
        closeIdleConnections()
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
        condition.lock()
        let entered = Result { try takeWriter(nesting: nesting) }
        let (known, observer) = (writer, observer)
        condition.unlock()
        let isOutermost = try entered.get()
        if let known { return (known, isOutermost) }
        // Opening takes a while: readers go on. Nobody else opens it meanwhile, since this thread writes.
        do {
            let opened = try openWriter()
            opened.state.observer = observer
            condition.withLock { writer = opened }
            return (opened, isOutermost)
        } catch {
            leaveWriter(fromWrite: !nesting)
            throw error
        }
    }

    /// A file that was moved or replaced since is another one: what was read from the old one must not be written there.
    private func openWriter() throws -> SQLiteConnection {
        var options = options
        options.createsFile = false
        var hasMoved: Int32 = 0
        let reader = condition.withLock { readers.first }
        if let reader { sqlite3_file_control(reader.handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) }
        guard hasMoved == 0 else {
            throw SQLFailure(
                kind: .cannotOpen, code: Int(SQLITE_CANTOPEN),
                message: "the file '\(options.path ?? "")' was moved or replaced while it was open")
        }
        return try SQLiteConnection(options, role: .writer)
    }

    /// Whether the thread has the writing connection for the first time. The lock must be held.
    private func takeWriter(nesting: Bool) throws -> Bool {
        try checkOpen()
        let thread = pthread_self()
        if isWriting, isWriter(thread) {
            guard nesting || (options.usesOneConnection && !isInWrite) else {
                throw SQLFailure.misuse("a write was begun inside a write")
            }
            depth += 1
            if !nesting { isInWrite = true }
            return false
        }
        while isWriting {
            condition.wait()
            try checkOpen()
        }
        isWriting = true
        isInWrite = !nesting
        depth = 1
        writingThread = thread
        writer?.state.observer = observer
        return true
    }

    /// Whether a write is among the calls that the writing thread is in.
    private var isInWrite = false

    private func leaveWriter(fromWrite: Bool) {
        condition.lock()
        defer { condition.unlock() }
        depth -= 1
        if fromWrite { isInWrite = false }
        guard depth == 0 else { return }
        isWriting = false
        writingThread = nil
        if isClosed { closeIdleConnections() }
        condition.broadcast()
    }

    // MARK: Readers

    private func connectionInHand() throws -> SQLiteConnection? {
        condition.lock()
        defer { condition.unlock() }
        guard !loans.isEmpty else { return nil }
        let thread = pthread_self()
        return loans.first { pthread_equal($0.thread, thread) != 0 }?.connection
    }

    private func borrowReader() throws -> SQLiteConnection {
        condition.lock()
        try waitForReader()
        if let connection = idleReaders.popLast() {
            lend(connection)
            condition.unlock()
            return connection
        }
        openingCount += 1
        condition.unlock()
        // Opening takes a while: the others go on.
        let opened = Result { try SQLiteConnection(options, role: .reader) }
        condition.lock()
        defer { condition.unlock() }
        openingCount -= 1
        guard case .success(let connection) = opened else {
            condition.broadcast()
            return try opened.get()
        }
        readers.append(connection)
        lend(connection)
        return connection
    }

    /// Waits, with the lock held, for a connection or a place for one; unlocks when it throws.
    private func waitForReader() throws {
        do {
            try checkOpen()
            while idleReaders.isEmpty, readers.count + openingCount >= max(1, options.readerCount) {
                condition.wait()
                try checkOpen()
            }
        } catch {
            condition.unlock()
            throw error
        }
    }

    private func lend(_ connection: SQLiteConnection) {
        connection.state.observer = observer
        loans.append(Loan(thread: pthread_self(), connection: connection))
    }

    private func giveBack(_ connection: SQLiteConnection) {
        condition.lock()
        defer { condition.unlock() }
        loans.removeAll { $0.connection === connection }
        idleReaders.append(connection)
        if isClosed { closeIdleConnections() }
        condition.broadcast()
    }

    private func checkOpen() throws {
        if isClosed { throw SQLFailure.misuse("the database is closed") }
    }
}
