import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreDataCLI

@Suite struct StoreCopyTests {
    private func fill(_ store: String) throws {
        let run = try CommandRun.coredata(
            "generate-data", store, "--model", CommandRun.exampleModel, "--count", "Item=300", "--count", "Unit=6",
            "--members", "Unit.items=10-20", "--seed", "7")
        #expect(run.status == 0, "\(run.error)")
    }

    private func items(_ store: String) throws -> String {
        let run = try CommandRun.coredata(
            "export", store, "--entity", "Item", "--no-ids", "--unique", "Unit.name", "--format", "csv")
        #expect(run.status == 0, "\(run.error)")
        return run.output.split(separator: "\n").sorted().joined(separator: "\n")
    }

    @Test func aStoreIsCopiedOverEveryTypeAndBack() throws {
        let scratch = try Scratch()
        try fill(scratch.path("a.sqlite"))
        for (from, to) in [("a.sqlite", "b.xml"), ("b.xml", "c.binary"), ("c.binary", "d.sqlite")] {
            let isFile = !from.hasSuffix(".sqlite")
            if isFile {
                let nameless = try CommandRun.coredata("store", "copy", scratch.path(from), scratch.path(to))
                #expect(nameless.status == 2 && nameless.error.contains("--model names it"), "\(nameless.error)")
            }
            let run = try CommandRun.run(
                CommandRun.executable(),
                ["store", "copy", scratch.path(from), scratch.path(to)]
                    + (isFile ? ["--model", CommandRun.exampleModel] : []))
            #expect(run.status == 0, "\(run.output)\(run.error)")
            #expect(run.output.hasPrefix("Copied 306 objects"), "\(run.output)")
            #expect(run.output.hasSuffix("counts and checksums agree\n"), "\(run.output)")
        }
        #expect(try items(scratch.path("a.sqlite")) == items(scratch.path("d.sqlite")))
        let again = try CommandRun.coredata("store", "copy", scratch.path("a.sqlite"), scratch.path("d.sqlite"))
        #expect(again.status == 2 && again.error.contains("already"))
        let json = try CommandRun.coredata(
            "store", "copy", scratch.path("a.sqlite"), scratch.path("e.sqlite"), "--json")
        #expect(json.output.contains(#""objects" : 306"#) && json.output.contains(#""isCompared" : true"#))
    }

    @Test func aToolWithoutPostgreSQLSaysHowToGetOneThatHasIt() throws {
        for arguments in [["store", "info"], ["query"], ["store", "verify"]] {
            let run = try CommandRun.run(
                CommandRun.executable(), arguments + ["postgresql://somebody:geheim@localhost/shop"])
            #expect(run.status == 2 && run.error.contains("--traits PostgreSQL"), "\(run.error)")
            #expect(!run.error.contains("geheim"))
        }
    }

    /// As in a tool with PostgreSQL, which registers it before it does anything.
    private func run(_ arguments: String...) throws {
        var command = try Tool.parseAsRoot(arguments)
        try command.run()
    }

    @Test(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
    func everyCommandWorksOnAServer() throws {
        let server = try PostgreSQLServer.shared
        PostgreSQLStore.register()
        let scratch = try Scratch()
        func url(_ letter: Character) -> String {
            server.url(schema: "\(letter)" + UUID().uuidString.filter { $0 != "-" }.lowercased()).absoluteString
        }
        let (first, second, empty) = (url("x"), url("y"), url("z"))
        try fill(scratch.path("a.sqlite"))
        try run("store", "copy", scratch.path("a.sqlite"), first)
        try run("store", "info", first)
        try run("store", "verify", first)
        try run("store", "copy", first, second)
        try run("query", second, "Item", "--where", "quantity > 1", "--limit", "3")
        try run("store", "copy", second, scratch.path("b.xml"))
        try run("store", "copy", second, scratch.path("c.sqlite"))
        #expect(try items(scratch.path("a.sqlite")) == items(scratch.path("c.sqlite")))
        try run("export", second, "--entity", "Unit", "--output", scratch.path("units.csv"))
        try run("store", "create", empty, "--model", first)
        #expect(throws: (any Error).self) { try run("store", "create", empty, "--model", first) }
        #expect(throws: (any Error).self) { try run("store", "copy", first, second) }
        try run("generate-data", empty, "--count", "Item=20", "--count", "Unit=2")
        let report = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: try #require(URL(string: empty)))
        #expect(report.entities.first { $0.name == "Item" }?.rowCount == 20)
        #expect(report.fileSize ?? 0 > 0 && report.type == NSPostgreSQLStoreType)
    }
}
