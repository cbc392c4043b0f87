import CoreDataSQL
import Foundation

/// How a database on a server is opened.
package struct PostgreSQLOptions: Sendable {
    package var address: PostgreSQLAddress
    package var isReadOnly = false
    /// The most connections that read at once, beside the one that writes.
    package var readerCount = 8
    /// The most former states that are held at once, each by a connection of its own.
    package var stateCount = 16
    /// How long to wait for a connection, and for a server that does not answer.
    package var connectTimeout = Duration.seconds(10)
    /// How long to wait for another's lock.
    package var lockTimeout = Duration.seconds(60)
    /// How long a connection waits for a request to cancel that is on its way; it is closed then.
    var cancelTimeout = Duration.seconds(2)
    /// After how long a session that only listens is asked for a sign of life, and how long that may take.
    var probe = (interval: Duration.seconds(60), limit: Duration.seconds(20))
    /// Where the driver has the time from.
    var clock = PostgreSQLClock.system
    /// Asked for a password where the URL has none.
    package var password: (@Sendable () throws -> String?)?
    /// Whether commits are told to those who listen.
    package var tellsOfCommits = false
    /// Whether the server is one that only follows another, which is read from where it can be had at once.
    var isReplica = false
    /// What may be said to the server.
    package var dialect = SQLDialect.postgreSQL

    package init(_ address: PostgreSQLAddress) {
        self.address = address
        if let size = address.poolSize { readerCount = size }
    }

    /// - Throws: ``SQLFailure`` for what a server cannot follow.
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

    /// What an engine can, behind the pooler that the URL names.
    func traits(of engine: PostgreSQLEngine) -> ServerTraits {
        var traits = engine.traits
        if address.pooler == .transaction { (traits.keepsSessions, traits.setsTransactions) = (false, false) }
        return traits
    }

    /// How a replica is opened.
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
        // 0 would wait for ever.
        return max(1, parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000)
    }
}
