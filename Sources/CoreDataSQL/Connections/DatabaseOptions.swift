import CoreDataPrimitives
import Foundation

/// The options for opening a database, independent of the driver.
package struct DatabaseOptions: Hashable, Sendable {
    /// The path of the file; `nil` for a database in memory.
    package var path: String?
    /// The URL of a database on a server, as the user wrote it. Only the driver reads it, because it may contain a
    /// password.
    package var server: URL?
    package var isReadOnly = false
    /// With ``isReadOnly``: whether the file is read once, without adding files to its folder.
    package var leavesNothing = false
    /// Whether an existing file stays unchanged until ``SQLDatabase/prepareFile()`` or the first write.
    package var isLookedAtFirst = false
    /// Whether the file keeps its journal mode, regardless of ``pragmas``.
    package var keepsJournal = false
    /// Whether a missing file is created.
    package var createsFile = true
    /// The pragmas by name, as the user wrote them: `["journal_mode": "DELETE"]`.
    package var pragmas: [String: String] = [:]
    /// The maximum time to wait for another connection's lock; `nil` for the driver's default.
    package var busyTimeout: Duration?
    /// The maximum number of concurrent readers; `nil` for the driver's default.
    package var readerCount: Int?
    /// The maximum number of pinned snapshots, see ``SQLDatabase/pinned()``; `nil` for the driver's default.
    package var stateCount: Int?
    /// The size of the log in bytes from which pinned snapshots are released; `nil` for the driver's default.
    package var stateLogByteCount: Int?

    /// The clock of a database in this process; a server uses its own.
    package var clock = StoreClock.system

    /// Whether the database notifies observers of commits; needed only for databases that do not do so by themselves.
    package var tellsOfCommits = false

    package init(path: String?) { self.path = path }
}
