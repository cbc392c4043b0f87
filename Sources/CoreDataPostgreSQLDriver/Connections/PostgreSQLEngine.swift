import CPostgreSQL
import CoreDataSQL

/// The kind of server that speaks PostgreSQL's protocol.
package enum PostgreSQLEngine: String, CaseIterable, Sendable {
    case postgreSQL = "postgresql"
    case aurora
    case citus
    case yugabyteDB = "yugabytedb"
    case cockroachDB = "cockroachdb"

    /// The server's capabilities. Aurora, and Citus with a schema on one node, have all capabilities of PostgreSQL.
    package var traits: ServerTraits {
        var traits = ServerTraits()
        switch self {
        case .postgreSQL, .aurora, .citus: break
        case .yugabyteDB:
            traits.listens = false
            traits.locksByNumber = false
            traits.setsTransactions = false
            traits.tellsTransactions = false
            traits.namesSnapshots = false
            traits.changesWithinQueries = false
            traits.plansAnew = false
            traits.findsPatterns = false
        case .cockroachDB:
            traits.listens = false
            traits.locksByNumber = false
            traits.setsTransactions = false
            traits.tellsTransactions = false
            traits.namesSnapshots = false
            traits.knowsSessions = false
            traits.unnestsTogether = false
            traits.copies = false
            traits.changesWithinQueries = false
            traits.plansAnew = false
            traits.defersConstraints = false
            traits.describesTables = false
            traits.tellsSizes = false
            traits.vacuums = false
            traits.findsPatterns = false
        }
        return traits
    }

    /// - Parameter version: the server's answer to `version()`.
    static func of(version: String) -> PostgreSQLEngine {
        if version.contains("CockroachDB") { return .cockroachDB }
        if version.contains("-YB-") || version.contains("Yugabyte") { return .yugabyteDB }
        return .postgreSQL
    }
}

/// The capabilities of a server and its pooler, besides those of the SQL dialect. Code that sends statements asks for a
/// capability, never for a product.
package struct ServerTraits: Hashable, Sendable {
    /// Whether settings, prepared statements and subscriptions persist to the session's next transaction; behind a
    /// pooler they may not.
    package var keepsSessions = true
    /// Whether sessions can be notified of other clients' commits.
    package var listens = true
    /// Whether there are advisory locks.
    package var locksByNumber = true
    /// Whether a session can set the default options of its transactions.
    package var setsTransactions = true
    /// Whether sessions have process IDs, with which they can be terminated.
    package var knowsSessions = true
    /// Whether transactions have IDs, with which their outcome can be queried later.
    package var tellsTransactions = true
    /// Whether snapshots have identifiers.
    package var namesSnapshots = true
    /// Whether several arrays can be expanded to rows together: `UNNEST(?, ?)`.
    package var unnestsTogether = true
    /// Whether a query can change rows and use their number: `WITH changed AS (UPDATE … RETURNING 1) SELECT …`.
    package var changesWithinQueries = true
    /// Whether a planned query with a function's constant is planned again after the function changes, and tables can
    /// be locked.
    package var plansAnew = true
    /// Whether it supports `COPY … FROM STDIN (FORMAT binary)`.
    package var copies = true
    /// Whether comments and views do not conflict with later changes of their tables, and whether a block of statements
    /// can run as one (`DO`).
    package var describesTables = true
    /// Whether foreign keys can be checked at the end of a transaction.
    package var defersConstraints = true
    /// Whether it reports the size of tables in bytes.
    package var tellsSizes = true
    /// Whether it supports VACUUM, which releases the space of deleted rows.
    package var vacuums = true
    /// Whether its regular expressions are exactly PostgreSQL's: `text ~ '[Kk\u212a]'`.
    package var findsPatterns = true

    /// Whether a transaction must identify its writer, so that its session can be found and terminated.
    var marksWriters: Bool { !keepsSessions && locksByNumber && knowsSessions }

    package func dialect(_ dialect: SQLDialect) -> SQLDialect {
        let dialect = unnestsTogether ? dialect : dialect.withoutArrays()
        return findsPatterns ? dialect : dialect.withoutPatterns()
    }
}

/// The kind of connection pooler in front of a server, as the URL names it.
package enum PostgreSQLPooler: String, CaseIterable, Sendable {
    /// Assigns a server session to each client session, until the client disconnects.
    case session
    /// Assigns a server session to each transaction.
    case transaction
}
