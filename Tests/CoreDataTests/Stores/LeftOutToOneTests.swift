import CoreDataModel
import CoreDataStore
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// To-ones that the nodes of an incremental store leave out.
@Suite struct LeftOutToOneTests {
    private let url = URL(fileURLWithPath: "/shelf/\(UUID().uuidString)")

    /// Three books, two of them of author 1, one of author 2.
    private func context(
        _ storeClass: ShelfStore.Type = ShelfStore.self, isRequired: Bool = false
    ) throws -> NSManagedObjectContext {
        NSPersistentStoreCoordinator.registerStoreClass(storeClass, forStoreType: storeClass.type)
        let author = toOne("author", "Author", inverse: "books").with { $0.isOptional = !isRequired }
        let coordinator = try NSPersistentStoreCoordinator(
            validating: NSManagedObjectModel(
                document: model(
                    entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
                    entity("Book", attribute("title"), author))))
        ShelfStore.shelves.withLock { shelves in
            var shelf = ShelfStore.Shelf()
            shelf.leavesOutAuthors = true
            shelf.authors = [1: "Ann", 2: "Bob"]
            for (key, author) in [(1, 1), (2, 2), (3, 1)] { shelf.books[key] = .init(title: "b\(key)", author: author) }
            shelves[url.path] = shelf
        }
        try coordinator.addPersistentStore(ofType: storeClass.type, configurationName: nil, at: url)
        return context(of: coordinator)
    }

    private func context(of coordinator: NSPersistentStoreCoordinator?) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func with<R: Sendable>(_ body: (inout ShelfStore.Shelf) -> sending R) -> R {
        ShelfStore.shelves.withLock { body(&$0[url.path, default: .init()]) }
    }

    /// The relationships that were asked for since this was last asked.
    private func asked() -> [String] {
        with { shelf in
            defer { shelf.relationships = [] }
            return shelf.relationships.sorted()
        }
    }

    private func books(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
    }

    private func authors(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
    }

    private func author(_ book: NSManagedObject) -> String? {
        (book.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String
    }

    private func title(_ book: NSManagedObject) -> String? { book.value(forKey: "title") as? String }

    @Test("The store is asked when the relationship is read, once for all contexts")
    func reading() throws {
        let context = try context()
        try context.performAndWait {
            let books = try books(context)
            #expect(books.map(title) == ["b1", "b2", "b3"] && asked().isEmpty)
            #expect(author(books[0]) == "Ann" && asked() == ["Book 1.author"])
            #expect(author(books[0]) == "Ann" && asked().isEmpty)
            #expect(!books[0].hasChanges && !context.hasChanges)
        }
        let other = self.context(of: context.persistentStoreCoordinator)
        try other.performAndWait {
            let books = try books(other)
            #expect(author(books[0]) == "Ann" && asked().isEmpty)
            #expect(author(books[1]) == "Bob" && asked() == ["Book 2.author"])
        }
    }

    @Test("A to-one that leads nowhere is asked for once, too")
    func nowhere() throws {
        let context = try context()
        with { $0.books[2]?.author = nil }
        try context.performAndWait {
            let books = try books(context)
            #expect(author(books[1]) == nil && asked() == ["Book 2.author"])
            #expect(author(books[1]) == nil && asked().isEmpty)
        }
    }

    @Test("Prefetching asks for all", arguments: [false, true])
    func prefetching(readsMany: Bool) throws {
        let context = try context(readsMany ? BatchShelfStore.self : ShelfStore.self)
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.relationshipKeyPathsForPrefetching = ["author"]
            let books = try context.fetch(request)
            #expect(asked() == ["Book 1.author", "Book 2.author", "Book 3.author"])
            #expect(books.map(author) == ["Ann", "Bob", "Ann"] && asked().isEmpty)
        }
    }

