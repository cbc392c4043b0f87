import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreDataCLI

/// Every command that takes a store takes one on a server.
@Suite struct ServerCommandTests {
    private static let old = """
        <entity name="Book"><attribute name="title" optional="YES" attributeType="String"/></entity>
        """
    private static let new = """
        <entity name="Book"><attribute name="name" elementID="title" optional="YES" attributeType="String"/>
        <attribute name="isbn" optional="YES" attributeType="String"/></entity>
        """

    private func makeModel(_ scratch: Scratch, _ name: String, _ entities: String) throws -> String {
        let folder = scratch.folder.appendingPathComponent("\(name).xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let contents = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(entities)</model>
            """
        try contents.write(to: folder.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        return folder.path
    }

    /// As in a tool with PostgreSQL, which registers it before it does anything.
    private func run(_ arguments: String...) throws {
        var command = try Tool.parseAsRoot(arguments)
        try command.run()
    }

    private func newURL() throws -> String {
        PostgreSQLStore.register()
        let schema = "q" + UUID().uuidString.filter { $0 != "-" }.lowercased()
        return try PostgreSQLServer.shared.url(schema: schema).absoluteString
    }

    private func titles(_ store: String, _ model: String, _ key: String) throws -> Set<String> {
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try ModelFile.versions(at: model).current.map {
                try NSManagedObjectModel(document: $0)
            } ?? NSManagedObjectModel())
        let store = try coordinator.addPersistentStore(type: .postgreSQL, at: StoreFile.url(store))
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            Set(
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).compactMap {
                    $0.value(forKey: key) as? String
                })
        }
    }

    @Test(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
    func aStoreIsMigratedRehearsedAndPutBack() throws {
        let store = try newURL()
        let scratch = try Scratch()
        let (old, new) = (
            try makeModel(scratch, "Old", Self.old), try makeModel(scratch, "New", Self.new)
        )
        try run("store", "create", store, "--model", old, "--history")
        let books = try scratch.write(#"[{"title": "One"}, {"title": "it's \\ two"}]"#, to: "books.json")
        try run("import", store, "--entity", "Book", books)
        #expect(try titles(store, old, "title") == ["One", #"it's \ two"#])
        let target = try #require(try ModelFile.versions(at: new).current)
        let plan = try LightweightMigration(
            to: NSManagedObjectModel(document: target), configuration: nil, type: NSPostgreSQLStoreType
        ).plan(of: StoreFile.url(store))
        let statements = try #require(plan).steps.flatMap(\.statements)
        #expect(statements.contains(#"UPDATE "Book" AS "s" SET "name" = "s"."title""#), "\(statements)")
        #expect(
            !statements.contains { $0.contains("ZBOOK") || $0.contains("Z_PK") || $0.contains("?") }, "\(statements)")
        for words in [
            ["history", "list", store], ["history", "consumers", store], ["history", "purge", store],
            ["history", "watch", store, "--after", "0", "--count", "1"],
            ["query", store, "Book", "--where", "title == 'One'", "--explain"],
            ["export", store, "--entity", "Book", "--output", scratch.path("books.csv")],
            ["migrate", "plan", store, "--model", new, "--sql"],
            ["migrate", "run", store, "--model", new, "--dry-run"],
        ] {
            var command = try Tool.parseAsRoot(words)
            #expect(throws: Never.self, "\(words)") { try command.run() }
        }
        #expect(try scratch.read("books.csv").contains("One"))
        #expect(try titles(store, old, "title").count == 2, "what was rehearsed is as it was")
        try run("migrate", "run", store, "--model", new)
        #expect(try titles(store, new, "name") == ["One", #"it's \ two"#])
        try run("migrate", "run", store, "--model", new)
        try run("store", "verify", store)
        try run("migrate", "rollback", store)
        #expect(try titles(store, old, "title") == ["One", #"it's \ two"#])
        #expect(throws: ToolFailure.self) { try run("migrate", "rollback", store) }
        // Nothing is lost of an earlier copy.
        try run("migrate", "run", store, "--model", new)
        try run("store", "copy", store, try newURL())
        let copy = try MigrationInput.backup(of: store).absoluteString
        try run("store", "info", copy)
        #expect(throws: (any Error).self) { try run("store", "recover", store, scratch.path("x.sqlite")) }
    }

    @Test(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
    func aMappingModelLeadsThere() throws {
        let store = try newURL()
        let scratch = try Scratch()
        let old = try makeModel(scratch, "Old", Self.old)
        let impossible = """
            <entity name="Book"><attribute name="title" optional="YES" attributeType="Integer 64"/></entity>
            """
        let new = try makeModel(scratch, "New", impossible)
        try run("store", "create", store, "--model", old)
        let books = try scratch.write(#"[{"title": "7"}, {"title": "11"}]"#, to: "books.json")
        try run("import", store, "--entity", "Book", books)
        #expect(throws: (any Error).self) { try run("migrate", "run", store, "--model", new, "--no-backup") }
        let book = NSEntityMapping()
        (book.name, book.mappingType) = ("BookToBook", .transformEntityMappingType)
        (book.sourceEntityName, book.destinationEntityName) = ("Book", "Book")
        let property = NSPropertyMapping()
        property.name = "title"
        property.valueExpression = CoreData.NSExpression(format: "CAST($source.title, 'NSNumber')")
        book.attributeMappings = [property]
        func hash(_ path: String) throws -> Data? {
            try ModelFile.versions(at: path).current.flatMap {
                try NSManagedObjectModel(document: $0).entityVersionHashesByName["Book"]
            }
        }
        book.sourceEntityVersionHash = try hash(old)
        book.destinationEntityVersionHash = try hash(new)
        let mapping = NSMappingModel()
        mapping.entityMappings = [book]
        let file = scratch.folder.appendingPathComponent("1to2.cdm")
        try mapping.write(to: file)
        try run("migrate", "plan", store, "--model", new, "--progressive", "--mapping", file.path)
        try run("migrate", "run", store, "--model", new, "--progressive", "--mapping", file.path)
        try run("query", store, "Book", "--where", "title == 11")
        let report = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: StoreFile.url(store))
        #expect(report.entities.first?.rowCount == 2)
        try run("store", "verify", store)
    }

    @Test func aToolWithoutPostgreSQLSaysHowToGetOneThatHasIt() throws {
        let url = "postgresql://somebody:geheim@localhost/shop"
        for words in [
            ["store", "create", url, "--model", CommandRun.exampleModel], ["store", "copy", url, "/tmp/none.sqlite"],
            ["migrate", "plan", url, "--model", CommandRun.exampleModel],
            ["migrate", "run", url, "--model", CommandRun.exampleModel], ["migrate", "rollback", url],
            ["history", "list", url], ["history", "purge", url], ["history", "watch", url],
            ["history", "consumers", url], ["import", url, "--entity", "Item", CommandRun.exampleData],
            ["export", url, "--entity", "Item"], ["generate-data", url, "--count", "Item=1"],
            ["model", "diff", url, CommandRun.exampleModel],
        ] {
            let run = try CommandRun.run(CommandRun.executable(), words)
            #expect(run.status == 2 && run.error.contains("--traits PostgreSQL"), "\(words): \(run.error)")
            #expect(!run.error.contains("geheim"), "\(words)")
        }
    }
}
