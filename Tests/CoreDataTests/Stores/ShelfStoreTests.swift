import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// What an incremental store is asked for, and when.
@Suite struct ShelfStoreTests {
    private let url = URL(fileURLWithPath: "/shelf/\(UUID().uuidString)")

    /// Three books, two of them of author 1, one of author 2.
    private func context(_ storeClass: ShelfStore.Type = ShelfStore.self) throws -> NSManagedObjectContext {
        NSPersistentStoreCoordinator.registerStoreClass(storeClass, forStoreType: storeClass.type)
        let built = try NSManagedObjectModel(
            document: model(
                entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
                entity("Book", attribute("title"), toOne("author", "Author", inverse: "books"))))
        let size = NSCompositeAttributeDescription()
        (size.name, size.isOptional) = ("size", true)
        size.elements = ["width", "height"].map { name in
            let element = NSAttributeDescription()
            (element.name, element.attributeType, element.isOptional) = (name, .integer32AttributeType, true)
            return element
        }
        built.entitiesByName["Book"]?.properties.append(size)
        let coordinator = try NSPersistentStoreCoordinator(validating: built)
        ShelfStore.shelves.withLock { shelves in
            var shelf = ShelfStore.Shelf()
            shelf.authors = [1: "Ann", 2: "Bob"]
            for (key, author) in [(1, 1), (2, 2), (3, 1)] { shelf.books[key] = .init(title: "b\(key)", author: author) }
            shelves[url.path] = shelf
        }
        try coordinator.addPersistentStore(ofType: storeClass.type, configurationName: nil, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func with<R: Sendable>(_ body: (inout ShelfStore.Shelf) -> sending R) -> R {
        ShelfStore.shelves.withLock { body(&$0[url.path, default: .init()]) }
    }

    /// What was asked for since this was last asked.
    private func asked() -> (single: [String], together: [[String]], relationships: [String]) {
        with { shelf in
            defer { (shelf.single, shelf.together, shelf.relationships) = ([], [], []) }
            return (shelf.single, shelf.together.map { $0.sorted() }, shelf.relationships)
        }
    }

    private func request(_ entity: String) -> NSFetchRequest<NSManagedObject> { NSFetchRequest(entityName: entity) }

    private func title(_ book: NSManagedObject?) -> String? { book?.value(forKey: "title") as? String }

    private func isNothing(_ asked: (single: [String], together: [[String]], relationships: [String])) -> Bool {
        asked.single.isEmpty && asked.together.isEmpty && asked.relationships.isEmpty
    }

    @Test("A fetch asks for no values: those of an object are asked for when it is read")
    func faults() throws {
        let context = try context()
        try context.performAndWait {
            let books = try context.fetch(request("Book"))
            #expect(books.count == 3 && books.allSatisfy(\.isFault))
            #expect(with { $0.wasCast } == true)
            #expect(isNothing(asked()))
            #expect(title(books[1]) == "b2")
            let read = asked()
            #expect(read.single == ["Book 2"] && read.together.isEmpty && read.relationships.isEmpty)
            #expect(books[0].isFault && books[2].isFault)
            // The author that the node names is a fault, too.
            let author = try #require(books[1].value(forKey: "author") as? NSManagedObject)
            #expect(author.isFault && isNothing(asked()))
            #expect(author.value(forKey: "name") as? String == "Bob")
            #expect(asked().single == ["Author 2"])
            #expect(try context.count(for: request("Book")) == 3)
        }
    }

    @Test("A batch size makes a store that reads one object after another read none beside the one that is read")
    func batchSize() throws {
        let context = try context()
        try context.performAndWait {
            let batched = request("Book")
            batched.fetchBatchSize = 2
            let books = try context.fetch(batched)
            #expect(title(books[0]) == "b1")
            #expect(asked().single == ["Book 1"])
        }
        let batching = try self.context(BatchShelfStore.self)
        try batching.performAndWait {
            let batched = request("Book")
            batched.fetchBatchSize = 2
            let books = try batching.fetch(batched)
            #expect(isNothing(asked()))
            #expect(title(books[0]) == "b1")
            #expect(asked().together == [["Book 1", "Book 2"]])
            #expect(title(books[1]) == "b2" && isNothing(asked()))
        }
    }

    @Test(
        "A store that reads many at once is asked for what came together, and once for values that are wanted at once")
    func manyAtOnce() throws {
        let context = try context(BatchShelfStore.self)
        try context.performAndWait {
            let books = try context.fetch(request("Book"))
            #expect(isNothing(asked()))
            #expect(title(books[2]) == "b3")
            let read = asked()
            #expect(read.together == [["Book 1", "Book 2", "Book 3"]] && read.single.isEmpty)
            #expect(books.map(title) == ["b1", "b2", "b3"] && isNothing(asked()))
            context.reset()
            let whole = request("Book")
            whole.returnsObjectsAsFaults = false
            #expect(try context.fetch(whole).allSatisfy { !$0.isFault })
            #expect(asked().together == [["Book 1", "Book 2", "Book 3"]])
            context.reset()
            context.readsSiblingsOfFaults = false
            #expect(title(try context.fetch(request("Book")).first) == "b1")
            #expect(asked().single == ["Book 1"])
        }
    }

    @Test("returnsObjectsAsFaults = false asks at once, one by one where the store cannot read many")
    func wholeObjects() throws {
        let context = try context()
        try context.performAndWait {
            let whole = request("Book")
            whole.returnsObjectsAsFaults = false
            let books = try context.fetch(whole)
            #expect(books.allSatisfy { !$0.isFault })
            #expect(asked().single == ["Book 1", "Book 2", "Book 3"])
        }
    }

    @Test("A to-many asks for the IDs of its members, whose values are asked for when they are read")
    func members() throws {
        let context = try context()
        try context.performAndWait {
            let author = try #require(try context.fetch(request("Author")).first)
            #expect(author.hasFault(forRelationshipNamed: "books") && isNothing(asked()))
            let books = try #require(author.value(forKey: "books") as? Set<NSManagedObject>)
            #expect(books.count == 2 && books.allSatisfy(\.isFault))
            let read = asked()
            #expect(read.relationships == ["Author 1.books"] && !read.single.contains { $0.hasPrefix("Book") })
            #expect(Set(books.compactMap(title)) == ["b1", "b3"])
            #expect(asked().single.sorted() == ["Book 1", "Book 3"])
        }
    }

    @Test("Prefetching reads the objects, their members, and these")
    func prefetching() throws {
        let context = try context(BatchShelfStore.self)
        try context.performAndWait {
            let authors = request("Author")
            authors.relationshipKeyPathsForPrefetching = ["books"]
            let found = try context.fetch(authors)
            let read = asked()
            #expect(read.relationships.sorted() == ["Author 1.books", "Author 2.books"])
            #expect(read.together == [["Author 1", "Author 2"], ["Book 1", "Book 2", "Book 3"]])
            let titles = found.flatMap { ($0.value(forKey: "books") as? Set<NSManagedObject> ?? []).compactMap(title) }
            #expect(Set(titles) == ["b1", "b2", "b3"] && isNothing(asked()))
        }
    }

    @Test("An object whose row is gone when it is read is deleted")
    func lost() throws {
        let context = try context()
        try context.performAndWait {
            let books = try context.fetch(request("Book"))
            with { $0.books[2] = nil }
            #expect(title(books[1]) == nil && books[1].isDeleted)
            with { $0.books[2] = .init(title: "again", author: nil) }
            #expect(try context.fetch(request("Book")).map(title) == ["b1", "again", "b3"])
        }
    }

    @Test("A node of another object than was asked for is refused")
    func mistaken() throws {
        let context = try context(MistakenShelfStore.self)
        try context.performAndWait {
            let book = try #require(try context.fetch(request("Book")).first)
            let error = #expect(throws: CocoaError.self) { try context.existingObject(with: book.objectID) }
            #expect(error?.localizedDescription.contains("returned a node of") == true)
        }
    }

    @Test("shouldRefreshRefetchedObjects asks for the objects that have been read, and for no others")
    func refetched() throws {
        let context = try context()
        try context.performAndWait {
            let books = try context.fetch(request("Book"))
            #expect(title(books[0]) == "b1")
            with { $0.books[1] = .init(title: "new", author: 1, version: 7) }
            _ = asked()
            #expect(title(try context.fetch(request("Book")).first) == "b1" && isNothing(asked()))
            let refreshing = request("Book")
            refreshing.shouldRefreshRefetchedObjects = true
            #expect(title(try context.fetch(refreshing).first) == "new")
            #expect(asked().single == ["Book 1"])
        }
    }

    @Test("Unsaved changes are matched and sorted with what the store has")
    func pendingChanges() throws {
        let context = try context()
        try context.performAndWait {
            let book = try #require(try context.fetch(request("Book")).last)
            book.setValue("a", forKey: "title")
            let sorted = request("Book")
            sorted.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            #expect(try context.fetch(sorted).map(title) == ["a", "b1", "b2"])
        }
    }

    @Test("Deleting an object takes it out of the relationships of objects that were faults; undo brings it back")
    func deleting() throws {
        let context = try context()
        try context.performAndWait {
            context.undoManager = UndoManager()
            let author = try #require(try context.fetch(request("Author")).first)
            context.delete(author)
            context.processPendingChanges()
            let books = try context.fetch(request("Book")).sorted { title($0) ?? "" < title($1) ?? "" }
            #expect(books.map { $0.value(forKey: "author") == nil } == [true, false, true])
            context.undo()
            #expect(books.map { $0.value(forKey: "author") == nil } == [false, false, false])
            context.redo()
            try context.save()
            #expect(with { $0.authors } == [2: "Bob"])
            #expect(with { shelf in shelf.books.keys.sorted().map { shelf.books[$0]?.author } } == [nil, 2, nil])
        }
    }

    @Test("What another has changed since it was read is a conflict; the look for it asks once")
    func conflicts() throws {
        let context = try context(BatchShelfStore.self)
        try context.performAndWait {
            let books = try context.fetch(request("Book"))
            for book in books { book.setValue("mine", forKey: "title") }
            with { $0.books[2] = .init(title: "theirs", author: 2, version: 9) }
            _ = asked()
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.errorCode == NSManagedObjectMergeError)
            let looks = asked()
            #expect(looks.together.first == ["Book 1", "Book 2", "Book 3"] && looks.single.isEmpty)
            #expect(with { $0.books[2]?.title } == "theirs")
        }
    }

    @Test("A child's fetch asks for no values either")
    func children() throws {
        let parent = try context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        try child.performAndWait {
            let books = try child.fetch(request("Book"))
            #expect(books.count == 3 && isNothing(asked()))
            #expect(title(books[2]) == "b3")
            #expect(asked().single == ["Book 3"])
        }
    }

    @Test("A composite attribute is a dictionary in a node, and one in what is saved")
    func composites() throws {
        let context = try context()
        with { $0.books[1]?.size = ["width": 3, "height": 4] }
        try context.performAndWait {
            let book = try #require(try context.fetch(request("Book")).first)
            #expect(ShelfStore.numbers(book.value(forKey: "size")) == ["width": 3, "height": 4])
            #expect(book.value(forKeyPath: "size.height") as? Int == 4)
            book.setValue(5, forKeyPath: "size.height")
            try context.save()
            #expect(with { $0.books[1]?.size } == ["width": 3, "height": 5])
            context.refresh(book, mergeChanges: false)
            #expect(book.value(forKeyPath: "size.height") as? Int == 5)
        }
    }

    @Test("A context that is pinned to a query generation reads such a store as it is")
    func generations() throws {
        let context = try context()
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            let books = try context.fetch(request("Book"))
            with { $0.books[1] = .init(title: "new", author: 1, version: 7) }
            #expect(title(books[0]) == "new")
            #expect((books[1].value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String == "Bob")
            books[1].setValue("mine", forKey: "title")
            try context.save()
            #expect(with { $0.books[2]?.title } == "mine")
        }
    }

    @Test("Metadata that a class keeps itself are completed when the store is added, and set by the coordinator")
    func metadata() throws {
        let context = try context(KeepingShelfStore.self)
        let coordinator = try #require(context.persistentStoreCoordinator)
        let store = try #require(coordinator.persistentStores.first)
        #expect(store.identifier == "kept" && with { $0.metadata?[NSStoreUUIDKey] as? String } == "kept")
        #expect(coordinator.metadata(for: store)[NSStoreTypeKey] as? String == KeepingShelfStore.type)
        try context.performAndWait {
            try context.save()
            #expect(with { $0.metadataWrites } == 0)
            coordinator.setMetadata(["shop": "Emma's"], for: store)
            #expect(store.metadata["shop"] as? String == "Emma's")
            try context.save()
            #expect(with { $0.metadataWrites } == 1 && with { $0.metadata?["shop"] as? String } == "Emma's")
        }
    }
}
