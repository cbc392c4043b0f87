import CSQLite
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// Operations on whole SQLite files.
///
/// ```
///  lock:     leave WAL mode (fails if another connection has the log open) ──▶ exclusive lock until closing
///  empty:    lock ──▶ truncate
///  replace:  read transaction on the source ──▶ lock ──▶ sqlite3_backup: one transaction of the destination
///  note:     open, idle: blocks no other client ──▶ … ──▶ lock: the same connection detects commits of others
/// ```
package enum SQLiteFile: SQLDatabaseFile {
    package static func empty(_ options: DatabaseOptions, whileLocked: () throws -> Void) throws {
        guard let path = options.path else { return }
        let database: OpaquePointer?
        do { database = try openAlone(path, options, creates: false) } catch let failure as SQLFailure {
            // A damaged file cannot be locked, but must be emptied too.
            guard [.corrupt, .notADatabase].contains(failure.kind), isDatabase(path) else { throw failure }
            database = nil
        }
        defer { sqlite3_close_v2(database) }
        // By path: closing a descriptor of the file would release SQLite's locks on it.
        guard truncate(path, 0) == 0 else { throw unwritable(path, errno) }
        // The files of external data are deleted next: the rows that name them must not come back.
        guard synchronize(database, path) else { throw unwritable(path, EIO) }
        for suffix in ["-wal", "-shm", "-journal"] { unlink(path + suffix) }
        try whileLocked()
    }

    /// Synchronises the database file through SQLite's handle, since closing another one would release its locks.
    private static func synchronize(_ database: OpaquePointer?, _ path: String) -> Bool {
        guard let database, let file = SQLiteConnection.file(of: database, SQLITE_FCNTL_FILE_POINTER) else {
            guard let file = StoreFileDescriptor(path, O_RDWR) else { return false }
            return withExtendedLifetime(file) { DurableFiles.synchronize(file.number) == 0 }
        }
        return file.pointee.pMethods.pointee.xSync(file, SQLITE_SYNC_NORMAL) == SQLITE_OK
    }

    /// Writes all commits to the disk. In WAL mode, they are in the log. In the other modes, the deletion of the
    /// journal is an entry of the folder. Neither file has locks that closing it here could release.
    static func synchronizeCommits(of path: String) throws {
        var code = DurableFiles.synchronize(file: path + "-wal")
        // Without a log, all commits are in the database file.
        if code == 0 || code == ENOENT {
            code = DurableFiles.synchronize(folder: URL(fileURLWithPath: path).deletingLastPathComponent().path)
        }
        guard code == 0 else {
            throw SQLFailure(
                kind: .other, code: Int(SQLITE_IOERR) | 4 << 8,
                message: "'\(path)' cannot be written to the disk: \(String(cString: strerror(code)))")
        }
    }

    package static func replace(
        _ destination: DatabaseOptions, with source: DatabaseOptions, ifStill noted: (any NotedDatabase)?,
        beforeCopy: () throws -> Void, afterCopy: () -> Void
    ) throws {
        guard let path = destination.path, let sourcePath = source.path else { return }
        let from = try openForReading(sourcePath, source)
        defer { sqlite3_close_v2(from) }
        // From now on, the source is a snapshot of this moment.
        for sql in ["BEGIN", "SELECT COUNT(*) FROM sqlite_master"] { try run(sql, on: from) }
        let to = try lock(destination, at: path, noted)
        defer { sqlite3_close_v2(to.database) }
        do {
            try beforeCopy()
            try copy(from, to.database)
        } catch {
            // While it is locked, so that no other process can have made a store of the file.
            if to.isMade { removeFiles(path) }
            throw error
        }
        // A connection that keeps its lock also keeps its journal, which has no meaning any more. The index of the
        // former log is obsolete too, and no other client can have it open.
        for suffix in ["-journal", "-shm"] { unlink(path + suffix) }
        afterCopy()
    }

    /// Opens the destination of a copy exclusively.
    ///
    /// - Returns: the connection, and whether it created the file, which is still empty.
    private static func lock(
        _ options: DatabaseOptions, at path: String, _ noted: (any NotedDatabase)?
    ) throws -> (database: OpaquePointer, isMade: Bool) {
        if let noted = noted as? NotedFile { return (try noted.lock(options), false) }
        let isMissing = SQLiteConnection.size(of: path) == nil
        do {
            let database = try openLocked(path, options)
            // Another process may have made a store there before the lock was taken.
            return (database, isMissing && isEmpty(database))
        } catch {
            // Do not delete files that other clients have open.
            let isBusy = (error as? SQLFailure)?.kind == .busy
            if isMissing, !isBusy, SQLiteConnection.size(of: path) == 0 { removeFiles(path) }
            throw error
        }
    }

    /// Returns whether a database is empty: its file has no page yet, or only the one that an exclusive lock writes.
    private static func isEmpty(_ database: OpaquePointer) -> Bool {
        (try? value(of: "SELECT COUNT(*) FROM sqlite_master", from: database)) == 0
    }

    private static func removeFiles(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }

    package static func note(_ options: DatabaseOptions) throws -> any NotedDatabase {
        guard let path = options.path else { throw SQLFailure.misuse("a database in memory cannot be noted") }
        let database = try openForWriting(path, creates: false)
        do {
            wait(database, options)
            return NotedFile(database, version: try version(of: database))
        } catch {
            sqlite3_close_v2(database)
            throw error
        }
    }

    /// A connection that detects, by SQLite's per-connection number, whether other clients committed since it was
    /// opened.
    private final class NotedFile: NotedDatabase {
        private var database: OpaquePointer?
        private let version: Int64

        init(_ database: OpaquePointer, version: Int64) {
            self.database = database
            self.version = version
        }

        deinit { close() }

        func isStill() throws -> Bool {
            guard let database else { return false }
            return try SQLiteFile.version(of: database) == version
        }

        func close() {
            sqlite3_close_v2(database)
            database = nil
        }

        /// Returns the connection with an exclusive lock. The lock is taken before the number is read, and held until
        /// the caller closes the connection.
        func lock(_ options: DatabaseOptions) throws -> OpaquePointer {
            guard let database else { throw SQLFailure.misuse("a noted database was closed") }
            // The number is valid only while the same log exists.
            try SQLiteFile.retrying(options) {
                for sql in ["PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE"] {
                    try SQLiteFile.run(sql, on: database)
                }
            }
            do {
                guard try isStill() else { throw DatabaseChanged() }
            } catch {
                sqlite3_exec(database, "ROLLBACK", nil, nil, nil)
                close()
                throw error
            }
            try SQLiteFile.run("COMMIT", on: database)
            try SQLiteFile.retrying(options) { try SQLiteFile.lock(database) }
            self.database = nil
            return database
        }
    }

    private static func version(of database: OpaquePointer) throws -> Int64 {
        try value(of: "PRAGMA data_version", from: database)
    }

    private static func value(of sql: String, from database: OpaquePointer) throws -> Int64 {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else { throw SQLFailure.last(of: database, code: sqlite3_errcode(database), sql: sql) }
        return sqlite3_column_int64(statement, 0)
    }

    // MARK: Steps

    /// Opens or creates a file exclusively. A damaged file is emptied; its data are lost anyway.
    private static func openLocked(_ path: String, _ options: DatabaseOptions) throws -> OpaquePointer {
        do { return try openAlone(path, options, creates: true) } catch let failure as SQLFailure {
            guard [.corrupt, .notADatabase].contains(failure.kind), isDatabase(path), truncate(path, 0) == 0 else {
                throw failure
            }
            for suffix in ["-wal", "-shm", "-journal"] { unlink(path + suffix) }
        }
        // Open it again, since the cached state of the other connection is outdated.
        return try openAlone(path, options, creates: true)
    }

    /// Opens a file exclusively, until it is closed.
    ///
    /// A client that waits with the file open would block other clients that want exclusive access, and they would
    /// block it: none of them would succeed.
    private static func openAlone(_ path: String, _ options: DatabaseOptions, creates: Bool) throws -> OpaquePointer {
        try retrying(options) {
            let database = try openForWriting(path, creates: creates)
            do {
                sqlite3_busy_timeout(database, 10)
                try lock(database)
                return database
            } catch {
                sqlite3_close_v2(database)
                throw error
            }
        }
    }

    static func copy(_ from: OpaquePointer, _ to: OpaquePointer) throws {
        guard let backup = sqlite3_backup_init(to, "main", from, "main") else {
            throw SQLFailure.last(of: to, code: sqlite3_errcode(to))
        }
        let code = sqlite3_backup_step(backup, -1)
        // An incomplete backup rolls back.
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw SQLFailure.last(of: to, code: code == SQLITE_DONE ? end : code)
        }
    }

    /// Locks the database exclusively, until it is closed.
    private static func lock(_ database: OpaquePointer) throws {
        for sql in ["PRAGMA locking_mode = EXCLUSIVE", "PRAGMA journal_mode = DELETE", "BEGIN EXCLUSIVE", "COMMIT"] {
            try run(sql, on: database)
        }
    }

    /// Retries while the file is busy: SQLite does not wait if a log exists, although another client may only be
    /// reading the file briefly. The random delay prevents clients from retrying at the same time.
    private static func retrying<R>(_ options: DatabaseOptions, _ body: () throws -> R) throws -> R {
        let end = ContinuousClock.now + timeout(options)
        while true {
            do { return try body() } catch let failure as SQLFailure
                where failure.kind == .busy && ContinuousClock.now < end
            {
                usleep(.random(in: 1_000...15_000))
            }
        }
    }

    private static func timeout(_ options: DatabaseOptions) -> Duration { options.busyTimeout ?? .seconds(1) }

    /// Sets the time to wait. A database that is open in WAL mode stays open, so waiting longer than requested would be
    /// useless.
    private static func wait(_ database: OpaquePointer, _ options: DatabaseOptions) {
        let timeout = timeout(options).components
        sqlite3_busy_timeout(
            database, Int32(clamping: timeout.seconds * 1000 + timeout.attoseconds / 1_000_000_000_000_000))
    }

    static func run(_ sql: String, on database: OpaquePointer) throws {
        let code = sqlite3_exec(database, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLFailure.last(of: database, code: code, sql: sql) }
    }

    private static func openForReading(_ path: String, _ options: DatabaseOptions) throws -> OpaquePointer {
        guard FileManager.default.fileExists(atPath: path) else {
            throw SQLFailure(kind: .cannotOpen, code: Int(SQLITE_CANTOPEN), message: "there is no file at '\(path)'")
        }
        // Not as a file that is read once, whose header is read: closing that would release this process's locks on the
        // file.
        // has on it.
        let database = try SQLiteConnection.openReadOnly(path)
        wait(database, options)
        return database
    }

    private static func openForWriting(_ path: String, creates: Bool) throws -> OpaquePointer {
        let database = try SQLiteConnection.open(path, SQLITE_OPEN_READWRITE | (creates ? SQLITE_OPEN_CREATE : 0))
        guard sqlite3_db_readonly(database, "main") != 1 else {
            sqlite3_close_v2(database)
            throw SQLFailure(
                kind: .readOnly, code: Int(SQLITE_READONLY), message: "no permission to write '\(path)'")
        }
        return database
    }

    package static func start(of path: String, count: Int) -> [UInt8]? {
        SQLiteConnection.start(of: path, count: count)
    }

    /// Returns whether the file is a database, possibly a damaged one.
    private static func isDatabase(_ path: String) -> Bool {
        SQLiteConnection.isDatabase(start(of: path, count: 16) ?? [])
    }

    private static func unwritable(_ path: String, _ code: Int32) -> SQLFailure {
        SQLFailure(
            kind: .readOnly, code: Int(SQLITE_IOERR),
            message: "'\(path)' cannot be emptied: \(String(cString: strerror(code)))")
    }
}
