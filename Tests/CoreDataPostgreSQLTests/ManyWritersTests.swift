import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import PostgreSQLAccounts
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// Many write to the same rows at once.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct ManyWritersTests {
    /// Sixteen contexts in eight processes; also behind a pooler, and on an engine that lacks much.
    @Test(arguments: Trials.some(of: ["", "&pooler=transaction", "&engine=cockroachdb"]))
    func contextsAndProcessesThatChangeTheSameRowsLoseNothing(_ mode: String) throws {
        let server = try PostgreSQLServer.shared
        let schema = Notes.newSchema("a")
        let direct = server.url(schema: schema, mode)
        if mode.contains("pooler"), !PgBouncer.isInstalled { try Test.cancel("\(PgBouncer.missing)") }
        let url = mode.contains("pooler") ? try PgBouncer.shared.url(schema: schema) : direct
        let accounts = Accounts(url)
        try accounts.make()
        let (times, contexts) = (6, 2)
        let others = try (1...7).map { number in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
                .deletingLastPathComponent().appendingPathComponent("PostgreSQLTransfers")
            process.arguments = [url.absoluteString, "\(times)", "\(contexts)", "\(number)"]
            try process.run()
            return process
        }
        try accounts.move(times: times, contexts: contexts, seed: 0)
        for process in others {
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        let sums = try accounts.sums()
        #expect(sums.balance == 1000 * Accounts.count)
        #expect(sums.moves == 8 * times * contexts)
    }

    /// The server ends one of two who wait for one another; the save is done then.
    @Test func aSaveThatIsTheVictimOfADeadlockIsTriedAgain() throws {
        let server = try PostgreSQLServer.shared
        let schema = Notes.newSchema("d")
        // This one looks for deadlocks first, and so is their victim: once, a second after it has begun to wait.
        let notes = try Notes(
            server.url(schema: schema, "&application_name=\(schema)&options=-c%20deadlock_timeout%3D1s"))
        let context = notes.newContext()
        let other = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(server.url(schema: schema))))
        defer { other.close() }
        try other.execute("SET deadlock_timeout = '10min'")
        try context.performAndWait {
            let all = ["a", "b"].map { Notes.insert($0, in: context) }
            try context.save()
            for note in all { note.setValue(1, forKey: "count") }
            // Rows are saved in the order of their keys.
            other.begin(ServerText.beginWriting)
            try other.execute(#"SELECT 1 FROM "Note" WHERE "name" = 'b' FOR UPDATE"#)
            let deadlocks = try Self.deadlocks(server)
            let waits = DispatchQueue(label: "waits")
            // Safe because nobody else uses the connection until the queue is through.
            nonisolated(unsafe) let session = other
            waits.async {
                #expect(throws: Never.self) {
                    try Polling.wait(for: "the save to wait for 'b'") { try Self.isWaiting(schema, server) }
                    // It gets 'a' because the save is ended.
                    try session.execute(#"SELECT 1 FROM "Note" WHERE "name" = 'a' FOR UPDATE"#)
                }
                session.rollBack()
            }
            // Both rows in one statement, or one after the other: either waits for 'b' with 'a' in hand.
            try context.save()
            waits.sync {}
            #expect(all.allSatisfy { !$0.hasChanges })
            #expect(try Polling.holds { try Self.deadlocks(server) > deadlocks })
        }
        #expect(try notes.contents().map(\.count) == [1, 1])
    }

    /// Whether a session of the application waits for a lock.
    private static func isWaiting(_ application: String, _ server: PostgreSQLServer) throws -> Bool {
        let connection = try PostgreSQLConnection(
            PostgreSQLOptions(PostgreSQLAddress(server.url(schema: "public"))))
        defer { connection.close() }
        return try !connection.rows(
            "SELECT 1 FROM pg_stat_activity WHERE application_name = $1::TEXT AND wait_event_type = 'Lock'",
            [.text(application)]
        ).isEmpty
    }

    private static func deadlocks(_ server: PostgreSQLServer) throws -> Int64 {
        let connection = try PostgreSQLConnection(
            PostgreSQLOptions(PostgreSQLAddress(server.url(schema: "public"))))
        defer { connection.close() }
        guard
            case .integer(let count)? = try connection.rows(
                "SELECT SUM(deadlocks)::BIGINT FROM pg_stat_database"
            ).first?.first
        else { return 0 }
        return count
    }
}
