import CSQLite
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// One connection to a database file.
final class SQLiteConnection: SQLConnection, @unchecked Sendable {
    // Safe because SQLiteDatabase lends a connection to one thread at a time; only `interrupt` may be called by other
    // threads, which SQLite allows.

    enum Role {
        case writer
        case reader
        /// The only connection of its database.
        case both
    }

    private var versionQuery: OpaquePointer?
    /// The size of the file in bytes when a transaction began.
    @exclusivity(unchecked) var knownSize: Int64 = 0
    let dialect: SQLDialect
    let state: ConnectionState
    // One thread at a time holds the connection, and no callback occurs while one of these changes.
    @exclusivity(unchecked) private var cache: StatementCache
    @exclusivity(unchecked) private var transactions: [Transaction: SQLiteStatement] = [:]
    @exclusivity(unchecked) private var companions: [AnyObject?] = []
    /// The statements that ``SQLiteKeyedStatement`` keeps running in a burst.
    @exclusivity(unchecked) private(set) var burstStatements: [SQLiteStatement] = []
    /// The current burst; see ``burstTransaction(_:)``.
    @exclusivity(unchecked) var burst = Burst()
    /// Whether a transaction failed and could not be rolled back.
    @exclusivity(unchecked) private(set) var isStuck = false
    /// The folder of a rollback journal, whose deletion commits a transaction; `nil` in other journal modes.
    @exclusivity(unchecked) private var journalFolder: String?
    /// The index of the file's write-ahead log; available after the first read.
    private(set) lazy var logIndex = WriteAheadLogIndex(of: handle)

    enum Transaction: String {
        case beginDeferred = "BEGIN"
        case beginImmediate = "BEGIN IMMEDIATE"
        case commit = "COMMIT"
    }

    var handle: OpaquePointer { state.database }

    /// Opens and configures the connection and reads the file's header, so that a file that is not a database fails
    /// here.
    ///
    /// - Parameter leavesFile: whether an existing file stays unchanged until ``prepareFile(_:)``.
    init(_ options: SQLiteOptions, role: Role, leavesFile: Bool = false) throws {
        let database = try Self.open(options)
        dialect = options.dialect
        state = ConnectionState(database: database, clock: options.clock)
        cache = StatementCache(capacity: options.statementCacheSize)
        do {
            try configure(options, role: role, leavesFile: leavesFile)
        } catch {
            close()
            throw Self.explained(error, options)
        }
    }

    deinit { state.connection = nil }

    func close() {
        endBurst()
        companions.removeAll()
        burstStatements.removeAll()
        cache.removeAll()
        transactions.removeAll()
        sqlite3_finalize(versionQuery)
        versionQuery = nil
        // Retained statements only keep the memory alive.
        sqlite3_close_v2(handle)
    }

    // MARK: Statements

    func statement(_ sql: String) throws -> any SQLStatement {
        if let cached = cache.statement(sql) { return cached }
        let statement = try SQLiteStatement(sql, state: state)
        cache.insert(statement, for: sql)
        return statement
    }

    func knowsTable(_ name: String, columns: [String]) -> Bool? {
        func knows(_ column: UnsafePointer<CChar>?) -> Bool {
            name.withCString {
                sqlite3_table_column_metadata(handle, "main", $0, column, nil, nil, nil, nil, nil) == SQLITE_OK
            }
        }
        return columns.isEmpty ? knows(nil) : columns.allSatisfy { $0.withCString(knows) }
    }

    /// Returns the schema's version. Observers are not notified, because it is not one of their statements.
    func schemaVersion() throws -> Int64 {
        if versionQuery == nil {
            let code = sqlite3_prepare_v3(
                handle, "PRAGMA schema_version", -1, UInt32(SQLITE_PREPARE_PERSISTENT), &versionQuery, nil)
            guard code == SQLITE_OK else { throw SQLFailure.last(of: handle, code: code) }
        }
        defer { sqlite3_reset(versionQuery) }
        let code = sqlite3_step(versionQuery)
        guard code == SQLITE_ROW else { throw SQLFailure.last(of: handle, code: code) }
        return sqlite3_column_int64(versionQuery, 0)
    }

