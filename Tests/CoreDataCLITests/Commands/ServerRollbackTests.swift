import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import CoreDataStoreTools
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreDataCLI
@testable import CoreDataPostgreSQLDriver

/// What `coredata migrate` keeps of a store on a server, and puts back: rows, history, and no schema that nobody needs.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)")) struct ServerRollbackTests {
    /// `Zebra` before `Author`, so that numbers of entities of a migrated store are not those of a fresh one.
    private static let old = """
        <entity name="Book"><attribute name="title" optional="YES" attributeType="String" preserveAfterDeletion="YES"/>
        </entity><entity name="Zebra"><attribute name="name" optional="YES" attributeType="String"/></entity>
        """
    private static let new = """
        <entity name="Author"><attribute name="name" optional="YES" attributeType="String"/></entity>
        <entity name="Book"><attribute name="title" optional="YES" attributeType="String" preserveAfterDeletion="YES"/>
        <attribute name="isbn" optional="YES" attributeType="String"/></entity>
        <entity name="Zebra"><attribute name="name" optional="YES" attributeType="String"/></entity>
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

    private func run(_ arguments: String...) throws {
        var command = try Tool.parseAsRoot(arguments)
        try command.run()
    }

    private func newURL() throws -> String {
        PostgreSQLStore.register()
        let schema = "k" + UUID().uuidString.filter { $0 != "-" }.lowercased()
        return try PostgreSQLServer.shared.url(schema: schema).absoluteString
    }

    private func inContext<R>(
        _ store: String, _ model: String, _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try .load(contentsOf: URL(fileURLWithPath: model)))
        let added = try coordinator.addPersistentStore(
            type: .postgreSQL, at: StoreFile.url(store), options: [NSPersistentHistoryTrackingKey: true])
        defer { try? coordinator.remove(added) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = "test"
        return try context.performAndWait { try body(context) }
    }

    /// A line for each change: the transaction, its author, what it was, of what, and what a tombstone keeps.
    private func history(_ store: String, _ model: String) throws -> [String] {
        try inContext(store, model) { context in
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
            return transactions.flatMap { transaction in
                (transaction.changes ?? []).map { change in
                    let kept = change.tombstone?["title"].map { "\($0)" } ?? "-"
                    return
                        "\(transaction.transactionNumber) \(transaction.author ?? "-") \(change.changeType.rawValue) \(change.changedObjectID.uriRepresentation().lastPathComponent) \(change.changedObjectID.entity.name ?? "-") \(kept)"
                }
            }
        }
    }

    private func schemas(beside store: String) throws -> [String] {
        let url = try #require(URL(string: store))
        let schema = try PostgreSQLAddress(url).schema
        let connection = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { connection.close() }
        return try connection.rows(
            "SELECT CAST(nspname AS TEXT) FROM pg_namespace WHERE starts_with(nspname, $1::TEXT)", [.text(schema)]
        ).compactMap { row in if case .text(let name) = row[0] { name } else { nil } }
    }

    @Test func aRollbackPutsTheHistoryBackAndLeavesNoSchema() throws {
        let store = try newURL()
        let scratch = try Scratch()
        let (old, new) = (try makeModel(scratch, "Old", Self.old), try makeModel(scratch, "New", Self.new))
        try run("store", "create", store, "--model", old, "--history")
        try inContext(store, old) { context in
            func make(_ entity: String, _ key: String, _ value: String) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                object.setValue(value, forKey: key)
                return object
            }
            let book = make("Book", "title", "One")
            _ = make("Zebra", "name", "Z")
            try context.save()
            book.setValue("it's One", forKey: "title")
            try context.save()
            context.delete(book)
            try context.save()
        }
        let before = try history(store, old)
        #expect(before.count == 4 && before.last?.hasSuffix("Book it's One") == true, "\(before)")
        let schema = try #require(schemas(beside: store).first)

        try run("migrate", "run", store, "--model", new)
        #expect(try history(store, new) == before)
        let copy = try MigrationInput.backup(of: store)
        #expect(try history(copy.absoluteString, old) == before)
        #expect(try schemas(beside: store).sorted() == [schema, schema + "_before_migration"])
        try inContext(store, new) { context in
            _ = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            try context.save()
        }
        try run("migrate", "rollback", store)
        #expect(try history(store, old) == before)
        #expect(try schemas(beside: store) == [schema])
        // No number is given out twice: neither of transactions, nor of rows.
        try inContext(store, old) { context in
            _ = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            try context.save()
        }
        let after = try history(store, old)
        #expect(after.count == 5 && Set(after.map { $0.split(separator: " ")[0] }).count == 4, "\(after)")
        #expect(after.last?.contains("p1 ") == false, "\(after)")
        try run("store", "verify", store)
        // Of a store that was migrated: its entities have other numbers than those of a fresh one.
        try run("migrate", "run", store, "--model", new, "--no-backup")
        try run("migrate", "run", store, "--model", old, "--allow-loss", "Author", "--allow-loss", "Book.isbn")
        try run("migrate", "rollback", store)
        #expect(try history(store, new) == after)
        #expect(try schemas(beside: store) == [schema])
    }

    @Test func anUnrelatedModelDoesNotEmptyAStoreOnAServer() throws {
        let store = try newURL()
        let scratch = try Scratch()
        let old = try makeModel(scratch, "Old", Self.old)
        let other = try makeModel(
            scratch, "Other",
            #"<entity name="Shelf"><attribute name="place" attributeType="String" optional="YES"/></entity>"#)
        try run("store", "create", store, "--model", old)
        let books = try scratch.write(#"[{"title": "One"}, {"title": "Two"}]"#, to: "books.json")
        try run("import", store, "--entity", "Book", books)
        let error = #expect(throws: ToolFailure.self) { try run("migrate", "run", store, "--model", other) }
        #expect(error.map { ErrorText.describe($0).contains("entity Book: 2 objects") } == true)
        #expect(try schemas(beside: store).count == 1)
        try run("migrate", "run", store, "--model", other, "--allow-loss", "Book", "--allow-loss", "Zebra")
        try run("migrate", "rollback", store)
        try run("query", store, "Book", "--where", "title == 'Two'")
    }

    /// What a run leaves that was killed between the copy and the migration.
    @Test func aRunThatWasKilledBeforeItMigratedIsRepeatedOnAServer() throws {
        let store = try newURL()
        let scratch = try Scratch()
        let (old, new) = (try makeModel(scratch, "Old", Self.old), try makeModel(scratch, "New", Self.new))
        try run("store", "create", store, "--model", old)
        let target = try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: new)).versionChecksum
        try MigrationCopy(store: StoreFile.url(store), url: MigrationInput.backup(of: store)).prepare(for: target)
        let books = try scratch.write(#"[{"title": "One"}]"#, to: "books.json")
        try run("import", store, "--entity", "Book", books)
        try run("migrate", "run", store, "--model", new)
        #expect(throws: ToolFailure.self) {
            try run("migrate", "run", store, "--model", old, "--allow-loss", "Author", "--allow-loss", "Book.isbn")
        }
        try run("migrate", "rollback", store)
        #expect(
            try inContext(store, old) { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) } == 1)
    }
}
