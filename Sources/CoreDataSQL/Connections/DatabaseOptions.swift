import CoreDataPrimitives
import Foundation

/// How a database is opened, for whoever opens one without knowing its driver.
package struct DatabaseOptions: Hashable, Sendable {
    /// The file, `nil` for a database in memory.
    package var path: String?
    /// A database on a server instead of a file, as the user wrote it: only the driver reads it, since it may have a password.
    package var server: URL?
    package var isReadOnly = false
    /// With ``isReadOnly``: whether the file is only looked at once, which adds nothing to its folder.
    package var leavesNothing = false
    /// Whether a file that is there stays as it is until ``SQLDatabase/prepareFile()``, or the first write.
    package var isLookedAtFirst = false
    /// Whether a missing file is made.
    package var createsFile = true
    /// By name, as the user gave them: `["journal_mode": "DELETE"]`.
    package var pragmas: [String: String] = [:]
    /// How long to wait for another's lock; `nil` for the driver's own choice.
    package var busyTimeout: Duration?
    /// The most connections that read at once; `nil` for the driver's own choice.
    package var readerCount: Int?
    /// The most former states that are kept at once, see ``SQLDatabase/pinned()``; `nil` for the driver's own choice.
    package var stateCount: Int?
    /// How many bytes the log may have before former states are given up; `nil` for the driver's own choice.
    package var stateLogByteCount: Int?

    /// The clock of a database that runs in this process; a server has its own.
    package var clock = StoreClock.system

    /// Whether commits are told to those who watch for them, where a database does not do that by itself.
    package var tellsOfCommits = false

    package init(path: String?) { self.path = path }
}
