import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// The options for opening a database.
package struct SQLiteOptions: Sendable {
    package enum Location: Hashable, Sendable {
        case file(path: String)
        /// A private database in memory, which is discarded when it is closed.
        case memory
    }

    package var location: Location
    package var isReadOnly = false
    /// With ``isReadOnly``: whether the file is read once, without adding files to its folder. Concurrent commits of
    /// other clients may or may not be visible.
    package var leavesNothing = false
    /// Whether an existing file stays unchanged until ``SQLiteDatabase/prepareFile()`` or the first write.
    package var isLookedAtFirst = false
    /// Whether an existing file keeps its journal mode, regardless of ``pragmas``.
    package var keepsJournal = false
    /// Whether a missing file is created: with 4096-byte pages, incremental vacuum and a write-ahead log.
    package var createsFile = true
    /// The pragmas to set on every connection. They override the driver's own: `["synchronous": "FULL"]`.
    ///
    /// By default, `journal_mode` is WAL, and `synchronous` is NORMAL in WAL mode and FULL otherwise. FULL does not
    /// synchronise the deletion of a rollback journal, so the connection does so itself after each commit. EXTRA would
    /// report a committed transaction as failed if that is not possible. With `locking_mode` EXCLUSIVE, one connection
    /// reads and writes.
    package var pragmas: [String: String] = [:]
    /// The clock of the function for `now()`.
    package var clock = StoreClock.system
    /// The time that a statement waits for a lock of another process or database before it fails as busy.
    package var busyTimeout: Duration = .seconds(10)
    /// The maximum number of concurrent readers, which are opened on first use.
    ///
    /// The default is the number of processors, but at least 4 and at most 8: more readers only compete for processors,
    /// and each may fill its own page cache.
    package var readerCount = Self.usualReaderCount
    /// Computed once, because the system call is slow.
    private static let usualReaderCount = max(4, min(8, ProcessInfo.processInfo.activeProcessorCount))
    /// The maximum number of concurrently pinned snapshots; each needs a connection.
    package var stateCount = 16
    /// The size of the write-ahead log in bytes from which snapshots are invalidated: while one is retained, the log
    /// only grows.
    package var stateLogByteCount = 256 << 20
    /// The maximum memory of one connection's page cache.
    package var cacheByteCount = 64 << 20
    /// The maximum number of prepared statements that one connection caches.
    package var statementCacheSize = 256

    /// The features that statements may use: by default all features of the dialect.
    package var dialect = SQLDialect.sqlite

    package init(_ location: Location) { self.location = location }

    package init(path: String) { location = .file(path: path) }

    var path: String? {
        if case .file(let path) = location { return path }
        return nil
    }

    func pragma(_ name: String) -> String? {
        pragmas.first { $0.key.lowercased() == name }?.value
    }

    /// Whether one connection both reads and writes.
    var usesOneConnection: Bool {
        path == nil || pragma("locking_mode")?.uppercased() == "EXCLUSIVE"
    }
}
