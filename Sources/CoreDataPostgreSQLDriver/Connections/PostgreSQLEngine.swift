import CPostgreSQL
import CoreDataSQL

/// Who is at the other end of PostgreSQL's protocol.
package enum PostgreSQLEngine: String, CaseIterable, Sendable {
    case postgreSQL = "postgresql"
    case aurora
    case citus
    case yugabyteDB = "yugabytedb"
    case cockroachDB = "cockroachdb"

    /// What it can. Aurora, and Citus for a schema on one node, can what PostgreSQL can.
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

    /// - Parameter version: what the server says of itself when it is asked for its `version()`.
    static func of(version: String) -> PostgreSQLEngine {
        if version.contains("CockroachDB") { return .cockroachDB }
        if version.contains("-YB-") || version.contains("Yugabyte") { return .yugabyteDB }
        return .postgreSQL
    }
}

/// What a server can, and whoever stands before it, beside what a dialect says of its statements: who sends it something asks for one of these, never
/// for a product.
package struct ServerTraits: Hashable, Sendable {
    /// Whether what a session sets, prepares and listens to is there in its next transaction; behind a pooler it may not be.
    package var keepsSessions = true
    /// Whether sessions can be told of what others commit.
    package var listens = true
    /// Whether there are locks that are no rows'.
    package var locksByNumber = true
    /// Whether a session may say what its transactions are where they do not say so themselves.
    package var setsTransactions = true
    /// Whether sessions have numbers, by which they can be ended.
    package var knowsSessions = true
    /// Whether transactions have numbers, by which can be asked later what became of them.
    package var tellsTransactions = true
    /// Whether what a transaction sees has a name.
    package var namesSnapshots = true
    /// Whether several arrays become rows together: `UNNEST(?, ?)`.
    package var unnestsTogether = true
    /// Whether a query may change rows and go on with how many these were: `WITH changed AS (UPDATE … RETURNING 1) SELECT …`.
    package var changesWithinQueries = true
    /// Whether a query that was planned with the constant of a function is planned anew as soon as the function is another, and tables can be locked.
    package var plansAnew = true
    /// Whether it takes rows by `COPY … FROM STDIN (FORMAT binary)`.
    package var copies = true
    /// Whether tables have comments and views that no change of a table conflicts with, and whether a block of statements runs as one (`DO`).
    package var describesTables = true
    /// Whether it can look at the end of a transaction only whether what a row leads to is there.
    package var defersConstraints = true
    /// Whether it says how many bytes its tables take.
    package var tellsSizes = true
    /// Whether it can be told to give back the space of deleted rows.
    package var vacuums = true
    /// Whether its regular expressions are PostgreSQL's to the letter: `text ~ '[Kk\u212a]'`.
    package var findsPatterns = true

    /// Whether a transaction has to say whose it is, so that its session can be found and ended.
    var marksWriters: Bool { !keepsSessions && locksByNumber && knowsSessions }

    package func dialect(_ dialect: SQLDialect) -> SQLDialect {
        let dialect = unnestsTogether ? dialect : dialect.withoutArrays()
        return findsPatterns ? dialect : dialect.withoutPatterns()
    }
}

/// Who stands between a program and a server, as the URL says.
package enum PostgreSQLPooler: String, CaseIterable, Sendable {
    /// Gives each session one of the server's, for as long as it lasts.
    case session
    /// Gives each transaction one of the server's sessions.
    case transaction
}
