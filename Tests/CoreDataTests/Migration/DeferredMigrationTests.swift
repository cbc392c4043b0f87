import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// T5: what of a lightweight migration can wait, and is done later.
@Suite struct DeferredMigrationTests {
    private let folder: URL

    init() throws { folder = try Fixtures.temporaryFolder() }

    private var url: URL { folder.appendingPathComponent("Store.sqlite") }
    private static let key = NSPersistentStoreDeferredLightweightMigrationOptionKey

    private func version(_ document: ModelDocument) throws -> NSManagedObjectModel {
        try NSManagedObjectModel(document: document)
    }

    private func open(
        _ model: NSManagedObjectModel, defers: Bool = true
    ) throws -> (coordinator: NSPersistentStoreCoordinator, context: NSManagedObjectContext) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            type: .sqlite, at: url,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                Self.key: defers,
            ])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return (coordinator, context)
    }

    private let first = model(
        entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
        entity(
            "Book", attribute("title"), attribute("note"), attribute("pages", .integer32),
            toOne("author", "Author", inverse: "books")),
        entity("Loan", attribute("day", .date)))
    /// Without notes and loans, with another property.
    private let second = model(
        entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
        entity(
            "Book", attribute("title"), attribute("isbn", default: "none"), attribute("pages", .integer32),
            toOne("author", "Author", inverse: "books")))

    private func fill(_ model: NSManagedObjectModel) throws {
        let (coordinator, context) = try open(model)
        try context.performAndWait {
            func make(_ name: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let author = make("Author", ["name": "Ann"])
            for index in 1...3 {
                _ = make("Book", ["title": "Book \(index)", "note": "old", "pages": index, "author": author])
            }
            _ = make("Loan", ["day": Date()])
            try context.save()
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private func tables() throws -> [String] {
        let database = try SQLStore.makeDatabase(.init(path: url.path))
        defer { database.close() }
        return try database.read { connection in
            try connection.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z%' ORDER BY name")
                .compactMap { if case .text(let name)? = $0.first { name } else { nil } }
        }
    }

    private func columns(_ table: String) throws -> Set<String> {
        let database = try SQLStore.makeDatabase(.init(path: url.path))
        defer { database.close() }
        return try database.read { connection in
            Set(
                try connection.rows("SELECT name FROM pragma_table_info(\(bind: .text(table)))")
                    .compactMap { if case .text(let name)? = $0.first { name } else { nil } })
        }
    }

    private func titles(_ context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            return try context.fetch(request).map { book in
                let author = (book.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String
                return
                    "\(book.value(forKey: "title") ?? "?") \(book.value(forKey: "pages") ?? "?") \(author ?? "-") \(book.value(forKey: "isbn") ?? "nil")"
            }
        }
    }

    @Test("a store with work put off opens, reads and saves; the metadata say so until it is done, a table at a time")
    func workIsPutOffAndDone() throws {
        try fill(version(first))
        let new = try version(second)
        let (coordinator, context) = try open(new)
        let store = try #require(coordinator.persistentStores.first)
        #expect(store.metadata[Self.key] as? Bool == true)
        #expect(try columns("ZBOOK").isSuperset(of: ["ZNOTE", "ZISBN"]))
        #expect(try tables().contains("ZLOAN"))
        #expect(try titles(context) == ["Book 1 1 Ann none", "Book 2 2 Ann none", "Book 3 3 Ann none"])
        try context.performAndWait {
            let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            book.setValue("Book 4", forKey: "title")
            book.setValue(4, forKey: "pages")
            try context.save()
        }
        #expect(try NSPersistentStoreCoordinator.verifyPersistentStore(at: url).isPassed)
        // It keeps what is put off, whoever writes metadata.
        coordinator.setMetadata(["Mine": "kept"], for: store)
        try context.performAndWait { try context.save() }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(metadata[Self.key] as? Bool == true && metadata["Mine"] as? String == "kept")
        var count = 0
        while store.metadata[Self.key] != nil, count < 10 {
            try coordinator.finishDeferredLightweightMigrationTask()
            count += 1
            // Also in the midst of it.
            #expect(try titles(context).count == 4)
        }
        #expect(count == 2)
        #expect(try columns("ZBOOK").isDisjoint(with: ["ZNOTE"]))
        #expect(try !tables().contains("ZLOAN"))
        #expect(try titles(context).last == "Book 4 4 - none")
        #expect(store.metadata["Mine"] as? String == "kept")
        // Nothing is left to do.
        try coordinator.finishDeferredLightweightMigration()
        try coordinator.finishDeferredLightweightMigrationTask()
        #expect(try NSPersistentStoreCoordinator.verifyPersistentStore(at: url).findings.isEmpty)
    }

    @Test("what was put off does not come back when a later version has something of that name")
    func leftoversDoNotComeBack() throws {
        try fill(version(first))
        _ = try open(version(second))
        // Not the first version again: a program that has only that is refused.
        let third = try version(
            model(
                entity(
                    "Author", attribute("name"), attribute("born", .integer32),
                    toMany("books", "Book", inverse: "author")),
                entity(
                    "Book", attribute("title"), attribute("note"), attribute("pages", .integer32),
                    toOne("author", "Author", inverse: "books")),
                entity("Loan", attribute("day", .date))))
        let (coordinator, context) = try open(third)
        try context.performAndWait {
            let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
            #expect(books.count == 3)
            #expect(books.allSatisfy { $0.value(forKey: "note") == nil })
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Loan")) == 0)
        }
        try coordinator.finishDeferredLightweightMigration()
        #expect(try NSPersistentStoreCoordinator.verifyPersistentStore(at: url).findings.isEmpty)
    }

    @Test("without the option nothing is put off, and an earlier migration's work is done")
    func withoutTheOptionNothingIsPutOff() throws {
        try fill(version(first))
        _ = try open(version(second))
        let third = model(
            entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
            entity(
                "Book", attribute("title"), attribute("pages", .integer32), toOne("author", "Author", inverse: "books"))
        )
        let (coordinator, context) = try open(version(third), defers: false)
        #expect(coordinator.persistentStores.first?.metadata[Self.key] == nil)
        #expect(try !tables().contains { $0.contains("LOAN") || $0.contains("OLD") })
        #expect(try columns("ZBOOK").isDisjoint(with: ["ZNOTE", "ZISBN"]))
        let count = try context.performAndWait {
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book"))
        }
        #expect(count == 3)
    }

    @Test("a store that is read only is left as it is")
    func readOnlyStoresAreLeft() throws {
        try fill(version(first))
        let new = try version(second)
        let (writer, _) = try open(new)
        for store in writer.persistentStores { try writer.remove(store) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        try coordinator.finishDeferredLightweightMigration()
        #expect(store.metadata[Self.key] as? Bool == true)
    }
}
