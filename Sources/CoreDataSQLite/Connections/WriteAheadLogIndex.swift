import CSQLite

/// Detects whether any client, in this process or another, has committed since the last check.
///
/// The index of a write-ahead log is in shared memory. Its header changes with every commit and with every checkpoint
/// that resets the log ("WAL-mode File Format", chapter 2, of SQLite's documentation). SQLite's file interface returns
/// its address, so a check costs six loads; a separate transaction would cost three system calls per read.
struct WriteAheadLogIndex {
    /// A copy of the header.
    struct State: Equatable {
        fileprivate var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

        /// The number of bytes of the log that are in use.
        var logByteCount: Int {
            // "WAL-mode File Format", 2.1: the page size is at 14 (1 means 65536), the number of frames at 16.
            let size = Int(UInt16(truncatingIfNeeded: words.1 >> 48))
            return Int(UInt32(truncatingIfNeeded: words.2)) * ((size == 1 ? 65536 : size) + 24)
        }

        static func == (a: State, b: State) -> Bool {
            a.words.0 == b.words.0 && a.words.1 == b.words.1 && a.words.2 == b.words.2
                && a.words.3 == b.words.3 && a.words.4 == b.words.4 && a.words.5 == b.words.5
        }
    }

    /// Valid until the connection is closed.
    private let header: UnsafeRawPointer

    /// Makes an index; `nil` if the connection has not opened a write-ahead log. Otherwise SQLite would create the
    /// index file (`-shm`) and leave it next to a database with a rollback journal, or next to an immutable file.
    init?(of database: OpaquePointer) {
        guard SQLiteConnection.file(of: database, SQLITE_FCNTL_JOURNAL_POINTER) != nil,
            SQLiteConnection.usesLog(SQLiteConnection.start(of: database, count: 20) ?? [])
        else { return nil }
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2,
            let map = methods.pointee.xShmMap
        else { return nil }
        // The first region as SQLite has mapped it; 0: do not create it.
        var region: UnsafeMutableRawPointer?
        guard map(file, 0, 32 << 10, 0, &region) == SQLITE_OK, let region = UnsafeRawPointer(region) else { return nil }
        header = region
        // The version of the format that this code supports.
        guard header.load(as: UInt32.self) == 3_007_000 else { return nil }
    }

    var state: State {
        func word(_ index: Int) -> UInt64 { header.load(fromByteOffset: index * 8, as: UInt64.self) }
        return State(words: (word(0), word(1), word(2), word(3), word(4), word(5)))
    }
}
