import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// Reads go to a server that follows another, but for what that may not have yet.
@Suite(.serialized, .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct ReplicaTests {
    private static func onServer(_ server: PostgreSQLServer, _ statement: String) throws {
        let connection = try PostgreSQLConnection(
            PostgreSQLOptions(PostgreSQLAddress(server.url(schema: "public"))))
        defer { connection.close() }
        try connection.rows(statement)
    }

    /// Whether the database reads from a replica now.
    private static func readsFromReplica(_ database: PostgreSQLDatabase) throws -> Bool {
        try database.read { connection in
            let statement = try connection.statement("SELECT pg_is_in_recovery()::INTEGER")
            defer { statement.reset() }
            return try statement.step() && statement.integer(0) == 1
        }
    }

    @Test(arguments: ["", "&pooler=transaction"])
    func whoHasSavedReadsWhatHeSaved(_ mode: String) throws {
        let name = mode.isEmpty ? "p" : "pp"
        let server = try PostgreSQLServer("\(name)1")
        let replica = try server.makeReplica("\(name)2")
        let url = server.url(schema: Notes.newSchema("r"), "&replicas=\(replica.folder)\(mode)")
        let notes = try Notes(url)
        let database = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { database.close() }
        #expect(try Polling.holds { try Self.readsFromReplica(database) })

        // Each save is read by whoever saved it, whether or not the replica has it.
        let context = notes.newContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        func save(_ name: String) throws {
            try context.performAndWait {
                Notes.insert(name, in: context)
                try context.save()
            }
        }
        for number in 0..<20 {
            try save("\(number)")
            #expect(try notes.contents().count == number + 1)
        }
        try Self.onServer(replica, "SELECT pg_wal_replay_pause()")
        #expect(
            try Polling.holds {
                let connection = try PostgreSQLConnection(
                    PostgreSQLOptions(PostgreSQLAddress(replica.url(schema: "public"))))
                defer { connection.close() }
                return try connection.rows("SELECT 1 WHERE pg_get_wal_replay_pause_state() = 'paused'").count == 1
            })
        for number in 20..<25 {
            try save("\(number)")
            #expect(try notes.contents().count == number + 1)
        }
        try context.performAndWait {
            // What it is to be, and not what it was, is what a generation has.
            try context.setQueryGenerationFrom(.current)
            #expect(try context.count(for: request) == 25)
            try context.setQueryGenerationFrom(nil)
        }
        // Who has not saved, and was told of nothing, reads what was there; who writes reads from the server from then on.
        #expect(try Self.readsFromReplica(database))
        try database.write { try $0.settle() }
        #expect(try !Self.readsFromReplica(database))
        try Self.onServer(replica, "SELECT pg_wal_replay_resume()")
        #expect(try Polling.holds { try Self.readsFromReplica(database) })
        // A conflict is found with what others have saved meanwhile.
        let other = try Notes(url).newContext()
        try other.performAndWait {
            for note in try other.fetch(request) { note.setValue(1, forKey: "count") }
        }
        try context.performAndWait {
            for note in try context.fetch(request) { note.setValue(2, forKey: "count") }
            try context.save()
        }
        other.performAndWait {
            let error = #expect(throws: CocoaError.self) { try other.save() }
            #expect(error?.code.rawValue == NSManagedObjectMergeError)
        }
    }

    @Test func whereTheReplicaIsGoneTheServerIsRead() throws {
        let server = try PostgreSQLServer("g1")
        let replica = try server.makeReplica("g2")
        let url = server.url(schema: Notes.newSchema("g"), "&replicas=/nowhere,\(replica.folder)")
        let notes = try Notes(url)
        let context = notes.newContext()
        try context.performAndWait {
            Notes.insert("a", in: context)
            try context.save()
        }
        let database = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { database.close() }
        #expect(try Polling.holds { try Self.readsFromReplica(database) })
        try replica.stopImmediately()
        for _ in 0..<10 { #expect(try notes.contents().map(\.name) == ["a"]) }
        #expect(try !Self.readsFromReplica(database))
        try replica.start()
        #expect(try Polling.holds { try Self.readsFromReplica(database) })
        #expect(try notes.contents().map(\.name) == ["a"])
        // One that follows no longer is another store.
        try Self.onServer(replica, "SELECT pg_promote()")
        #expect(try Polling.holds { try !Self.readsFromReplica(database) })
        try context.performAndWait {
            Notes.insert("b", in: context)
            try context.save()
        }
        #expect(try notes.contents().map(\.name) == ["a", "b"])
    }
}