    func changeSchemaVersion(rowsOf tables: [String]) throws {
        try execute("PRAGMA schema_version = \((try schemaVersion() + 1) & 0x7fff_ffff)")
    }

    func keyedStatement(_ select: SelectStatement, key: String) -> any SQLKeyedStatement {
        SQLiteKeyedStatement(select, key: key, self)
    }

    /// Returns a statement that ``endBurst()`` ends.
    func burstStatement(_ sql: String) throws -> SQLiteStatement {
        let statement = try SQLiteStatement(sql, state: state)
        burstStatements.append(statement)
        return statement
    }

    func execute(_ sql: String) throws {
        let utf8 = sql.utf8CString
        try utf8.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            while let text = next, text.pointee != 0 {
                var pointer: OpaquePointer?
                var tail: UnsafePointer<CChar>?
                let code = try state.prepare { sqlite3_prepare_v2(handle, text, -1, &pointer, &tail) }
                guard code == SQLITE_OK else { throw state.failure(code, sql: sql) }
                next = tail
                // White space and comments produce no statement.
                guard let pointer else { continue }
                let part = Self.trimmed(String(cString: sqlite3_sql(pointer)))
                try SQLiteStatement(part, prepared: pointer, state: state).run()
            }
        }
    }

    /// Returns the statement without surrounding white space and without the semicolon.
    private static func trimmed(_ sql: String) -> String {
        func isStatement(_ byte: UInt8) -> Bool { byte > UInt8(ascii: " ") && byte != UInt8(ascii: ";") }
        let text = sql.utf8
        guard let first = text.firstIndex(where: isStatement), let last = text.lastIndex(where: isStatement) else {
            return ""
        }
        return String(sql[first...last])
    }

    func companion(_ number: Int) -> AnyObject? { number < companions.count ? companions[number] : nil }

    func keep(_ companion: AnyObject, as number: Int) {
        while companions.count <= number { companions.append(nil) }
        companions[number] = companion
    }

    var derivedAttributeReports: [DerivedAttributeReport] { state.reports }

    // MARK: Transactions

    /// Runs `body` on one state of the database.
    func readTransaction<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        endBurst()
        try begin(.beginDeferred)
        defer { endReading() }
        return try body(self)
    }

    /// Runs `body` in a write transaction. A call nested in another one of the same connection must not end the outer
    /// call's statements.
    func writeTransaction<R>(endsStatements: Bool, _ body: (any SQLConnection) throws -> R) throws -> R {
        try begin(.beginImmediate)
        do {
            try checkPlace()
            let result = try body(self)
            if endsStatements { resetStatements() }
            try state.checkTransaction(Transaction.commit.rawValue)
            try transaction(.commit)
            if let journalFolder { _ = DurableFiles.synchronize(folder: journalFolder) }
            state.isInTransaction = false
            return result
        } catch {
            rollBack(endsStatements: endsStatements)
            throw error
        }
    }

    func withoutTransaction<R>(endsStatements: Bool, _ body: (any SQLConnection) throws -> R) throws -> R {
        endBurst()
        if isStuck { try endStuckTransaction() }
        defer { if endsStatements { resetStatements() } }
        return try body(self)
    }

    /// Checks that the file still exists at its path: SQLite would continue to write to a deleted file, and the data
    /// would be lost.
    private func checkPlace() throws {
        var isMoved: Int32 = 0
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &isMoved) == SQLITE_OK, isMoved != 0 else {
            return try checkSize()
        }
        throw SQLFailure(
            kind: .moved, code: Int(SQLITE_READONLY) | 4 << 8, message: "the file is not where it was opened")
    }

    func begin(_ kind: Transaction) throws {
        if isStuck { try endStuckTransaction() }
        state.isDoomed = false
        try transaction(kind)
        state.isInTransaction = true
    }

    /// Ends a transaction that only read; it has no changes to lose, so errors are ignored.
    func endReading() {
        resetStatements()
        state.isInTransaction = false
        state.isDoomed = false
        if (try? transaction(.commit)) == nil { rollBack(endsStatements: true) }
    }

    private func rollBack(endsStatements: Bool) {
        state.isInTransaction = false
        state.isDoomed = false
        isStuck = false
        if endsStatements { resetStatements() }
        guard sqlite3_get_autocommit(handle) == 0 else { return }
        // While another statement runs, an interrupt makes every statement fail, also this one.
        if sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) != SQLITE_OK {
            resetStatements()
            sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
        }
        isStuck = sqlite3_get_autocommit(handle) == 0
    }

    /// Ends a failed transaction before the next one: statements in it would see uncommitted data, or commit them.
    private func endStuckTransaction() throws {
        rollBack(endsStatements: true)
        guard isStuck else { return }
        throw SQLFailure(
            kind: .other, code: Int(sqlite3_extended_errcode(handle)),
            message: "a transaction that failed cannot be rolled back: \(String(cString: sqlite3_errmsg(handle)))")
    }

    private func transaction(_ kind: Transaction) throws {
        let statement: SQLiteStatement
        if let kept = transactions[kind] {
            statement = kept
        } else {
            statement = try SQLiteStatement(kind.rawValue, state: state)
            transactions[kind] = statement
        }
        defer { statement.reset() }
        try statement.run()
    }

    /// Ends statements that a caller left running: an open statement would keep its snapshot of the database.
    func resetStatements() {
        guard state.runningCount > 0 else { return }
        var next = sqlite3_next_stmt(handle, nil)
        while let statement = next {
            sqlite3_reset(statement)
            next = sqlite3_next_stmt(handle, statement)
        }
        state.runningCount = 0
        state.epoch += 1
    }
}

