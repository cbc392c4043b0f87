import CoreDataSQL
import Foundation

/// The options for opening a database on a server.
package struct PostgreSQLOptions: Sendable {
    package var address: PostgreSQLAddress
    package var isReadOnly = false
    /// The maximum number of concurrent readers, in addition to the writing connection.
    package var readerCount = 8
    /// The maximum number of concurrently pinned snapshots; each needs a connection.
    package var stateCount = 16
    /// The timeout for opening a connection, and for an unresponsive server.
    package var connectTimeout = Duration.seconds(10)
    /// The timeout for another client's lock.
    package var lockTimeout = Duration.seconds(60)
    /// The time that a connection waits for a cancel request in flight; after that it is closed.
    var cancelTimeout = Duration.seconds(2)
    /// The idle time after which a listening session is probed, and the timeout of the probe.
    var probe = (interval: Duration.seconds(60), limit: Duration.seconds(20))
    /// The source of time.
    var clock = PostgreSQLClock.system
    /// Returns a password if the URL has none.
    package var password: (@Sendable () throws -> String?)?
    /// Whether commits are notified to listening clients.
    package var tellsOfCommits = false
    /// Whether the server is a replica, which is used for reads only if it is available at once.
    var isReplica = false
    /// The SQL dialect.
    package var dialect = SQLDialect.postgreSQL

    package init(_ address: PostgreSQLAddress) {
        self.address = address
        if let size = address.poolSize { readerCount = size }
    }

    /// - Throws: ``SQLFailure`` for options that a server does not support.
    package init(_ options: DatabaseOptions) throws {
        guard let url = options.server else {
            throw SQLFailure(kind: .cannotOpen, code: 0, message: "a PostgreSQL store needs a postgresql:// URL")
        }
        self.init(try PostgreSQLAddress(url))
        guard options.pragmas.isEmpty else {
            throw SQLFailure(
                kind: .cannotOpen, code: 0,
                message:
                    "pragmas are SQLite's: '\(address.description)' cannot follow \(options.pragmas.keys.sorted().joined(separator: ", "))"
            )
        }
        isReadOnly = options.isReadOnly
        tellsOfCommits = options.tellsOfCommits
        if let timeout = options.busyTimeout { lockTimeout = timeout }
        if let count = options.readerCount { readerCount = max(1, count) }
        if let count = options.stateCount { stateCount = count }
    }

    /// Returns the capabilities of an engine behind the pooler that the URL names.
    func traits(of engine: PostgreSQLEngine) -> ServerTraits {
        var traits = engine.traits
        if address.pooler == .transaction { (traits.keepsSessions, traits.setsTransactions) = (false, false) }
        return traits
    }

    /// Returns the options for opening a replica.
    func options(ofReplica replica: String) -> PostgreSQLOptions {
        var options = self
        options.address = address.address(ofReplica: replica)
        options.isReplica = true
        options.isReadOnly = true
        options.connectTimeout = min(connectTimeout, .seconds(3))
        return options
    }

    var lockMilliseconds: Int64 {
        let parts = lockTimeout.components
        // 0 would wait forever.
        return max(1, parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000)
    }
}
