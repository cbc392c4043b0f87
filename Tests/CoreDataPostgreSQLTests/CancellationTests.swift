import CoreDataSQL
import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// An interrupt ends the statements that run, nothing that is sent later, and holds nobody up, however long it is on its way to the server.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct CancellationTests {
    /// A database behind a relay that holds requests to cancel back, and another session that holds two locks which its readers wait for.
    private final class Scene: Sendable {
        let locks = (Int64.random(in: 1...1 << 60), Int64.random(in: 1...1 << 60))
        let database: PostgreSQLDatabase
        /// Held so that its socket stays.
        private let relay: PacketRelay
        private let name = Notes.newSchema("k")
        // Safe because the test's own thread alone uses it.
        nonisolated(unsafe) private let other: PostgreSQLConnection
        /// Signalled when a request is at the relay, and when it may go on.
        private let (arrived, gate): (DispatchSemaphore, DispatchSemaphore)
        /// What came of the statements of ``read(_:)``.
        let outcome = Mutex<Result<Int, any Error>?>(nil)

        init(pool: Int, limit: Duration, _ rest: String = "") throws {
            let server = try PostgreSQLServer.shared
            let (arrived, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            (self.arrived, self.gate) = (arrived, gate)
            relay = try PacketRelay(to: server) { packet in
                if packet.isCancelRequest {
                    arrived.signal()
                    gate.wait()
                }
                return .pass
            }
            var options = PostgreSQLOptions(
                try PostgreSQLAddress(
                    server.url(schema: "public", folder: relay.folder, "&pool=\(pool)&application_name=\(name)\(rest)"))
            )
            options.cancelTimeout = limit
            database = try PostgreSQLDatabase(options)
            other = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(server.url(schema: "public"))))
            for lock in [locks.0, locks.1] { try other.execute("SELECT pg_advisory_lock(\(lock))") }
        }

        func end() {
            gate.signal()
            // With the session go its locks, which a reader may still wait for.
            other.close()
            database.close()
        }

        /// Has another thread wait for one lock after the other, each by a statement of one read.
        func read(_ locks: [Int64]) {
            Thread.detachNewThread { [self] in
                let result = Result {
                    try database.read { connection in
                        try locks.count { try connection.first("SELECT 1 FROM pg_advisory_xact_lock(\($0))") != nil }
                    }
                }
                outcome.withLock { $0 = result }
            }
        }

        /// Has another thread wait for the lock in a transaction that writes, and commit.
        func commit(_ lock: Int64) {
            Thread.detachNewThread { [self] in
                let result = Result {
                    try database.write { connection in
                        try connection.first("SELECT 1 FROM pg_advisory_xact_lock(\(lock))") == nil ? 0 : 1
                    }
                }
                outcome.withLock { $0 = result }
            }
        }

        /// Whether a reader waits for the lock.
        func isAwaited(_ lock: Int64) throws -> Bool {
            try other.rows(
                """
                SELECT COUNT(*) FROM pg_stat_activity
                    WHERE application_name = '\(name)' AND wait_event = 'advisory' AND query LIKE '%(\(lock))'
                """
            ).first?.first == .integer(1)
        }

        func unlock(_ lock: Int64) throws { try other.execute("SELECT pg_advisory_unlock(\(lock))") }

        /// Interrupts the reader once it waits for the lock, and returns when the request is at the relay.
        func interrupt(whileAwaiting lock: Int64) throws {
            try Polling.wait(for: "a reader that waits") { try isAwaited(lock) }
            // On a thread of its own, so that the test goes on where the call does not return.
            Thread.detachNewThread { [self] in database.interrupt() }
            try #require(isAsked(within: 60), "a request to cancel")
        }

        /// Whether a request comes to the relay.
        func isAsked(within seconds: Double) -> Bool { arrived.wait(timeout: .now() + seconds) == .success }

        func letRequestPass() { gate.signal() }

        /// What came of the statements: their number, or the failure.
        func waitForOutcome() throws -> Result<Int, any Error> {
            try Polling.wait(for: "the end of the reader") { outcome.withLock { $0 != nil } }
            return try #require(outcome.withLock { $0 })
        }

        func failure() throws -> SQLFailure? {
            guard case .failure(let error) = try waitForOutcome() else { return nil }
            return error as? SQLFailure
        }
    }

    @Test func aRequestThatDoesNotArriveHoldsUpNobodyElse() throws {
        let scene = try Scene(pool: 2, limit: .seconds(60))
        defer { scene.end() }
        scene.read([scene.locks.0])
        try scene.interrupt(whileAwaiting: scene.locks.0)
        let answer = Mutex<SQLValue?>(nil)
        Thread.detachNewThread {
            let found = try? scene.database.ask("SELECT 1")
            answer.withLock { $0 = found }
        }
        #expect(Polling.holds { answer.withLock { $0 } == .integer(1) })
        scene.letRequestPass()
        #expect(try scene.failure()?.kind == .interrupted)
    }

    @Test func aLateRequestCancelsNothingThatIsSentLater() throws {
        let scene = try Scene(pool: 1, limit: .seconds(60))
        defer { scene.end() }
        let (first, second) = scene.locks
        scene.read([first, second])
        try scene.interrupt(whileAwaiting: first)
        // The statement that the request was meant for ends by itself.
        try scene.unlock(first)
        #expect(try !Polling.holds(within: 0.3) { try scene.isAwaited(second) }, "the next one waits for the request")
        scene.letRequestPass()
        try Polling.wait(for: "the next statement, or its end") {
            try scene.isAwaited(second) || scene.outcome.withLock { $0 != nil }
        }
        try scene.unlock(second)
        #expect(try scene.waitForOutcome().get() == 2)
        // A time limit of the server's is not taken for the interrupt that hit nothing.
        let failure = #expect(throws: SQLFailure.self) {
            try scene.database.read { connection in
                _ = try connection.first("SELECT set_config('statement_timeout', '50', true)")
                _ = try connection.first("SELECT 1 FROM pg_sleep(60)")
            }
        }
        #expect(failure?.kind == .timedOut)
    }

    /// What the engine cannot name a transaction by is not asked for, so that nothing is sent between the query and COMMIT.
    @Test func aLateRequestDoesNotCancelTheCommit() throws {
        let scene = try Scene(pool: 1, limit: .seconds(60), "&engine=yugabytedb")
        defer { scene.end() }
        scene.commit(scene.locks.0)
        try scene.interrupt(whileAwaiting: scene.locks.0)
        // The query that the request was meant for ends by itself.
        try scene.unlock(scene.locks.0)
        #expect(
            !Polling.holds(within: 0.3) { scene.outcome.withLock { $0 != nil } }, "COMMIT waits for the request")
        scene.letRequestPass()
        #expect(try scene.waitForOutcome().get() == 1)
    }

    /// A transaction whose COMMIT is not sent for that reason is known not to be committed, and the next one has another connection.
    @Test func aRequestThatDoesNotArriveBeforeTheCommitCostsTheTransaction() throws {
        let scene = try Scene(pool: 1, limit: .milliseconds(50), "&engine=yugabytedb")
        defer { scene.end() }
        scene.commit(scene.locks.0)
        try scene.interrupt(whileAwaiting: scene.locks.0)
        try scene.unlock(scene.locks.0)
        #expect(try scene.failure()?.kind == .disconnected)
        #expect(try scene.database.write { try $0.first("SELECT 1") } == .integer(1))
    }

    @Test func aRequestThatDoesNotArriveInTimeCostsTheConnection() throws {
        let scene = try Scene(pool: 1, limit: .milliseconds(50))
        defer { scene.end() }
        let (first, second) = scene.locks
        scene.read([first, second])
        try scene.interrupt(whileAwaiting: first)
        try scene.unlock(first)
        #expect(try scene.failure()?.kind == .disconnected)
        #expect(try scene.database.ask("SELECT 1") == .integer(1))
    }

    @Test func anInterruptOfNothingDoesNothing() throws {
        let scene = try Scene(pool: 1, limit: .seconds(60))
        defer { scene.end() }
        try scene.database.read { connection in
            _ = try connection.first("SELECT 1")
            // On a thread of its own, as above.
            Thread.detachNewThread { scene.database.interrupt() }
            #expect(!scene.isAsked(within: 0.3))
            #expect(try connection.first("SELECT 2") == .integer(2))
        }
    }
}

extension SQLConnection {
    /// The first value of the first row.
    fileprivate func first(_ sql: String) throws -> SQLValue? {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.value(0) : nil
    }
}
