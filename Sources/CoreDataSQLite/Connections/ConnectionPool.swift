/// Who has which connection of a database: a value that decides, without threads, locks and files.
///
/// ```
///             enterReader                giveBack
///    idle ───────────────▶ lent ───────────────────▶ idle      another is opened while there are fewer than the limit
///
///             enterWriter                leaveWriter
///    free ───────────────▶ somebody's ─────────────▶ free      entered again by the same client, left as often
///
///    open ── close ──▶ closing ── the last one comes back ──▶ closed
/// ```
/// Each call answers what the client has to do: use a connection, open one, wait and ask again. The database of a driver guards the
/// pool by a lock and does that.
///
/// The same value as `CoreDataSQL.ConnectionPool`, compiled here: from another module it is not specialised for the kind of connection,
/// which costs each read by key 5,600 instructions more (73 %).
struct ConnectionPool<Connection: AnyObject> {
    /// A thread.
    struct Client: Equatable {
        let number: UInt
    }

    struct Loan {
        let connection: Connection
        let client: Client
    }

    /// Whether one connection both reads and writes, and readers take turns with writers.
    let usesOneConnection: Bool
    /// The most connections that read.
    let readerLimit: Int
    var idle: [Connection] = []
    var loans: [Loan] = []
    /// Places taken by connections that are being opened.
    var openingCount = 0
    /// The connection that writes, once there is one.
    var writer: Connection?
    /// Who has the writing connection, how deeply, and whether a write is among the calls that it is in.
    var writing: (client: Client, depth: Int, isInWrite: Bool)?
    var hasClosed = false

    /// A pool that begins with an open connection: the only one, or one that reads.
    init(_ first: Connection, usesOneConnection: Bool, readerLimit: Int) {
        self.usesOneConnection = usesOneConnection
        self.readerLimit = max(1, readerLimit)
        if usesOneConnection { writer = first } else { idle = [first] }
    }

    // MARK: Looking

    /// Whether no connection is handed out any more.
    var isClosed: Bool { hasClosed }

    /// The connections that nobody uses, but the writer.
    var idleReaders: [Connection] { idle }

    /// Every connection that is open.
    var connections: [Connection] { idle + loans.map(\.connection) + (writer.map { [$0] } ?? []) }

    var isWriting: Bool { writing != nil }

    /// Whether the client has a connection that only reads.
    func isLent(to client: Client) -> Bool { loans.contains { $0.client == client } }

    // MARK: Reading

    enum ReaderEntry {
        /// The connection that the client reads with already.
        case inHand(Connection)
        /// One that is the client's until ``giveBack(_:)``.
        case lent(Connection)
        /// The client opens one itself and tells by ``didOpenReader(_:for:)``.
        case mayOpen
        case mustWait
        case isClosed
    }

    @inline(__always)
    mutating func enterReader(_ client: Client) -> ReaderEntry {
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

    /// The connection is the client's until ``giveBack(_:)``; `nil` where it could not be opened.
    mutating func didOpenReader(_ connection: Connection?, for client: Client) {
        openingCount -= 1
        if let connection { loans.append(Loan(connection: connection, client: client)) }
    }

    @inline(__always)
    mutating func giveBack(_ connection: Connection) {
        // Most often one thread reads at a time.
        if loans.count == 1, loans[0].connection === connection {
            loans.removeLast()
        } else {
            guard let index = loans.firstIndex(where: { $0.connection === connection }) else { return }
            loans.remove(at: index)
        }
        idle.append(connection)
    }

    /// Takes a lent connection out of the pool: nobody is to use it any more.
    mutating func discard(_ connection: Connection) {
        loans.removeAll { $0.connection === connection }
    }

    /// Lends the idle connections of which that is true, each until ``giveBack(_:)``.
    mutating func lendIdle(to client: Client, where isWanted: (Connection) -> Bool) -> [Connection] {
        let wanted = idle.filter(isWanted)
        guard !wanted.isEmpty else { return [] }
        idle.removeAll { connection in wanted.contains { $0 === connection } }
        loans += wanted.map { Loan(connection: $0, client: client) }
        return wanted
    }

    // MARK: Writing

    enum WriterEntry {
        /// `nil` where the client has to open it and to tell by ``didOpenWriter(_:)``; whether it has it for the first time.
        case taken(Connection?, isOutermost: Bool)
        case mustWait
        /// The client is in a write, and the call is another one.
        case isInWrite
        case isClosed
    }

    /// `isWrite` is false for a read by the only connection, which may be inside another call.
    mutating func enterWriter(_ client: Client, isWrite: Bool) -> WriterEntry {
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

    mutating func didOpenWriter(_ connection: Connection) { writer = connection }

    /// Takes the writing connection out of the pool, for the next client to open another one.
    mutating func discardWriter() { writer = nil }

    mutating func leaveWriter(fromWrite: Bool) {
        guard var current = writing else { return }
        current.depth -= 1
        if fromWrite { current.isInWrite = false }
        writing = current.depth == 0 ? nil : current
    }

    // MARK: Closing

    /// No connection is handed out from now on; false where that was so already.
    mutating func close() -> Bool {
        defer { hasClosed = true }
        return !hasClosed
    }

    /// Whether somebody else uses a connection: who closes from inside a call would wait for itself.
    func isInUse(by client: Client) -> Bool {
        loans.contains { $0.client == client } || (writing.map { $0.client == client } ?? false)
    }

    /// - Parameter countsOpening: whether a connection that is being opened is in use; else its client has to close it when it is open.
    func isInUse(besidesBy client: Client, countsOpening: Bool = true) -> Bool {
        countsOpening && openingCount > 0 || loans.contains { $0.client != client }
            || (writing.map { $0.client != client } ?? false)
    }

    /// The connections that nobody uses leave the pool, to be closed in this order: the writer goes last, since the last
    /// connection to close empties the log into the file.
    mutating func takeIdle() -> [Connection] {
        var taken = idle
        idle.removeAll()
        if loans.isEmpty, writing == nil, let writer {
            taken.append(writer)
            self.writer = nil
        }
        return taken
    }
}
