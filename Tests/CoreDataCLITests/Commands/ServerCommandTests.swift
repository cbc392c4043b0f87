import CoreData
import CoreDataPostgreSQL
import CoreDataStoreTools
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

    /// What the tables of a store hold, without what differs between two that were made alike.
    private static let contents = [
        "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 2",
        "SELECT replace(indexdef, current_schema(), '') FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1",
        """
        SELECT t.relname, c.conname, c.convalidated FROM pg_constraint AS c JOIN pg_class AS t ON t.oid = c.conrelid \
        WHERE c.connamespace = current_schema()::regnamespace ORDER BY 1, 2
        """,
        #"SELECT * FROM "Book" ORDER BY "_id""#,
        // A migration is a transaction of the history; one that a script runs is not.
        #"SELECT * FROM "_entities" WHERE name NOT IN ('TRANSACTION', 'TRANSACTIONSTRING') ORDER BY 1"#,
        #"SELECT "kind", "entity", "row_id", encode("columns", 'hex') FROM "_history_changes" ORDER BY "_id""#,
        // The number says that the schema is another one; by how much it grows says nothing.
        #"SELECT number = "_schema_number"(), number > 0 FROM "_metadata""#,
    ]

    /// Runs psql in the store's schema.
    private func psql(_ store: String, _ arguments: [String]) throws -> CommandRun {
        let parts = try #require(URLComponents(string: store)?.queryItems)
        func value(_ name: String) throws -> String { try #require(parts.first { $0.name == name }?.value) }
        let connection =
            "host=\(try value("host")) user=\(try value("user")) dbname=postgres options=-csearch_path=\(try value("schema"))"
        return try CommandRun.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", connection] + arguments)
    }

    /// The script of a plan does what a migration does, also where keys were given out and objects changed since it was made.
    @Test(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
    func aPlanIsAScript() throws {
        let scratch = try Scratch()
        let (old, new) = (
            try makeModel(
                scratch, "Old",
                """
                <entity name="Book"><attribute name="title" optional="YES" attributeType="String"/>
                <attribute name="pages" attributeType="Integer 32" defaultValueString="1" minValueString="1" usesScalarValueType="YES"/>
                <attribute name="area" optional="YES" attributeType="String"/></entity>
                """),
            try makeModel(
                scratch, "New",
                """
                <entity name="Author"><attribute name="name" optional="YES" attributeType="String"/>
                <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Book" \
                inverseName="author" inverseEntity="Book"/></entity>
                <entity name="Book"><attribute name="name" elementID="title" optional="YES" attributeType="String"/>
                <attribute name="area" attributeType="String" defaultValueString="it's \\ here"/>
                <attribute name="isRead" attributeType="Boolean" defaultValueString="YES" usesScalarValueType="YES"/>
                <attribute name="day" attributeType="Date" defaultDateTimeInterval="12.5" usesScalarValueType="NO"/>
                <attribute name="pages" attributeType="Integer 32" defaultValueString="1" minValueString="1" usesScalarValueType="YES"/>
                <attribute name="by" optional="YES" attributeType="String" derived="YES" derivationExpression="author.name"/>
                <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Author" \
                inverseName="books" inverseEntity="Author"/></entity>
                """)
        )
        let target = try #require(try ModelFile.versions(at: new).current)
        let migration = LightweightMigration(
            to: try NSManagedObjectModel(document: target), configuration: nil, type: NSPostgreSQLStoreType)
        var found: [[String]] = []
        for isScript in [true, false] {
            let store = try newURL() + "&constraints=foreign-keys,checks"
            try run("store", "create", store, "--model", old, "--history")
            func add(_ records: String) throws {
                let file = try scratch.write(records, to: "books.json")
                try run("import", store, "--entity", "Book", "--unique", "Book.title", file)
            }
            try add(#"[{"title": "One", "area": "a"}, {"title": "Two", "area": "b"}]"#)
            let script = isScript ? try #require(try migration.script(of: StoreFile.url(store))) : ""
            // A new object, and a change of the history's.
            try add(#"[{"title": "Three", "area": "c"}, {"title": "One", "area": "d"}]"#)
            if isScript {
                #expect(script.contains("COMMIT;\n"))
                let file = try scratch.write(script, to: "migration.sql")
                let done = try psql(store, ["-f", file])
                #expect(done.status == 0, "\(done.error)")
                // It is of another version by now.
                let again = try psql(store, ["-f", file])
                #expect(again.status != 0 && again.error.contains("make it anew"), "\(again.error)")
            } else {
                try migration.run(at: StoreFile.url(store), options: nil)
            }
            #expect(try titles(store, new, "name") == ["One", "Two", "Three"])
            try run("store", "verify", store)
            #expect(try migration.script(of: StoreFile.url(store)) == nil)
            found.append(try Self.contents.map { try psql(store, ["-c", $0]).output })
        }
        for (index, pair) in zip(found[0], found[1]).enumerated() {
            #expect(pair.0 == pair.1 && !pair.0.isEmpty, "\(Self.contents[index])")
        }
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