    @Test("A store that tells relationships of many objects is asked for those of what came together")
    func manyAtOnce() throws {
        let context = try context(RelatingShelfStore.self)
        func related() -> [[String]] {
            with { shelf in
                defer { shelf.related = [] }
                return shelf.related.map { $0.sorted() }
            }
        }
        let all = ["Book 1.author", "Book 2.author", "Book 3.author"]
        try context.performAndWait {
            let books = try books(context)
            #expect(author(books[1]) == "Bob" && related() == [all] && asked().isEmpty)
            #expect(books.map(author) == ["Ann", "Bob", "Ann"] && related().isEmpty && asked().isEmpty)
        }
        let other = try self.context(RelatingShelfStore.self)
        try other.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.relationshipKeyPathsForPrefetching = ["books.author"]
            _ = try other.fetch(request)
            #expect(related() == [["Author 1.books", "Author 2.books"], all] && asked().isEmpty)
        }
    }

    @Test("A store that tells fewer relationships than it is asked for is refused")
    func tooFew() throws {
        let context = try context(RelatingShelfStore.self)
        with { $0.failsToRelate = true }
        context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.relationshipKeyPathsForPrefetching = ["author"]
            let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(
                error?.localizedDescription.contains(
                    "was asked for 'author' of 3 objects, and returned 2 values") == true)
        }
    }

    @Test("A save writes what nobody has read as it was, required or not", arguments: [false, true])
    func saving(isRequired: Bool) throws {
        let context = try context(isRequired: isRequired)
        try context.performAndWait {
            let books = try books(context)
            for book in books { book.setValue("new \(title(book) ?? "")", forKey: "title") }
            #expect(asked().isEmpty)
            try context.save()
            #expect(with { shelf in shelf.books.keys.sorted().map { shelf.books[$0]?.author } } == [1, 2, 1])
            #expect(books.map(author) == ["Ann", "Bob", "Ann"])
            #expect(!context.hasChanges && books.allSatisfy { $0.changedValues().isEmpty })
            books[0].setValue("newer", forKey: "title")
            #expect(Array(books[0].changedValues().keys) == ["title"])
            try context.save()
            #expect(with { $0.books[1]?.author } == 1 && with { $0.books[1]?.title } == "newer")
        }
    }

    @Test("What is set in its place is saved, and the other sides are in step")
    func setting() throws {
        let context = try context()
        try context.performAndWait {
            let authors = try authors(context)
            let books = try books(context)
            #expect((authors[0].value(forKey: "books") as? Set<NSManagedObject>)?.count == 2)
            books[0].setValue(nil, forKey: "author")
            books[2].setValue(authors[1], forKey: "author")
            #expect((authors[0].value(forKey: "books") as? Set<NSManagedObject>)?.isEmpty == true)
            #expect((authors[1].value(forKey: "books") as? Set<NSManagedObject>)?.count == 2)
            try context.save()
            #expect(with { shelf in shelf.books.keys.sorted().map { shelf.books[$0]?.author } } == [nil, 2, 2])
            #expect(author(books[0]) == nil && author(books[2]) == "Bob")
        }
    }

    @Test("Where the store cannot be asked nothing is saved, and it is asked again")
    func failing() throws {
        let context = try context()
        try context.performAndWait {
            let book = try #require(try books(context).first)
            book.setValue("new", forKey: "title")
            with { $0.failsToRelate = true }
            #expect(author(book) == nil)
            #expect(throws: CocoaError.self) { try context.save() }
            with { $0.failsToRelate = false }
            #expect(author(book) == "Ann")
            try context.save()
            #expect(with { $0.books[1]?.author } == 1 && with { $0.books[1]?.title } == "new")
        }
    }

    @Test("A conflict is over what both have changed, and not over what nobody had read")
    func conflicts() throws {
        let context = try context()
        try context.performAndWait {
            context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            let books = try books(context)
            #expect(author(books[0]) == "Ann")
            books[0].setValue(try authors(context)[1], forKey: "author")
            with { $0.books[1] = .init(title: "theirs", author: 1, version: 9) }
            try context.save()
            #expect(with { $0.books[1]?.author } == 2 && with { $0.books[1]?.title } == "theirs")
            #expect(author(books[0]) == "Bob" && title(books[0]) == "theirs")
        }
    }

    @Test("A child asks for what it reads")
    func children() throws {
        let parent = try context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        try child.performAndWait {
            let books = try books(child)
            #expect(books.map(title) == ["b1", "b2", "b3"] && asked().isEmpty)
            #expect(author(books[2]) == "Ann" && asked() == ["Book 3.author"])
            books[1].setValue("new", forKey: "title")
            try child.save()
        }
        try parent.performAndWait {
            try parent.save()
            #expect(with { $0.books[2]?.author } == 2 && with { $0.books[2]?.title } == "new")
        }
    }

    @Test("Rows that are fetched whole, as for a copy of the store, have all of them")
    func wholeRows() throws {
        let coordinator = try #require(context().persistentStoreCoordinator)
        let book = try #require(coordinator.runtime.entity(named: "Book"))
        let slot = try #require(book.slot(forKey: "author"))
        var found: [Int64] = []
        try coordinator.attachedStores[0].source.fetchRows(FetchPlan(entity: book.ordinal)) { rows in
            for index in rows.indices {
                let row = rows[index]
                found.append(row.isNull(book.slots[slot].column) ? -1 : row.integer(book.slots[slot].column))
            }
        }
        #expect(found == [1, 2, 1])
    }
}
