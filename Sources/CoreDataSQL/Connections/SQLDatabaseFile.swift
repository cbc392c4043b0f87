import CoreDataPrimitives

/// What a driver does to the file of a database as a whole, while nobody else uses it.
///
/// The first two fail with ``SQLFailure/Kind/busy`` where somebody has the database open, and leave it then as it was.
package protocol SQLDatabaseFile {
    /// Leaves an empty file where a database is; `whileLocked` runs after that, before anybody else can use the file.
    static func empty(_ options: DatabaseOptions, whileLocked: () throws -> Void) throws

    /// Makes the database that `source` is at one moment of the file at `destination`, whether or not there is one: in one
    /// transaction, so that a crash leaves the old or the new. `beforeCopy` runs at that moment of the source, with the destination
    /// locked for all others; what it throws ends everything. `afterCopy` runs after the commit, before the lock is released.
    ///
    /// - Throws: ``SQLFailure``; ``DatabaseChanged`` where `noted` is given and somebody has written to the destination since.
    static func replace(
        _ destination: DatabaseOptions, with source: DatabaseOptions, ifStill noted: (any NotedDatabase)?,
        beforeCopy: () throws -> Void, afterCopy: () -> Void) throws

    /// Notes what a database is now, for whoever reads it for long and replaces it then.
    static func note(_ options: DatabaseOptions) throws -> any NotedDatabase

    /// The first bytes of the file at a path, whatever it holds; fewer where it is shorter, `nil` where it cannot be read.
    ///
    /// They are read by the driver, so that the locks which this process has on the file stay.
    static func start(of path: String, count: Int) -> [UInt8]?

    /// Copies a damaged database to where there is none, and has its tables lead to pages of their rows that nothing leads to.
    ///
    /// - Parameter marks: what tells the tables' rows.
    /// - Returns: how many such pages there were, of each table that had some.
    static func regrow(_ marks: [TableMark], of source: DatabaseOptions, at path: String) throws -> [String: Int]
}

/// What a database was at one moment; it is held open as long as the value lives.
package protocol NotedDatabase: AnyObject {
    /// Whether nobody has committed anything since.
    func isStill() throws -> Bool

    /// Lets go of the database.
    func close()
}

/// Somebody has written to a database since it was noted.
package struct DatabaseChanged: EngineFailure {
    package init() {}
}
