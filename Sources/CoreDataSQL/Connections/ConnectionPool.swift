/// A connection pool as a value: it decides which client uses which connection, without threads, locks or I/O.
///
/// ```
///             enterReader                giveBack
///    idle ───────────────▶ lent ───────────────────▶ idle      a new one is opened up to the limit
///
///             enterWriter                leaveWriter
///    free ───────────────▶ taken ──────────────────▶ free      reentrant: the same client leaves as often as it enters
///
///    open ── close ──▶ closing ── the last connection is returned ──▶ closed
/// ```
/// Each call returns the client's next action: use a connection, open one, or wait and ask again. The driver's database
/// guards the pool with a lock and performs the action. The pool is inlined into the driver, which knows the concrete
/// connection type. Generic functions are specialised there only if their types are `@usableFromInline` too.
@usableFromInline package struct ConnectionPool<Connection: AnyObject> {
    /// The thread that uses a connection.
    @usableFromInline package struct Client: Equatable, Sendable {
        @usableFromInline let number: UInt

        @inlinable package init(number: UInt) { self.number = number }

        @inlinable package static func == (one: Client, other: Client) -> Bool { one.number == other.number }
    }

    @usableFromInline struct Loan {
        @usableFromInline let connection: Connection
        @usableFromInline let client: Client

        @inlinable init(connection: Connection, client: Client) {
            (self.connection, self.client) = (connection, client)
        }
    }

    /// Whether one connection both reads and writes, and readers alternate with writers.
    @usableFromInline let usesOneConnection: Bool
    /// The maximum number of reading connections.
    @usableFromInline let readerLimit: Int
    @usableFromInline var idle: [Connection] = []
    @usableFromInline var loans: [Loan] = []
    /// The number of connections that are being opened.
    @usableFromInline var openingCount = 0
    /// The writing connection; `nil` before it is opened.
    @usableFromInline var writer: Connection?
    /// The client that holds the writing connection, its nesting depth, and whether one of the nested calls is a write.
    @usableFromInline var writing: (client: Client, depth: Int, isInWrite: Bool)?
    @usableFromInline var hasClosed = false

    /// Makes a pool with one open connection: the only one, or a reader.
    @inlinable package init(_ first: Connection, usesOneConnection: Bool, readerLimit: Int) {
        self.usesOneConnection = usesOneConnection
        self.readerLimit = max(1, readerLimit)
        if usesOneConnection { writer = first } else { idle = [first] }
    }

    // MARK: State

    /// Whether the pool no longer lends connections.
    @inlinable package var isClosed: Bool { hasClosed }

    /// The idle connections except the writer.
    @inlinable package var idleReaders: [Connection] { idle }

    /// All open connections.
    @inlinable package var connections: [Connection] { idle + loans.map(\.connection) + (writer.map { [$0] } ?? []) }

    @inlinable package var isWriting: Bool { writing != nil }

    /// Returns whether the client holds a reading connection.
    @inlinable package func isLent(to client: Client) -> Bool { loans.contains { $0.client == client } }

    // MARK: Reading

    @usableFromInline package enum ReaderEntry {
        /// The client already holds this reading connection.
        case inHand(Connection)
        /// The client holds this connection until ``giveBack(_:)``.
        case lent(Connection)
        /// The client must open a connection and call ``didOpenReader(_:for:)``.
        case mayOpen
        case mustWait
        case isClosed
    }

    @inlinable @inline(__always)
    package mutating func enterReader(_ client: Client) -> ReaderEntry {
        if !loans.isEmpty, let loan = loans.first(where: { $0.client == client }) { return .inHand(loan.connection) }
        if hasClosed { return .isClosed }
        if let connection = idle.popLast() {
            loans.append(Loan(connection: connection, client: client))
            return .lent(connection)
        }
        guard loans.count + openingCount < readerLimit else { return .mustWait }
        openingCount += 1
        return .mayOpen
    }

    /// Lends the connection to the client until ``giveBack(_:)``; `nil` if it could not be opened.
    @inlinable package mutating func didOpenReader(_ connection: Connection?, for client: Client) {
        openingCount -= 1
        if let connection { loans.append(Loan(connection: connection, client: client)) }
    }

    @inlinable @inline(__always)
    package mutating func giveBack(_ connection: Connection) {
        // Usually only one thread reads at a time.
        if loans.count == 1, loans[0].connection === connection {
            loans.removeLast()
        } else {
            guard let index = loans.firstIndex(where: { $0.connection === connection }) else { return }
            loans.remove(at: index)
        }
        idle.append(connection)
    }

    /// Removes a lent connection from the pool, so that it is not used again.
    @inlinable package mutating func discard(_ connection: Connection) {
        loans.removeAll { $0.connection === connection }
    }

    /// Lends the idle connections that satisfy the condition, each until ``giveBack(_:)``.
    @inlinable package mutating func lendIdle(to client: Client, where isWanted: (Connection) -> Bool) -> [Connection] {
        let wanted = idle.filter(isWanted)
        guard !wanted.isEmpty else { return [] }
        idle.removeAll { connection in wanted.contains { $0 === connection } }
        loans += wanted.map { Loan(connection: $0, client: client) }
        return wanted
    }

    // MARK: Writing

    @usableFromInline package enum WriterEntry {
        /// The writer, and whether this is the client's outermost call. If the writer is `nil`, the client must open it
        /// and call ``didOpenWriter(_:)``.
        case taken(Connection?, isOutermost: Bool)
        case mustWait
        /// The client is inside a write and has started another one.
        case isInWrite
        case isClosed
    }

    /// Enters the writer. `isWrite` is false for a read on the only connection, which may be nested in another call.
    @inlinable package mutating func enterWriter(_ client: Client, isWrite: Bool) -> WriterEntry {
        if hasClosed { return .isClosed }
        guard let current = writing else {
            writing = (client, 1, isWrite)
            return .taken(writer, isOutermost: true)
        }
        guard current.client == client else { return .mustWait }
        if isWrite, current.isInWrite || !usesOneConnection { return .isInWrite }
        writing = (client, current.depth + 1, current.isInWrite || isWrite)
        return .taken(writer, isOutermost: false)
    }

    @inlinable package mutating func didOpenWriter(_ connection: Connection) { writer = connection }

    /// Removes the writing connection from the pool; the next client opens another one.
    @inlinable package mutating func discardWriter() { writer = nil }

    @inlinable package mutating func leaveWriter(fromWrite: Bool) {
        guard var current = writing else { return }
        current.depth -= 1
        if fromWrite { current.isInWrite = false }
        writing = current.depth == 0 ? nil : current
    }

    // MARK: Closing

    /// Stops lending connections; returns false if the pool was closed already.
    @inlinable package mutating func close() -> Bool {
        defer { hasClosed = true }
        return !hasClosed
    }

    /// Returns whether the client holds a connection: closing from inside such a call would deadlock.
    @inlinable package func isInUse(by client: Client) -> Bool {
        loans.contains { $0.client == client } || (writing.map { $0.client == client } ?? false)
    }

    /// Returns whether another client holds a connection.
    ///
    /// - Parameter countsOpening: whether a connection that is being opened counts. Otherwise its client must close it
    ///   after opening.
    @inlinable package func isInUse(besidesBy client: Client, countsOpening: Bool = true) -> Bool {
        countsOpening && openingCount > 0 || loans.contains { $0.client != client }
            || (writing.map { $0.client != client } ?? false)
    }

    /// Removes the idle connections from the pool and returns them in the order in which to close them. The writer is
    /// last, because the last connection to close checkpoints the log into the file.
    @inlinable package mutating func takeIdle() -> [Connection] {
        var taken = idle
        idle.removeAll()
        if loans.isEmpty, writing == nil, let writer {
            taken.append(writer)
            self.writer = nil
        }
        return taken
    }
}
