import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// Stores on servers as wholes: taken away, put in another's place, moved to other kinds of stores.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct WholeStoreTests {
    private static func makeModel() -> NSManagedObjectModel {
        func relationship(_ name: String, _ destination: NSEntityDescription, toMany: Bool) -> NSRelationshipDescription
        {
            let relationship = NSRelationshipDescription()
            (relationship.name, relationship.destinationEntity, relationship.isOptional) = (name, destination, true)
            (relationship.minCount, relationship.maxCount) = (0, toMany ? 0 : 1)
            return relationship
        }
        let (author, book, tag) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (author.name, book.name, tag.name) = ("Author", "Book", "Tag")
        let (books, writer) = (relationship("books", book, toMany: true), relationship("author", author, toMany: false))
        let (tags, tagged) = (relationship("tags", tag, toMany: true), relationship("books", book, toMany: true))
        (books.inverseRelationship, writer.inverseRelationship) = (writer, books)
        (tags.inverseRelationship, tagged.inverseRelationship) = (tagged, tags)
        let count = NSDerivedAttributeDescription()
        (count.name, count.attributeType, count.isOptional) = ("count", .integer64AttributeType, true)
        count.derivationExpression = NSExpression(format: "books.@count")
        author.properties = [attribute("name", .stringAttributeType), books, count]
        book.properties = [
            attribute("title", .stringAttributeType), attribute("day", .dateAttributeType),
            attribute("isOut", .booleanAttributeType), attribute("key", .UUIDAttributeType),
            attribute("price", .decimalAttributeType), attribute("cover", .binaryDataAttributeType), writer, tags,
        ]
        tag.properties = [attribute("name", .stringAttributeType), tagged]
        let model = NSManagedObjectModel()
        model.entities = [author, book, tag]
        return model
    }

    private func newURL() throws -> URL {
        PostgreSQLStore.register()
        return try PostgreSQLServer.shared.url(schema: "w" + UUID().uuidString.filter { $0 != "-" }.lowercased())
    }

    private func newFile(_ name: String) throws -> URL {
        try Fixtures.temporaryFolder().appendingPathComponent(name)
    }

    private func newCoordinator() -> NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
    }

    private func onContext<R>(
        _ coordinator: NSPersistentStoreCoordinator, _ body: (NSManagedObjectContext) throws -> R
    )
        throws -> R
    {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    private func fill(_ coordinator: NSPersistentStoreCoordinator, _ word: String, _ count: Int = 40) throws {
        try onContext(coordinator) { context in
            let tags = (0..<3).map { index in
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                tag.setValue("\(word) \(index)", forKey: "name")
                return tag
            }
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue(word, forKey: "name")
            for index in 0..<count {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue("\(word) \(index)", forKey: "title")
                book.setValue(Date(timeIntervalSinceReferenceDate: Double(index) + 0.25), forKey: "day")
                book.setValue(index % 3 == 0, forKey: "isOut")
                book.setValue(
                    UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(index))), forKey: "key")
                book.setValue(NSDecimalNumber(string: "\(index).25"), forKey: "price")
                book.setValue(Data(repeating: UInt8(index), count: 100), forKey: "cover")
                book.setValue(index % 2 == 0 ? author : nil, forKey: "author")
                book.setValue(Set(tags.prefix(index % 4)), forKey: "tags")
            }
            try context.save()
        }
    }

    /// Everything, in words.
    private func contents(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
        try onContext(coordinator) { context in
            var lines: [String] = []
            for book in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")) {
                let tags = (book.value(forKey: "tags") as? Set<NSManagedObject> ?? []).compactMap {
                    $0.value(forKey: "name") as? String
                }
                let author = book.value(forKey: "author") as? NSManagedObject
                let values = ["title", "day", "isOut", "key", "price"].map { "\(book.value(forKey: $0) ?? "-")" }
                let bytes = (book.value(forKey: "cover") as? Data)?.count ?? 0
                lines.append(
                    "\(values) \(bytes) \(author?.value(forKey: "name") ?? "-") \(author?.value(forKey: "count") ?? "-") \(tags.sorted())"
                )
            }
            return lines.sorted()
        }
    }

    @Test func aStoreMovesFromFilesToServersAndBack() throws {
        let first = try newURL()
        let second = try newURL()
        let coordinator = newCoordinator()
        let start = try coordinator.addPersistentStore(type: .sqlite, at: newFile("a.sqlite"))
        try fill(coordinator, "a")
        let expected = try contents(coordinator)
        #expect(expected.count == 40)
        coordinator.setMetadata(["mine": "kept"].merging(start.metadata) { $1 }, for: start)
        var store = try coordinator.migratePersistentStore(start, to: first, type: .postgreSQL)
        for target in [
            (second, NSPersistentStore.StoreType.postgreSQL), (try newFile("b.xml"), .xml),
        ] {
            let found = try contents(coordinator)
            #expect(found == expected, "\(target.0): \(Set(found).symmetricDifference(expected).sorted().prefix(4))")
            #expect(store.metadata["mine"] as? String == "kept")
            store = try coordinator.migratePersistentStore(store, to: target.0, type: target.1)
        }
        #expect(try contents(coordinator) == expected)
        // What was left stays where it was, and is not written over.
        #expect(throws: CocoaError.self) { try coordinator.migratePersistentStore(store, to: first, type: .postgreSQL) }
        let other = newCoordinator()
        try other.addPersistentStore(type: .postgreSQL, at: first)
        let left = try contents(other)
        #expect(left == expected, "\(Set(left).symmetricDifference(expected).sorted().prefix(4))")
        try fill(other, "b", 2)
        #expect(try contents(other).count == 42)
        #expect(try schemas(like: "_new_", first).isEmpty)
    }

    @Test func aCopyGivesOutNoKeyThatItsSourceHasGivenOut() throws {
        let url = try newURL()
        let coordinator = newCoordinator()
        let start = try coordinator.addPersistentStore(type: .sqlite, at: newFile("a.sqlite"))
        try fill(coordinator, "a")
        try onContext(coordinator) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = NSPredicate(format: "title == 'a 39' OR title == 'a 38'")
            try context.fetch(request).forEach(context.delete)
            try context.save()
        }
        try coordinator.migratePersistentStore(start, to: url, type: .postgreSQL)
        let connection = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { connection.close() }
        let last = try connection.rows(
            "SELECT last_id FROM _entities WHERE name IN ('Author', 'Book', 'Tag') ORDER BY name")
        #expect(last == [[.integer(1)], [.integer(40)], [.integer(3)]])
    }

    private func schemas(like part: String, _ url: URL) throws -> [[SQLValue]] {
        let connection = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { connection.close() }
        let schema = try PostgreSQLAddress(url).schema
        return try connection.rows("SELECT nspname FROM pg_namespace WHERE nspname LIKE '\(schema)\(part)%'")
    }

    @Test func whatIsDestroyedIsTheStoreAlone() throws {
        let url = try newURL()
        let coordinator = newCoordinator()
        let store = try coordinator.addPersistentStore(type: .postgreSQL, at: url)
        try fill(coordinator, "a")
        let identifier = store.identifier
        let connection = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { connection.close() }
        try connection.execute("CREATE VIEW titles AS SELECT title FROM \"Book\"")
        // Something of others depends on it: nothing is done.
        #expect(throws: CocoaError.self) { try newCoordinator().destroyPersistentStore(at: url, type: .postgreSQL) }
        #expect(try contents(coordinator).count == 40)
        try connection.execute("DROP VIEW titles")
        #expect(throws: CocoaError.self) {
            try coordinator.destroyPersistentStore(
                at: url, type: .postgreSQL, options: [NSReadOnlyPersistentStoreOption: true])
        }
        for _ in 0..<2 { try coordinator.destroyPersistentStore(at: url, type: .sqlite) }
        #expect(coordinator.persistentStores.isEmpty)
        let left = "SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
        #expect(try connection.rows(left).isEmpty)
        #expect(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .postgreSQL, at: url)
        }
        let new = try coordinator.addPersistentStore(type: .postgreSQL, at: url)
        #expect(new.identifier != identifier)
        #expect(try contents(coordinator).isEmpty)
        try coordinator.destroyPersistentStore(at: url, type: .postgreSQL)
        try connection.execute("CREATE TABLE theirs (a INTEGER)")
        try coordinator.destroyPersistentStore(at: url, type: .postgreSQL)
        #expect(try connection.rows("SELECT a FROM theirs").isEmpty)
    }

    @Test func aStoreReplacesAnother() throws {
        let first = try newURL()
        let second = try newURL()
        let file = try newFile("a.sqlite")
        var expected: [URL: [String]] = [:]
        for (index, url) in [file, first, second].enumerated() {
            let coordinator = newCoordinator()
            let store = try coordinator.addPersistentStore(
                type: url.isFileURL ? .sqlite : .postgreSQL, at: url)
            try fill(coordinator, "\(index)", 10 + index)
            expected[url] = try contents(coordinator)
            try coordinator.remove(store)
        }
        func identifier(_ url: URL) throws -> String? {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(
                type: url.isFileURL ? .sqlite : .postgreSQL, at: url)[NSStoreUUIDKey] as? String
        }
        // A server's store by a file's, a server's by a server's, a file's by a server's.
        for (target, source) in [(first, file), (second, first), (file, second)] {
            let type: NSPersistentStore.StoreType = target.isFileURL ? .sqlite : .postgreSQL
            try newCoordinator().replacePersistentStore(at: target, withPersistentStoreFrom: source, type: type)
            #expect(try identifier(target) == identifier(source))
            let coordinator = newCoordinator()
            let store = try coordinator.addPersistentStore(type: type, at: target)
            #expect(try contents(coordinator) == expected[file])
            try coordinator.remove(store)
        }
        let nowhere = try newURL()
        #expect(throws: CocoaError.self) {
            try newCoordinator().replacePersistentStore(at: first, withPersistentStoreFrom: nowhere, type: .postgreSQL)
        }
        let coordinator = newCoordinator()
        try coordinator.addPersistentStore(type: .postgreSQL, at: first)
        #expect(try contents(coordinator) == expected[file])
        #expect(try schemas(like: "_new_", first).isEmpty)
    }

    @Test func metadataAreReadAndWrittenWithoutOpeningTheStore() throws {
        let url = try newURL()
        let coordinator = newCoordinator()
        try coordinator.remove(try coordinator.addPersistentStore(type: .postgreSQL, at: url))
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .postgreSQL, at: url)
        metadata["mine"] = "new"
        try NSPersistentStoreCoordinator.setMetadata(metadata, type: .postgreSQL, at: url)
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .postgreSQL, at: url)
        #expect(
            read["mine"] as? String == "new" && read[NSStoreUUIDKey] as? String == metadata[NSStoreUUIDKey] as? String)
        #expect(try coordinator.addPersistentStore(type: .postgreSQL, at: url).metadata["mine"] as? String == "new")
    }

    @Test func aCopyThatMeetsWhatAServerDoesNotKeepNamesIt() throws {
        for (key, value, words) in [
            ("title", "a\0b", ["'title'", "'Book'", "U+0000"]),
            ("day", Date(timeIntervalSinceReferenceDate: 1e13), ["'day'", "'Book'", "294275 AD"]),
        ] as [(String, Any, [String])] {
            let url = try newURL()
            let coordinator = newCoordinator()
            let store = try coordinator.addPersistentStore(type: .sqlite, at: newFile("Source.sqlite"))
            try onContext(coordinator) { context in
                NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue(value, forKey: key)
                try context.save()
            }
            let error = #expect(throws: CocoaError.self) {
                try coordinator.migratePersistentStore(store, to: url, type: .postgreSQL)
            }
            let text = error?.localizedDescription ?? ""
            #expect(words.allSatisfy(text.contains) && !text.contains("Source"), "\(text)")
            #expect(error?.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore] != [store])
        }
    }
}
