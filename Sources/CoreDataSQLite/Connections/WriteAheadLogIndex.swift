import CSQLite

/// Tells whether anybody, in this process or another, has committed to a database since it was last asked.
///
/// The index of a write-ahead log lies in memory that all its users share; its header changes with every commit and every
/// checkpoint that begins the log anew ("WAL-mode File Format", chapter 2, of SQLite's documentation). SQLite's interface to
/// the file gives the address, so that to look costs six loads, where a transaction of its own costs a read three calls of
/// the system.
struct WriteAheadLogIndex {
    /// The header, as it was at some moment.
    struct State: Equatable {
        fileprivate var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

        /// How many bytes of the log are in use.
        var logByteCount: Int {
            // "WAL-mode File Format", 2.1: the page size is at 14, where 1 stands for 65536, the number of frames at 16.
            let size = Int(UInt16(truncatingIfNeeded: words.1 >> 48))
            return Int(UInt32(truncatingIfNeeded: words.2)) * ((size == 1 ? 65536 : size) + 24)
        }

        static func == (a: State, b: State) -> Bool {
            a.words.0 == b.words.0 && a.words.1 == b.words.1 && a.words.2 == b.words.2
                && a.words.3 == b.words.3 && a.words.4 == b.words.4 && a.words.5 == b.words.5
        }
    }

    /// Valid as long as the connection has not been closed.
    private let header: UnsafeRawPointer

    /// `nil` where the connection has opened no write-ahead log. Whatever else asks for an index has SQLite make the file for one (`-shm`), which stays beside the
    /// database: beside one with a rollback journal, or one that is read as a file that nobody changes.
    init?(of database: OpaquePointer) {
        guard SQLiteConnection.file(of: database, SQLITE_FCNTL_JOURNAL_POINTER) != nil,
            SQLiteConnection.usesLog(SQLiteConnection.start(of: database, count: 20) ?? [])
        else { return nil }
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2,
            let map = methods.pointee.xShmMap
        else { return nil }
        // The first region, as SQLite itself has mapped it; 0: where it has not, there is none.
        var region: UnsafeMutableRawPointer?
        guard map(file, 0, 32 << 10, 0, &region) == SQLITE_OK, let region = UnsafeRawPointer(region) else { return nil }
        header = region
        // The format that is meant here.
        guard header.load(as: UInt32.self) == 3_007_000 else { return nil }
    }

    var state: State {
        func word(_ index: Int) -> UInt64 { header.load(fromByteOffset: index * 8, as: UInt64.self) }
        return State(words: (word(0), word(1), word(2), word(3), word(4), word(5)))
    }
}
