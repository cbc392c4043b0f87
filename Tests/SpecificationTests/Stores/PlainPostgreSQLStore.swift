import CoreDataPostgreSQLDriver
import CoreDataSQL
import Foundation
import PostgreSQLServer
import Synchronization

extension SpecifiedStore {
    /// A schema of a PostgreSQL server that is told that it is CockroachDB, which lacks what YugabyteDB lacks, and more. What the engine lacks is never said to it,
    /// and of the saves' statements one in thirty fails because of others, or so it seems.
    static let plainPostgreSQL = onServer(
        "PostgreSQL as CockroachDB", url: { try PostgreSQLServer.shared.url(schema: $0, "&engine=cockroachdb") },
        observer: { PlainServer() })
}

/// Fails what an engine that distributes does not know, and now and then what changes rows.
private final class PlainServer: SQLObserver {
    /// Guards a state of chance, how often what changes rows failed since a transaction was committed (what writes is tried again twelve times), and whether
    /// somebody writes alone (what a batch insert asks a program for cannot be asked for again).
    private let state = Mutex((chance: UInt64(20_261_125), failures: 0, isAlone: false))
    /// Statements without foreign words.
    private let known = Mutex<Set<String>>([])

    func willRun(_ sql: String, bindings: [SQLValue]) throws {
        if !known.withLock({ $0.contains(sql) }) {
            if let word = ForeignWords.first(in: sql, engine: "cockroachdb") {
                throw SQLFailure(kind: .other, code: 0, message: "the engine does not know \(word)", sql: sql)
            }
            known.withLock { _ = $0.insert(sql) }
        }
        switch sql {
        case ServerText.commit: state.withLock { $0.failures = 0 }
        case ServerText.lockRowAlone: state.withLock { $0.isAlone = true }
        case ServerText.lockRowBeside: state.withLock { $0.isAlone = false }
        default: break
        }
        guard ["INSERT INTO \"Book", "UPDATE \"Book", "DELETE FROM \"Book"].contains(where: sql.hasPrefix) else {
            return
        }
        let fails = state.withLock { state in
            state.chance = state.chance &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            guard (state.chance >> 33) % 30 == 0, state.failures < 2, !(state.isAlone && sql.hasPrefix("INSERT")) else {
                return false
            }
            state.failures += 1
            return true
        }
        if fails { throw SQLFailure(kind: .serialization, code: 0, message: "restart transaction", sql: sql) }
    }
}
