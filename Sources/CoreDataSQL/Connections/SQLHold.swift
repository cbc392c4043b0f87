/// Something on a server that one program has at a time, until it lets it go or dies.
package protocol SQLHold: AnyObject, Sendable {
    /// - Throws: where the connection by which it was held is lost, so that it may be another's by now.
    func check() throws
    /// Lets it go.
    func release()
}

/// What came of asking for something that one program has at a time; see ``SQLDatabase/hold(_:)``.
package enum SQLHolding: Sendable {
    case own(any SQLHold)
    /// Somebody else has it.
    case others
    /// The database has no such locks: nobody can tell.
    case unknown
}
