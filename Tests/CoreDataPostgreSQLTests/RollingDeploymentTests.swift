import CoreData
import CoreDataPostgreSQL
import Foundation
import MigrationScenarios
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// Two versions of a program with one store on a server, as while a newer one is deployed machine by machine.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)")) struct RollingDeploymentTests {
    private static func url(_ schema: String = Notes.newSchema("y")) throws -> URL {
        PostgreSQLStore.register()
        return try PostgreSQLServer.shared.url(schema: schema)
    }

    private static func start(_ version: Int, _ url: URL) throws -> (process: Process, output: Pipe) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("PostgreSQLTransfers")
        process.arguments = ["open", "\(version)", url.absoluteString]
        let output = Pipe()
        (process.standardOutput, process.standardError) = (output, Pipe())
        try process.run()
        return (process, output)
    }

    /// What became of a program: `ok`, or the code of its error.
    private static func end(_ started: (process: Process, output: Pipe)) throws -> String {
        let output = try started.output.fileHandleForReading.readToEnd() ?? Data()
        started.process.waitUntilExit()
        let code = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return started.process.terminationStatus == 0 ? "ok" : code
    }

    @Test func anOlderProgramThatStartsAgainIsRefused() throws {
        let url = try Self.url()
        let (old, new) = (try Library(count: 1), try Library())
        try old.fill(url, .postgreSQL, "Book", count: 24)
        // It runs while the newer one migrates, and is told at its next save.
        try old.open(url, .postgreSQL, 1, Library.automatic) { context in
            let book = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first)
            try new.open(url, .postgreSQL, 3, Library.automatic) { _ in }
            book.setValue("late", forKey: "title")
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.errorCode == NSPersistentStoreIncompatibleVersionHashError)
        }
        let error = #expect(throws: CocoaError.self) { try old.open(url, .postgreSQL, 1, Library.automatic) { _ in } }
        #expect(error?.errorCode == NSMigrationMissingSourceModelError)
        let losses = error?.userInfo[NSMigrationLossesErrorKey] as? [String] ?? []
        #expect(losses.contains("Shelf") && losses.contains("Book.isbn"), "\(losses)")
        #expect(error?.localizedDescription.contains(PostgreSQLAddress.withoutPassword(url).absoluteString) == true)
        #expect(try new.state(of: url, .postgreSQL, count: 24) == "v3")
        var options = Library.automatic
        options[NSMigratePersistentStoresAllowingLossOption] = true
        try old.open(url, .postgreSQL, 1, options) { _ in }
    }

    @Test func programsOfBothVersionsStartAtOnce() throws {
        let new = try Library()
        for _ in 0..<3 {
            let url = try Self.url()
            try new.fill(url, .postgreSQL, "Book", count: 24)
            let started = try [1, 3, 1, 3, 1].map { (version: $0, program: try Self.start($0, url)) }
            for (version, program) in started {
                let end = try Self.end(program)
                let allowed: Set<String> =
                    version == 3
                    ? ["ok"]
                    : [
                        // Before the migration, after it, and while it read.
                        "ok", "\(NSMigrationMissingSourceModelError)",
                        "\(NSPersistentStoreIncompatibleVersionHashError)",
                    ]
                #expect(allowed.contains(end), "version \(version): \(end)")
            }
            #expect(try new.state(of: url, .postgreSQL, count: 24) == "v3")
        }
    }

    /// The role of the programs may only work with rows: who deploys migrates, with another role.
    @Test func aRoleOfRowsNeitherMigratesForwardNorBack() throws {
        let schema = Notes.newSchema("y")
        let (server, url) = (try PostgreSQLServer.shared, try Self.url(schema))
        let (old, new) = (try Library(count: 1), try Library())
        try old.fill(url, .postgreSQL, "Book", count: 24)
        let owner = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { owner.close() }
        let role = Notes.newSchema("r")
        func grant() throws {
            for words in [
                "GRANT USAGE ON SCHEMA \(schema) TO \(role)",
                "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)",
            ] { try owner.execute(words) }
        }
        try owner.execute("CREATE ROLE \(role) LOGIN")
        try grant()
        let theirs = server.url(schema: schema, user: role)
        try old.open(theirs, .postgreSQL, 1, Library.automatic) { _ in }
        // Who may not migrate is told so, and the store stays what it was.
        let error = #expect(throws: CocoaError.self) {
            try new.open(theirs, .postgreSQL, 3, Library.automatic) { _ in }
        }
        #expect(error?.errorCode != NSPersistentStoreIncompatibleVersionHashError, "\(String(describing: error))")
        #expect(try new.state(of: url, .postgreSQL, count: 24) == "v1")
        try new.open(url, .postgreSQL, 3, Library.automatic) { _ in }
        // New tables, new rights.
        try grant()
        try new.open(theirs, .postgreSQL, 3, Library.automatic) { _ in }
        #expect(throws: CocoaError.self) { try old.open(theirs, .postgreSQL, 1, Library.automatic) { _ in } }
        #expect(try new.state(of: url, .postgreSQL, count: 24) == "v3")
    }
}
