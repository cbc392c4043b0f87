import CSQLite
import CoreDataSQL
import Foundation

// Opening of files for reading only.
extension SQLiteConnection {
    /// Opens a file for reading; as an immutable file if its folder is not writable.
    static func openReadOnly(_ path: String) throws -> OpaquePointer {
        try rollBack(path)
        let database = try open(path, SQLITE_OPEN_READONLY)
        let code = sqlite3_exec(database, "PRAGMA schema_version", nil, nil, nil)
        guard code & 0xFF == SQLITE_CANTOPEN || code & 0xFF == SQLITE_READONLY else { return database }
        let failure = SQLFailure.last(of: database, code: code)
        sqlite3_close_v2(database)
        // An immutable file would show the incomplete transaction.
        if code == interruptedCode { throw interrupted(path, failure) }
        if size(of: path + "-wal") ?? 0 == 0 { return try openUnchanging(path) }
        guard let database = try openWithOwnIndex(path) else {
            throw SQLFailure(
                kind: failure.kind, code: failure.code,
                message: "'\(path)' has changes in its '-wal' file, which cannot be read without write permission "
                    + "for the folder: \(failure.message)")
        }
        return database
    }

    /// Opens a file for one read without adding files to its folder.
    ///
    /// | Files next to it | Mode |
    /// | --- | --- |
    /// | no log | immutable: the last client closed it |
    /// | a log and its index | usual: another client may have it open, and both files exist already |
    /// | a log without index | unused by other clients: with an index in memory, built from the log |
    static func openLeavingNothing(_ path: String) throws -> OpaquePointer {
        try rollBack(path)
        guard usesLog(start(of: path, count: 20) ?? []) else { return try openReadOnly(path) }
        guard size(of: path + "-wal") != nil else { return try openUnchanging(path) }
        if FileManager.default.fileExists(atPath: path + "-shm") { return try openReadOnly(path) }
        return try openWithOwnIndex(path) ?? openReadOnly(path)
    }

    /// Rolls back the incomplete transaction of a terminated process, using the journal next to the file. A reader
    /// cannot do that, and an immutable file would show the incomplete state.
    ///
    /// - Throws: if the rollback fails, without write permission or on a full disk.
    private static func rollBack(_ path: String) throws {
        guard size(of: path + "-journal") ?? 0 > 0 else { return }
        let database = try open(path, SQLITE_OPEN_READWRITE)
        defer { sqlite3_close_v2(database) }
        sqlite3_busy_timeout(database, 1000)
        let code = sqlite3_exec(database, "PRAGMA schema_version", nil, nil, nil)
        switch code & 0xFF {
        // Another client uses it, or it is not a readable database.
        case SQLITE_OK, SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_NOTADB: return
        default: throw interrupted(path, .last(of: database, code: code))
        }
    }

    /// `SQLITE_READONLY_ROLLBACK`.
    private static let interruptedCode = SQLITE_READONLY | 3 << 8

    private static func interrupted(_ path: String, _ failure: SQLFailure) -> SQLFailure {
        let isForbidden = [SQLITE_CANTOPEN, SQLITE_READONLY].contains(Int32(truncatingIfNeeded: failure.code) & 0xFF)
        return SQLFailure(
            kind: failure.kind, code: failure.code,
            message: "'\(path)' has a transaction that was interrupted, in its '-journal' file, which cannot be undone"
                + "\(isForbidden ? " without write permission for the file and its folder" : ""): \(failure.message)")
    }

    private static func openUnchanging(_ path: String) throws -> OpaquePointer {
        let absolute = URL(fileURLWithPath: path).path
        let escaped = absolute.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? absolute
        return try open("file://\(escaped)?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
    }

    /// Opens the file with an index in memory; `nil` if that is impossible.
    private static func openWithOwnIndex(_ path: String) throws -> OpaquePointer? {
        guard let fileSystem = PrivateLogIndex.fileSystem else { return nil }
        let database = try open(path, SQLITE_OPEN_READONLY, fileSystem: fileSystem)
        guard sqlite3_exec(database, "PRAGMA schema_version", nil, nil, nil) == SQLITE_OK else {
            sqlite3_close_v2(database)
            return nil
        }
        return database
    }

    /// Returns the size of the file; `nil` if it does not exist.
    static func size(of path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? nil
    }
}
