import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// What other programs find in the schema of a store, and how they tell our programs of what they write.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct DescribedSchemaTests {
    private static var options: [AnyHashable: Any] {
        [
            NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
    }

    /// A book with its authors, and an entity below it.
    private static func makeModel(_ more: String? = nil) -> NSManagedObjectModel {
        let (book, novel, author) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (book.name, novel.name, author.name) = ("Book", "Novel", "Author")
        let (authors, books) = (NSRelationshipDescription(), NSRelationshipDescription())
        (authors.name, authors.destinationEntity, authors.maxCount) = ("authors", author, 0)
        (books.name, books.destinationEntity, books.maxCount) = ("books", book, 0)
        (authors.inverseRelationship, books.inverseRelationship) = (books, authors)
        let editor = NSRelationshipDescription()
        (editor.name, editor.destinationEntity, editor.maxCount) = ("editor", author, 1)
        book.properties = [attribute("title", .stringAttributeType), authors, editor]
        if let more { book.properties.append(attribute(more, .stringAttributeType)) }
        novel.properties = [attribute("genre", .stringAttributeType)]
        book.subentities = [novel]
        author.properties = [attribute("name", .stringAttributeType), books]
        let model = NSManagedObjectModel()
        model.entities = [book, novel, author]
        return model
    }

    private static func open(_ url: URL, _ model: NSManagedObjectModel) throws -> NSPersistentStoreCoordinator {
        PostgreSQLStore.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: options)
        return coordinator
    }

    /// A session of another program, in the store's schema.
    private static func stranger(_ url: URL) throws -> PostgreSQLConnection {
        try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
    }

    private static func texts(_ connection: PostgreSQLConnection, _ sql: String) throws -> [[String]] {
        try connection.rows(sql).map { row in
            row.map { if case .text(let text) = $0 { text } else { "\($0)" } }
        }
    }

    private static func comment(
        _ connection: PostgreSQLConnection, _ table: String, _ column: String?
    ) throws -> String? {
        let sql =
            column.map {
                """
                SELECT col_description(attrelid, attnum) FROM pg_attribute \
                WHERE attrelid = '"\(table)"'::regclass AND attname = '\($0.replacing("'", with: "''"))'
                """
            } ?? "SELECT obj_description('\"\(table)\"'::regclass, 'pg_class')"
        guard case .text(let text)? = try connection.rows(sql).first?.first else { return nil }
        return text
    }

    @Test func tablesAndColumnsSayWhatTheyAre() throws {
        let url = try PostgreSQLServer.shared.url(schema: Notes.newSchema("c"))
        let coordinator = try Self.open(url, Self.makeModel())
        let connection = try Self.stranger(url)
        defer { connection.close() }
        let join = try #require(
            try Self.texts(
                connection,
                """
                SELECT CAST(relname AS TEXT) FROM pg_class WHERE relnamespace = current_schema()::regnamespace \
                AND relkind = 'r' AND (relname LIKE 'Book\\_%' OR relname LIKE 'Author\\_%')
                """
            ).first?.first)
        for (table, column, words): (String, String?, String) in [
            ("Book", nil, "OpenCoreData: Book, with its subentity Novel"), ("Book", "title", "Book.title"),
            ("Book", "genre", "Novel.genre"), ("Book", "editor", "Book.editor: the _id of an object of Author"),
            ("Book", "_id", "the object's key"), ("Author", nil, "OpenCoreData: Author"),
            ("_history_transactions", "timestamp", "seconds since 2001-01-01 00:00 UTC"),
        ] { #expect(try Self.comment(connection, table, column) == words, "\(table) \(column ?? "")") }
        let both = try #require(try Self.comment(connection, join, nil))
        #expect(both.contains("Book.authors") && both.contains("Author.books"))
        // A migration keeps them, and describes what comes.
        try coordinator.remove(try #require(coordinator.persistentStores.first))
        let migrated = try Self.open(url, Self.makeModel("subtitle"))
        #expect(try Self.comment(connection, "Book", "subtitle") == "Book.subtitle")
        try migrated.remove(try #require(migrated.persistentStores.first))
    }

    @Test func theHistoryIsAView() throws {
        let url = try PostgreSQLServer.shared.url(schema: Notes.newSchema("c"))
        let coordinator = try Self.open(url, Self.makeModel())
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = "import"
        try context.performAndWait {
            let book = NSEntityDescription.insertNewObject(forEntityName: "Novel", into: context)
            try context.save()
            book.setValue("crime", forKey: "genre")
            try context.save()
            context.delete(book)
            try context.save()
        }
        let connection = try Self.stranger(url)
        defer { connection.close() }
        let changes = """
            SELECT author, change, entity, CAST(row_id AS TEXT) FROM _history \
            WHERE saved_at BETWEEN now() - INTERVAL '1 hour' AND now() + INTERVAL '1 minute' ORDER BY transaction_id
            """
        #expect(
            try Self.texts(connection, changes)
                == ["insert", "update", "delete"].map { ["import", $0, "Novel", "1"] })
        // A store that was made before there was the view gets it when it is opened.
        try coordinator.remove(try #require(coordinator.persistentStores.first))
        try connection.execute("DROP VIEW _history")
        let again = try Self.open(url, Self.makeModel())
        #expect(try Self.texts(connection, changes).count == 3)
        // It is in nobody's way.
        try again.remove(try #require(again.persistentStores.first))
        try again.destroyPersistentStore(at: url, type: .postgreSQL)
        #expect(try connection.rows("SELECT 1 WHERE to_regclass('_history') IS NOT NULL").isEmpty)
    }

    /// What docs/postgresql.md says of programs of others that write.
    @Test func anotherProgramAnnouncesWhatItWrites() throws {
        let schema = Notes.newSchema("c")
        let url = try PostgreSQLServer.shared.url(schema: schema)
        let coordinator = try Self.open(url, Self.makeModel())
        let told = Mutex(0)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { _ in told.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(observer) }
        let connection = try Self.stranger(url)
        defer { connection.close() }
        for statement in [
            "BEGIN", "SELECT pg_advisory_xact_lock_shared(hashtextextended('OpenCoreData \(schema)', 7))",
            """
            WITH key AS (UPDATE "_entities" SET last_id = last_id + 1 WHERE name = 'Author' RETURNING "_entity", last_id)
            INSERT INTO "Author" ("_id", "_entity", "_version", "name") SELECT last_id, "_entity", 1, 'Austen' FROM key
            """,
            """
            WITH key AS (UPDATE "_entities" SET last_id = last_id + 1 WHERE name = 'TRANSACTION' RETURNING "_entity", last_id)
            INSERT INTO "_history_transactions" ("_id", "_entity", "timestamp", "author")
                SELECT last_id, "_entity", EXTRACT(EPOCH FROM clock_timestamp()) - 978307200, 'nightly import' FROM key
            """,
            """
            WITH key AS (UPDATE "_entities" SET last_id = last_id + 1 WHERE name = 'CHANGE' RETURNING "_entity", last_id)
            INSERT INTO "_history_changes" ("_id", "_entity", "kind", "entity", "row_id", "transaction_id")
                SELECT key.last_id, key."_entity", 0, a."_entity", a.last_id, t.last_id
                FROM key, "_entities" AS a, "_entities" AS t WHERE a.name = 'Author' AND t.name = 'TRANSACTION'
            """,
            "SELECT pg_notify('OpenCoreData \(schema)', '')", "COMMIT",
        ] { try connection.execute(statement) }
        #expect(Polling.holds { told.withLock { $0 } > 0 })
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let (names, authors) = try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            for transaction in transactions {
                context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
            }
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
            return (found.map { $0.value(forKey: "name") as? String }, transactions.map(\.author))
        }
        #expect(names == ["Austen"] && authors == ["nightly import"])
        // Ours goes on behind the other's keys.
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Author", into: context).setValue(
                "Shelley", forKey: "name")
            try context.save()
        }
        #expect(
            try Self.texts(connection, "SELECT DISTINCT author FROM _history ORDER BY 1").first == ["nightly import"])
    }
}
