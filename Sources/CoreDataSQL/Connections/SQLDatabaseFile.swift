import CoreDataPrimitives

/// A driver's operations on a whole database file that no other client uses.
///
/// The first two fail with ``SQLFailure/Kind/busy`` if a client has the database open, and do not change it.
package protocol SQLDatabaseFile {
    /// Replaces a database by an empty file; `whileLocked` runs after that, before another client can use the file.
    static func empty(_ options: DatabaseOptions, whileLocked: () throws -> Void) throws

    /// Replaces the file at `destination`, if it exists, by the state of `source` at one time, in one transaction:
    /// after a crash, the file has the old or the new content. `beforeCopy` runs at that time of the source, with the
    /// destination locked for other clients; if it throws, nothing changes. `afterCopy` runs after the commit, before
    /// the lock is released.
    ///
    /// - Throws: ``SQLFailure``; ``DatabaseChanged`` if `noted` is given and another client has written to the
    ///   destination since.
    static func replace(
        _ destination: DatabaseOptions, with source: DatabaseOptions, ifStill noted: (any NotedDatabase)?,
        beforeCopy: () throws -> Void, afterCopy: () -> Void) throws

    /// Records the current state of a database, for a client that reads it for a long time and replaces it afterwards.
    static func note(_ options: DatabaseOptions) throws -> any NotedDatabase

    /// Returns the first bytes of any file; fewer if the file is shorter, `nil` if it cannot be read.
    ///
    /// The driver reads them, so that this process keeps its locks on the file.
    static func start(of path: String, count: Int) -> [UInt8]?

    /// Copies a damaged database to a new file, and reconnects orphaned pages to the tables that their rows belong to.
    ///
    /// - Parameter marks: the properties that identify the rows of the tables.
    /// - Returns: the number of reconnected pages, for each table that had some.
    static func regrow(_ marks: [TableMark], of source: DatabaseOptions, at path: String) throws -> [String: Int]
}

/// The recorded state of a database, which stays open as long as this object lives.
package protocol NotedDatabase: AnyObject {
    /// Returns whether no client has committed since.
    func isStill() throws -> Bool

    /// Closes the database.
    func close()
}

/// Another client has written to a database since its state was recorded.
package struct DatabaseChanged: EngineFailure {
    package init() {}
}
