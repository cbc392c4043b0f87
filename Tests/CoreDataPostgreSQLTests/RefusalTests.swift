import CoreDataSQL
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQLDriver

/// What a server refuses is told by the error that programs have for it, and nothing is changed by it.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct RefusalTests {
    private static func onServer(_ server: PostgreSQLServer, _ statements: [String]) throws {
        let connection = try PostgreSQLConnection(
            PostgreSQLOptions(PostgreSQLAddress(server.url(schema: "public"))))
        defer { connection.close() }
        for statement in statements { try connection.execute(statement) }
    }

    private static func text(_ error: CocoaError?) -> String { error.map { "\($0) \($0.userInfo)" } ?? "" }

    /// What took too long is told from what the program itself has ended, and neither costs the connection.
    @Test func aStatementThatIsEndedSaysByWhom() throws {
        let server = try PostgreSQLServer.shared
        let name = Notes.newSchema("t")
        let database = try PostgreSQLDatabase(
            PostgreSQLOptions(
                PostgreSQLAddress(
                    server.url(
                        schema: "public", "&pool=1&application_name=\(name)&options=-c%20statement_timeout%3D1500"))))
        defer { database.close() }
        let other = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(server.url(schema: "public"))))
        defer { other.close() }
        func end(_ kind: SQLFailure.Kind, _ body: @escaping @Sendable () throws -> Void) {
            let ender = DispatchGroup()
            ender.enter()
            Thread.detachNewThread {
                defer { ender.leave() }
                #expect(throws: Never.self) { try body() }
            }
            let failure = #expect(throws: SQLFailure.self) { try database.ask("SELECT 1 FROM pg_sleep(60)") }
            ender.wait()
            #expect(failure?.kind == kind, "\(String(describing: failure))")
            #expect(throws: Never.self) { try #expect(database.ask("SELECT 1") == .integer(1)) }
        }
        end(.timedOut) {}
        end(.interrupted) {
            let running = "FROM pg_stat_activity WHERE application_name = '\(name)' AND query LIKE '%pg_sleep%'"
            try Polling.wait(for: "the statement") {
                try other.ask("SELECT COUNT(*) \(running) AND wait_event = 'PgSleep'") == .integer(1)
            }
            database.interrupt()
        }
        end(.timedOut) {}
        let error = CoreDataErrors.sql(SQLFailure(kind: .timedOut, code: 0, message: ""), store: nil)
        #expect(error.code.rawValue == NSPersistentStoreTimeoutError)
    }

    /// Sessions that the server ends when they are idle are replaced, also where it says so in answer to a statement.
    @Test func sessionsThatTheServerEndsAreReplaced() throws {
        let server = try PostgreSQLServer.shared
        let url = server.url(
            schema: Notes.newSchema("i"),
            "&options=-c%20idle_session_timeout%3D50%20-c%20idle_in_transaction_session_timeout%3D50")
        let notes = try Notes(url)
        let context = notes.newContext()
        try context.performAndWait {
            // The server's limit is 50 ms: pauses of about that long have it end the session before, in and after a statement.
            for pause in [0.2, 0.049, 0.05, 0.051, 0.05, 0.0505, 0.0495] {
                Notes.insert("\(pause)", in: context)
                try context.save()
                Thread.sleep(forTimeInterval: pause)
                _ = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note"))
                Thread.sleep(forTimeInterval: pause)
            }
        }
        #expect(try notes.contents().count == 7)
    }

    @Test func aWrongPasswordOpensNothing() throws {
        let server = try PostgreSQLServer.shared
        try Self.onServer(
            server,
            [
                "DROP ROLE IF EXISTS guarded", "CREATE ROLE guarded LOGIN PASSWORD 'richtig'",
                "GRANT CREATE ON DATABASE postgres TO guarded",
            ])
        let schema = Notes.newSchema("w")
        for (password, isRight) in [("falsch", false), ("", false), ("richtig", true)] {
            let url = server.url(
                schema: schema, user: PostgreSQLServer.guarded, password.isEmpty ? "" : "&password=\(password)")
            if isRight {
                #expect(try Notes(url).contents().isEmpty)
                continue
            }
            let error = #expect(throws: CocoaError.self) { try Notes(url) }
            #expect(error?.code.rawValue == NSPersistentStoreOpenError)
            #expect(Self.text(error).contains("password") && !Self.text(error).contains("falsch"))
        }
    }

    @Test func aRoleWithoutRightsIsTold() throws {
        let server = try PostgreSQLServer.shared
        let (schema, role) = (Notes.newSchema("n"), Notes.newSchema("n"))
        try Self.onServer(server, ["CREATE ROLE \(role) LOGIN"])
        let stranger = server.url(schema: schema, user: role)
        // It may not make the schema.
        let unmade = #expect(throws: CocoaError.self) { try Notes(stranger) }
        #expect(Self.text(unmade).contains("permission denied"))
        let owner = try Notes(server.url(schema: schema)).newContext()
        try owner.performAndWait {
            Notes.insert("a", in: owner)
            try owner.save()
        }
        // Nor read it.
        let unread = #expect(throws: CocoaError.self) { try Notes(stranger) }
        #expect(
            unread?.code == .fileReadNoPermission && Self.text(unread).contains("permission denied"),
            "\(Self.text(unread))")
        // It sees that there is a store, and is told what it lacks.
        try Self.onServer(server, ["GRANT USAGE ON SCHEMA \(schema) TO \(role)"])
        let hidden = #expect(throws: CocoaError.self) { try Notes(stranger) }
        #expect(hidden?.code == .fileReadNoPermission, "\(Self.text(hidden))")
        #expect(Self.text(hidden).contains("_metadata") && Self.text(hidden).contains("SELECT"), "\(Self.text(hidden))")
        try Self.onServer(
            server,
            [
                "GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(role)",
                #"REVOKE SELECT ON \#(schema)."Note" FROM \#(role)"#,
            ])
        let partly = #expect(throws: CocoaError.self) { try Notes(stranger).contents() }
        #expect(partly?.code == .fileReadNoPermission, "\(Self.text(partly))")
        #expect(Self.text(partly).contains("Note") && Self.text(partly).contains("SELECT"), "\(Self.text(partly))")
        try Self.onServer(server, ["GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(role)"])
        // It reads, and does not write.
        let notes = try Notes(stranger)
        #expect(try notes.contents().map(\.name) == ["a"])
        let context = notes.newContext()
        context.performAndWait {
            Notes.insert("b", in: context)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .fileWriteNoPermission, "\(Self.text(error))")
            #expect(!Self.text(error).contains("SQLite "), "\(Self.text(error))")
            #expect(context.insertedObjects.count == 1)
        }
        #expect(try notes.contents().map(\.name) == ["a"])
        // With rights on rows alone, which is all that an app should have, it saves.
        try Self.onServer(
            server, ["GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)"])
        try context.performAndWait { try context.save() }
        #expect(try notes.contents().map(\.name) == ["a", "b"])
    }

    @Test(.enabled(if: PostgreSQLServer.canMakeDisks, "\(PostgreSQLServer.noDisks)"))
    func whereThereIsNoSpaceLeftTheSaveFailsWhole() throws {
        let server = try PostgreSQLServer.shared
        let disk = try server.makeSmallDisk(megabytes: 16)
        try Self.onServer(server, ["CREATE TABLESPACE small LOCATION '\(disk)'"])
        let schema = Notes.newSchema("f")
        let notes = try Notes(server.url(schema: schema, "&options=-c%20default_tablespace%3Dsmall"))
        let context = notes.newContext()
        var numbers = SystemRandomNumberGenerator()
        try context.performAndWait {
            var saved = 0
            var failure: CocoaError?
            while failure == nil, saved < 60 {
                // What cannot be compressed.
                let data = Data((0..<(1 << 17)).flatMap { _ in withUnsafeBytes(of: numbers.next()) { Array($0) } })
                Notes.insert(String(format: "%03d", saved), in: context, data: data)
                do {
                    try context.save()
                    saved += 1
                } catch let error as CocoaError { failure = error }
            }
            #expect(failure?.code == .fileWriteOutOfSpace, "\(Self.text(failure))")
            #expect(context.insertedObjects.count == 1 && saved > 1)
            context.rollback()
            let names = try notes.contents().map(\.name)
            #expect(names == (0..<saved).map { String(format: "%03d", $0) })
            // What is there can still be changed.
            let first = try #require(
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
            first.setValue(1, forKey: "count")
            try context.save()
        }
    }

    @Test func whereThereAreTooManyConnectionsTheErrorSaysSo() throws {
        let server = try PostgreSQLServer.shared
        let (schema, role) = (Notes.newSchema("l"), Notes.newSchema("l"))
        try Self.onServer(
            server,
            ["CREATE ROLE \(role) LOGIN CONNECTION LIMIT 2", "GRANT CREATE ON DATABASE postgres TO \(role)"])
        let url = server.url(schema: schema, user: role, "&connect_timeout=2")
        // One that reads, one that writes.
        let notes = try Notes(url)
        let context = notes.newContext()
        try context.performAndWait {
            Notes.insert("a", in: context)
            try context.save()
        }
        let error = #expect(throws: CocoaError.self) { try Notes(url) }
        #expect(error?.code.rawValue == NSPersistentStoreOpenError)
        #expect(Self.text(error).contains("too many connections"), "\(Self.text(error))")
        #expect(try notes.contents().map(\.name) == ["a"])
    }
}
