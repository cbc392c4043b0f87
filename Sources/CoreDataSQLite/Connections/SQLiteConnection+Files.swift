import CSQLite
import CoreDataPrimitives
import CoreDataSQL
import Foundation

// Reads the bytes of a database's files through SQLite's own file handles. Closing a separate descriptor would release
// every lock of this process on the file; SQLite closes its descriptors only when no other connection is affected.
extension SQLiteConnection {
    typealias OpenFile = UnsafeMutablePointer<sqlite3_file>

    /// Returns the first bytes of any file; fewer if it is shorter. `nil` if it cannot be read or is not a regular
    /// file. It takes no lock.
    static func start(of path: String, count: Int) -> [UInt8]? {
        var status = stat()
        // Opening a pipe would block until a process writes to it.
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let database = try? open(path, SQLITE_OPEN_READONLY)
        else { return nil }
        defer { sqlite3_close_v2(database) }
        return start(of: database, count: count)
    }

    /// Returns the first bytes of a connection's file.
    static func start(of database: OpaquePointer, count: Int) -> [UInt8]? {
        guard let file = file(of: database, SQLITE_FCNTL_FILE_POINTER), let size = size(of: file) else { return nil }
        return bytes(of: file, at: 0, count: Int(min(size, Int64(count))))
    }

    /// Returns whether a file's first bytes are those of an SQLite database ("Database File Format", 1.3.1).
    static func isDatabase(_ start: [UInt8]) -> Bool { start.starts(with: Array("SQLite format 3\0".utf8)) }

    /// Returns whether a file's first bytes declare a write-ahead log ("Database File Format", 1.3.3).
    static func usesLog(_ start: [UInt8]) -> Bool { start.count >= 20 && start[18] == 2 && start[19] == 2 }

    // MARK: Handles

    /// - Parameter kind: `SQLITE_FCNTL_FILE_POINTER`, or `SQLITE_FCNTL_JOURNAL_POINTER` for the log or the journal.
    static func file(of database: OpaquePointer, _ kind: Int32) -> OpenFile? {
        var file: OpenFile?
        guard sqlite3_file_control(database, "main", kind, &file) == SQLITE_OK else { return nil }
        return file?.pointee.pMethods == nil ? nil : file
    }

    static func size(of file: OpenFile) -> Int64? {
        var size: sqlite3_int64 = 0
        return file.pointee.pMethods.pointee.xFileSize(file, &size) == SQLITE_OK ? size : nil
    }

    /// Returns bytes of the file; `nil` if it is too short.
    static func bytes(of file: OpenFile, at offset: Int64, count: Int) -> [UInt8]? {
        guard count > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        return file.pointee.pMethods.pointee.xRead(file, &bytes, Int32(count), offset) == SQLITE_OK ? bytes : nil
    }

    // MARK: Open files

    /// Opens a database; the only call of `sqlite3_open_v2` for files.
    static func open(_ name: String, _ flags: Int32, fileSystem: String? = nil) throws -> OpaquePointer {
        var database: OpaquePointer?
        let code = sqlite3_open_v2(name, &database, flags | SQLITE_OPEN_NOMUTEX, fileSystem)
        if database != nil { sqlite3_extended_result_codes(database, 1) }
        guard code == SQLITE_OK, let database else {
            var failure = SQLFailure.last(of: database, code: code)
            // The system's error is more precise than SQLite's message.
            let number = sqlite3_system_errno(database)
            let reason = number == 0 ? failure.message : String(cString: strerror(number))
            failure.message = "cannot open '\(name)': \(reason)"
            // Check the read permission first: write permission alone is not sufficient.
            if access(name, R_OK) != 0, errno == EACCES || errno == EPERM {
                failure = SQLFailure(
                    kind: .unreadable, code: Int(code), message: "no permission to read '\(name)'")
            }
            if flags & SQLITE_OPEN_CREATE != 0, let folder = forbiddenFolder(of: name) {
                failure = SQLFailure(
                    kind: .readOnly, code: Int(code), message: "no permission to make a file in '\(folder)'")
            }
            sqlite3_close_v2(database)
            throw failure
        }
        noteOpenFile(of: database)
        return database
    }

    /// Returns the folder if a file must be created in it and the permission is missing.
    private static func forbiddenFolder(of path: String) -> String? {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let files = FileManager.default
        guard !files.fileExists(atPath: path), files.fileExists(atPath: folder), !files.isWritableFile(atPath: folder)
        else { return nil }
        return folder
    }

    /// The open file; `nil` for a database in memory, and if another file has replaced it.
    var openFile: OpenDatabaseFiles.Identity? {
        var hasMoved: Int32 = 0
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK, hasMoved == 0,
            let name = sqlite3_db_filename(handle, "main"), name.pointee != 0
        else { return nil }
        return OpenDatabaseFiles.Identity(path: String(cString: name))
    }

    /// Registers the connection's file in ``OpenDatabaseFiles`` until SQLite has closed it, which is later than
    /// ``close()`` if a statement is still retained.
    private static func noteOpenFile(of database: OpaquePointer) {
        guard let name = sqlite3_db_filename(database, "main"), name.pointee != 0,
            let identity = OpenDatabaseFiles.shared.add(String(cString: name))
        else { return }
        // SQLite destroys a connection's functions after closing its files, even if the registration fails.
        sqlite3_create_function_v2(
            database, "opencoredata_open_file", 0, SQLITE_UTF8 | SQLITE_DIRECTONLY,
            Unmanaged.passRetained(OpenFileNote(identity)).toOpaque(), { _, _, _ in }, nil, nil,
            { context in
                if let context { Unmanaged<OpenFileNote>.fromOpaque(context).takeRetainedValue().remove() }
            })
    }

    private final class OpenFileNote {
        private let identity: OpenDatabaseFiles.Identity

        init(_ identity: OpenDatabaseFiles.Identity) { self.identity = identity }

        func remove() { OpenDatabaseFiles.shared.remove(identity) }
    }
}
