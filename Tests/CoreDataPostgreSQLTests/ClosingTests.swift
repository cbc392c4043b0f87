import CoreDataSQL
import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// A database that is closed leaves no session behind, also of a connection that was just being opened.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct ClosingTests {
    private static func read(_ database: PostgreSQLDatabase, isPinned: Bool, _ body: () -> Void) throws {
        guard isPinned else { return try database.read { _ in body() } }
        if try database.pinned() != nil { body() }
    }

    @Test(arguments: [false, true]) func aConnectionThatIsBeingOpenedEndsWithTheDatabase(isPinned: Bool) throws {
        let server = try PostgreSQLServer.shared
        let name = Notes.newSchema("c")
        let isArmed = Atomic<Bool>(false)
        let (arrived, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let relay = try PacketRelay(to: server) { packet in
            if isArmed.exchange(false, ordering: .sequentiallyConsistent) {
                arrived.signal()
                gate.wait()
            }
            return .pass
        }
        defer { gate.signal() }
        let database = try PostgreSQLDatabase(
            PostgreSQLOptions(
                PostgreSQLAddress(server.url(schema: "public", folder: relay.folder, "&application_name=\(name)"))))
        let outcome = Mutex<(wasRead: Bool, error: (any Error)?)?>(nil)
        // The one connection is in use, so that the other thread opens another.
        try database.read { _ in
            isArmed.store(true, ordering: .sequentiallyConsistent)
            Thread.detachNewThread {
                var (wasRead, failure): (Bool, (any Error)?) = (false, nil)
                do { try Self.read(database, isPinned: isPinned) { wasRead = true } } catch { failure = error }
                outcome.withLock { [wasRead, failure] in $0 = (wasRead, failure) }
            }
            try #require(arrived.wait(timeout: .now() + 60) == .success, "a connection that is being opened")
        }
        database.close()
        gate.signal()
        try Polling.wait(for: "the end of the reader") { outcome.withLock { $0 != nil } }
        let (wasRead, error) = try #require(outcome.withLock { $0 })
        #expect(!wasRead && (error as? SQLFailure)?.message == "the database is closed")
        let other = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(server.url(schema: "public"))))
        defer { other.close() }
        try Polling.wait(for: "the end of all sessions") {
            try other.rows("SELECT 1 FROM pg_stat_activity WHERE application_name = '\(name)'").isEmpty
        }
    }
}