// MARK: - Opening

extension SQLiteConnection {
    private static func open(_ options: SQLiteOptions) throws -> OpaquePointer {
        guard let path = options.path else {
            return try open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY)
        }
        guard !path.utf8.contains(0), !path.isEmpty else {
            throw SQLFailure(
                kind: .cannotOpen, code: Int(SQLITE_CANTOPEN), message: "'\(path)' is no path of a file")
        }
        var status = stat()
        let exists = stat(path, &status) == 0
        // Without search permission for the folder, the existence of the file is unknown.
        let isHidden = !exists && errno == EACCES
        if exists, status.st_mode & S_IFMT == S_IFDIR {
            throw SQLFailure(
                kind: .cannotOpen, code: Int(SQLITE_CANTOPEN), message: "'\(path)' is a directory")
        }
        if !exists, !isHidden, options.isReadOnly || !options.createsFile {
            throw SQLFailure(
                kind: .cannotOpen, code: Int(SQLITE_CANTOPEN), message: "there is no file at '\(path)'")
        }
        if options.isReadOnly {
            return try options.leavesNothing ? openLeavingNothing(path) : openReadOnly(path)
        }
        let database = try open(path, SQLITE_OPEN_READWRITE | (options.createsFile ? SQLITE_OPEN_CREATE : 0))
        // SQLite silently opens a file without write permission as read-only.
        if sqlite3_db_readonly(database, "main") == 1 {
            sqlite3_close_v2(database)
            throw SQLFailure(
                kind: .readOnly, code: Int(SQLITE_READONLY), message: "no permission to write '\(path)'")
        }
        return database
    }

    private func configure(_ options: SQLiteOptions, role: Role, leavesFile: Bool) throws {
        let timeout = options.busyTimeout.components
        let milliseconds = timeout.seconds * 1000 + timeout.attoseconds / 1_000_000_000_000_000
        sqlite3_busy_timeout(handle, Int32(clamping: milliseconds))
        try SQLiteFunctions.registerReplacements(on: state)
        try set("PRAGMA cache_size = -\(max(1, options.cacheByteCount >> 10))")
        let isNew = try schemaVersion() == 0
        let preparesFile = role != .reader && !options.isReadOnly
        if preparesFile, isNew || !leavesFile { try prepareFile(options, isNew: isNew) }
        for (name, value) in options.pragmas.sorted(by: { $0.key < $1.key }) {
            if preparesFile, options.path != nil, Self.preparing.contains(name.lowercased()) { continue }
            try setPragma(name, value, role: role, isReadOnly: options.isReadOnly)
        }
        if role == .reader { try becomeReader() }
        // A read-only file may be incomplete.
        if options.path != nil, !options.isReadOnly { try checkSize(isOpening: true) }
    }

    /// Makes SQLite refuse statements that write.
    func becomeReader() throws { try set("PRAGMA query_only = 1") }

    /// Runs a pragma during setup, before there are observers.
    private func set(_ pragma: String) throws {
        let code = sqlite3_exec(handle, pragma, nil, nil, nil)
        guard code == SQLITE_OK else { throw state.failure(code, sql: pragma) }
    }

    /// The pragmas that ``prepareFile(_:isNew:)`` has already set.
    private static let preparing: Set = ["locking_mode", "journal_mode"]

    /// Prepares a file that was left unchanged for writing.
    func prepareFile(_ options: SQLiteOptions) throws {
        endBurst()
        do { try prepareFile(options, isNew: false) } catch { throw Self.explained(error, options) }
    }

    /// Writes the settings in the file's header; page size and vacuum apply only before the first table exists.
    private func prepareFile(_ options: SQLiteOptions, isNew: Bool) throws {
        if isNew {
            // The order matters: setting the vacuum writes the header.
            for (name, standard) in [("page_size", "4096"), ("encoding", "UTF-8"), ("auto_vacuum", "2")] {
                try setPragma(name, options.pragma(name) ?? standard, role: .writer, isReadOnly: false)
            }
        }
        guard options.path != nil else { return }
        if let mode = options.pragma("locking_mode") {
            try setPragma("locking_mode", mode, role: .writer, isReadOnly: false)
        }
        if isNew || !options.keepsJournal { try setJournal(options) }
        guard options.pragma("synchronous") == nil else { return }
        let mode = try rows("PRAGMA journal_mode" as SQLText).first?.first
        try set(mode == .text("wal") ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL")
        if mode == .text("delete") { journalFolder = options.path.map { ($0 as NSString).deletingLastPathComponent } }
    }

    private func setJournal(_ options: SQLiteOptions) throws {
        if let wanted = options.pragma("journal_mode") {
            return try setPragma("journal_mode", wanted, role: .writer, isReadOnly: false)
        }
        do {
            try set("PRAGMA journal_mode = WAL")
        } catch let failure as SQLFailure where failure.kind == .busy {
            // Another client reads the file in rollback journal mode, so the mode cannot change now.
        }
    }

    private func setPragma(_ name: String, _ value: String, role: Role, isReadOnly: Bool) throws {
        guard SQLIdentifier.isPlain(name) else {
            throw SQLFailure.misuse("'\(name)' is no name of a pragma")
        }
        let changesFile = ["journal_mode", "page_size", "auto_vacuum", "encoding", "application_id", "user_version"]
        if role == .reader || isReadOnly, changesFile.contains(name.lowercased()) { return }
        let text = value.utf8.first == UInt8(ascii: "-") ? value.dropFirst() : Substring(value)
        let isWord = !text.isEmpty && text.utf8.allSatisfy(SQLIdentifier.isWordCharacter)
        var sql: SQLText = "PRAGMA \(identifier: name) = "
        if isWord {
            try set(sql.sql + value)
        } else {
            sql.append(quoted: value)
            try set(sql.sql)
        }
    }

    /// Adds the file's name to a failure that SQLite reports without it.
    private static func explained(_ error: any Error, _ options: SQLiteOptions) -> any Error {
        guard var failure = error as? SQLFailure, let path = options.path else { return error }
        failure.message =
            switch failure.kind {
            case .notADatabase: "'\(path)' is not a SQLite database"
            default: "cannot open '\(path)': \(failure.message)"
            }
        return failure
    }
}
