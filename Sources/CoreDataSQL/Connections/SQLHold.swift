/// An exclusive lock on a server, which one program holds until it releases it or terminates.
package protocol SQLHold: AnyObject, Sendable {
    /// Checks that the lock is still held.
    ///
    /// - Throws: if the lock's connection was lost, so that another program may hold it by now.
    func check() throws
    /// Releases the lock.
    func release()
}

/// The result of requesting an exclusive lock; see ``SQLDatabase/hold(_:)``.
package enum SQLHolding: Sendable {
    case own(any SQLHold)
    /// Another program holds the lock.
    case others
    /// The database does not support such locks, so the holder is unknown.
    case unknown
}
