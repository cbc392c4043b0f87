/// What a driver does to the file of a database as a whole, while nobody else uses it.
///
/// Both fail with ``SQLFailure/Kind/busy`` where somebody has the database open, and leave it then as it was.
package protocol SQLDatabaseFile {
    /// Leaves an empty file where a database is; `whileLocked` runs after that, before anybody else can use the file.
    static func empty(_ options: DatabaseOptions, whileLocked: () throws -> Void) throws

    /// Makes the database that `source` is at one moment of the file at `destination`, whether or not there is one: in one
    /// transaction, so that a crash leaves the old or the new. `beforeCopy` runs at that moment of the source; what it
    /// throws ends everything.
    static func replace(
        _ destination: DatabaseOptions, with source: DatabaseOptions, beforeCopy: () throws -> Void) throws
}
