import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// How a database is opened.
package struct SQLiteOptions: Sendable {
    package enum Location: Hashable, Sendable {
        case file(path: String)
        /// A database of this object alone, gone when it is closed.
        case memory
    }

    package var location: Location
    package var isReadOnly = false
    /// With ``isReadOnly``: whether the file is only looked at once, which adds nothing to its folder. What others
    /// commit in the meantime is seen or not.
    package var leavesNothing = false
    /// Whether a file that is there stays as it is until ``SQLiteDatabase/prepareFile()``, or the first write.
    package var isLookedAtFirst = false
    /// Whether a missing file is created: with 4096-byte pages, incremental vacuum and a write-ahead log.
    package var createsFile = true
    /// Set on every connection after the driver's own, which they override: `["synchronous": "FULL"]`.
    ///
    /// Without an entry `journal_mode` is WAL, `synchronous` NORMAL under WAL and FULL else. With `locking_mode`
    /// EXCLUSIVE one connection does everything.
    package var pragmas: [String: String] = [:]
    /// What the function for `now()` says.
    package var clock = StoreClock.system
    /// How long a statement waits for another process's or database's lock before it fails as busy.
    package var busyTimeout: Duration = .seconds(10)
    /// The most connections that read at once; they are opened when they are first needed.
    ///
    /// As many as there are processors, within 4 and 8: more readers only compete for processors, while each may
    /// fill a page cache of its own.
    package var readerCount = Self.usualReaderCount
    /// Counted once: the system takes long to tell.
    private static let usualReaderCount = max(4, min(8, ProcessInfo.processInfo.activeProcessorCount))
    /// The most former states that are kept at once: each has a connection.
    package var stateCount = 16
    /// How many bytes the write-ahead log may have before former states are given up: as long as one is kept, the log only grows.
    package var stateLogByteCount = 256 << 20
    /// The most memory that one connection's page cache takes.
    package var cacheByteCount = 64 << 20
    /// The most statements that one connection keeps prepared.
    package var statementCacheSize = 256

    /// What statements may ask for: everything, unless less shall be had.
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
