import CSQLite
import CoreDataSQL
import Foundation

/// SQLite's files as wholes.
///
/// ```
///  lock: leave WAL mode (fails while somebody has the log open) ──▶ exclusive lock, kept until the connection closes
///  empty:    lock ──▶ truncate
///  replace:  read transaction on the source ──▶ lock ──▶ sqlite3_backup: one transaction of the destination
///  note:     open, idle: nobody is kept from anything ──▶ … ──▶ lock on the same connection, which knows whether others committed
/// ```
package enum SQLiteFile: SQLDatabaseFile {
    package static func empty(_ options: DatabaseOptions, whileLocked: () throws -> Void) throws {
        guard let path = options.path else { return }
        let database: OpaquePointer?
        do { database = try openAlone(path, options, creates: false) } catch let failure as SQLFailure {
            // What is damaged cannot be locked; it is to go all the same.
            guard [.corrupt, .notADatabase].contains(failure.kind), isDatabase(path) else { throw failure }
            database = nil
        }
        defer { sqlite3_close_v2(database) }
        // By path: to close the file here would give up the locks that SQLite holds on it.
        guard truncate(path, 0) == 0 else { throw unwritable(path, errno) }
        for suffix in ["-wal", "-shm", "-journal"] { unlink(path + suffix) }
        try whileLocked()
    }

    package static func replace(
        _ destination: DatabaseOptions, with source: DatabaseOptions, ifStill noted: (any NotedDatabase)?,
        beforeCopy: () throws -> Void, afterCopy: () -> Void
    ) throws {
        guard let path = destination.path, let sourcePath = source.path else { return }
        let from = try openForReading(sourcePath, source)
        defer { sqlite3_close_v2(from) }
        // From now on the source is as it is at this moment.
        for sql in ["BEGIN", "SELECT COUNT(*) FROM sqlite_master"] { try run(sql, on: from) }
        let to = try lock(destination, at: path, noted)
        defer { sqlite3_close_v2(to.database) }
        do {
            try beforeCopy()
            try copy(from, to.database)
        } catch {
            // While it is locked: nobody can have made a store of the file meanwhile.
            if to.isMade { removeFiles(path) }
            throw error
        }
        // A connection that keeps its lock keeps its journal, too, which means nothing any more; nor does the index of the log that
        // there was, which nobody can have open.
        for suffix in ["-journal", "-shm"] { unlink(path + suffix) }
        afterCopy()
    }

    /// Opens the destination of a copy for this connection alone.
    ///
    /// - Returns: the connection, and whether it made the file, in which nothing is yet.
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
            // What others have open is theirs.
            let isBusy = (error as? SQLFailure)?.kind == .busy
            if isMissing, !isBusy, SQLiteConnection.size(of: path) == 0 { removeFiles(path) }
            throw error
        }
    }

    /// Whether a database holds nothing: its file has no page yet, or the one that an exclusive lock writes.
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

    /// A connection that knows, by a number that SQLite keeps for each, whether others have committed since it was opened.
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

        /// The connection, which has the file for itself from before the number is looked at until it is closed by the caller.
        func lock(_ options: DatabaseOptions) throws -> OpaquePointer {
            guard let database else { throw SQLFailure.misuse("a noted database was closed") }
            // The number is of use only while there is the log that there was.
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

    /// Opens a file, or makes it, for this connection alone. One that is damaged is emptied: nothing is lost of it.
    private static func openLocked(_ path: String, _ options: DatabaseOptions) throws -> OpaquePointer {
        do { return try openAlone(path, options, creates: true) } catch let failure as SQLFailure {
            guard [.corrupt, .notADatabase].contains(failure.kind), isDatabase(path), truncate(path, 0) == 0 else {
                throw failure
            }
            for suffix in ["-wal", "-shm", "-journal"] { unlink(path + suffix) }
        }
        // Anew, since what the other connection knew of the file is no longer true.
        return try openAlone(path, options, creates: true)
    }

    /// Opens a file for this connection alone, until it is closed.
    ///
    /// Who waits with the file open keeps all others from having it alone, as they keep him: of several at once nobody would get it.
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
        // Without having come to its end it is rolled back.
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw SQLFailure.last(of: to, code: code == SQLITE_DONE ? end : code)
        }
    }

    /// Takes the database for this connection alone, until it is closed.
    private static func lock(_ database: OpaquePointer) throws {
        for sql in ["PRAGMA locking_mode = EXCLUSIVE", "PRAGMA journal_mode = DELETE", "BEGIN EXCLUSIVE", "COMMIT"] {
            try run(sql, on: database)
        }
    }

    /// SQLite does not wait where a log is left: somebody may but look at the file. Not all who wait try again at the same moment.
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

    /// A database that is open with a log stays so: to wait for long without being asked to would be for nothing.
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
        // Not as a file that is looked at once, whose header is read: to close it would give up the locks that this process
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

    /// Whether the file was a database once, though it may be damaged.
    private static func isDatabase(_ path: String) -> Bool {
        SQLiteConnection.isDatabase(start(of: path, count: 16) ?? [])
    }

    private static func unwritable(_ path: String, _ code: Int32) -> SQLFailure {
        SQLFailure(
            kind: .readOnly, code: Int(SQLITE_IOERR),
            message: "'\(path)' cannot be emptied: \(String(cString: strerror(code)))")
    }
}
