import CoreData
import Foundation
import Testing

// semantics B: faulting
@Suite struct FaultingTests {
    /// A stack with one author and three books, and a second context.
    private func library() throws -> LibraryStack {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Author"
            for index in 1...3 {
                let book = Book(context: context)
                book.title = "Book \(index)"
                book.author = author
            }
            try context.save()
            context.reset()
        }
        return stack
    }

    @Test("B1, M3: a fetched fault fires without a statement; a fault made of an ID with one")
    func firing() throws {
        let stack = try library()
        try stack.story { context in
            let books = try context.all(Book.self, "Book")
            let fired = stack.statements { for book in books { _ = book.title } }
            #expect(fired.isEmpty)
            #expect(books.allSatisfy { $0.events == ["awakeFromFetch"] })
        }
        let other = stack.newContext()
        let id = try stack.story { try $0.all(Book.self, "Book")[0].objectID }
        stack.story { $0.reset() }
        try other.performAndWait {
            let book = try #require(other.object(with: id) as? Book)
            let fired = stack.statements { _ = book.title }
            #expect(fired.count == 1)
            #expect(!book.isFault)
        }
    }

    @Test("B1: asking for identity and state fires nothing")
    func statesDoNotFire() throws {
        let stack = try library()
        try stack.story { context in
            let book = try #require(try context.all(Book.self, "Book").first)
            _ = book.description
            _ = book.objectID
            _ = book.isInserted || book.isUpdated || book.isDeleted
            _ = book.managedObjectContext
            _ = book.hasFault(forRelationshipNamed: "author")
            _ = book.changedValues()
            #expect(book.isFault)
            #expect(book.faultingState != 0)
        }
    }

    @Test("B2: a to-many is read at once with its members, by one statement")
    func toManyFaults() throws {
        let stack = try library()
        try stack.story { context in
            let author = try #require(try context.all(Author.self, "Author").first)
            #expect(author.hasFault(forRelationshipNamed: "books"))
            let read = stack.statements { #expect(author.books.count == 3) }
            #expect(read.count == 1)
            #expect(!author.hasFault(forRelationshipNamed: "books"))
            let fired = stack.statements { for book in author.books { _ = book.title } }
            #expect(fired.isEmpty)
            #expect(author.objectIDs(forRelationshipNamed: "books").count == 3)
        }
    }

    @Test("B4: a fault whose row is gone becomes deleted and reads as nil")
    func inaccessibleFaults() throws {
        let stack = try library()
        let id = try stack.story { try $0.all(Book.self, "Book", "title == 'Book 1'")[0].objectID }
        let other = stack.newContext()
        try other.performAndWait {
            let book = try #require(other.object(with: id) as? Book)
            try stack.story { context in
                context.delete(context.object(with: id))
                try context.save()
            }
            #expect(book.title == nil)
            #expect(book.pages == 0)
            #expect(book.author == nil)
            #expect(book.tags.isEmpty)
            #expect(book.isDeleted)
            try other.save()
        }
    }

    @Test("A fault that found no row is told by no save as deleted: its row may come")
    func vanishedFaultsAreNotToldAsDeleted() throws {
        let stack = try library()
        let writer = stack.newContext()
        let reader = stack.newContext()
        let book = writer.performAndWait { Book(context: writer) }
        let id = try writer.performAndWait {
            book.title = "Late"
            try writer.obtainPermanentIDs(for: [book])
            return book.objectID
        }
        reader.performAndWait { #expect(reader.object(with: id).value(forKey: "title") == nil) }
        try writer.performAndWait { try writer.save() }
        writer.automaticallyMergesChangesFromParent = true
        try reader.performAndWait {
            Book(context: reader).title = "Other"
            #expect(reader.deletedObjects.count == 1)
            try reader.save()
            #expect(!reader.hasChanges && reader.registeredObject(for: id) == nil)
            #expect(reader.object(with: id).value(forKey: "title") as? String == "Late")
        }
        writer.performAndWait {
            #expect(book.title == "Late" && !book.isDeleted && book.managedObjectContext === writer)
        }
    }

    @Test("B5: refreshing without merging makes a fault and loses changes")
    func refreshWithoutMerging() throws {
        let stack = try library()
        try stack.story { context in
            let book = try #require(try context.all(Book.self, "Book", "title == 'Book 1'").first)
            book.title = "Changed"
            book.events = []
            context.refresh(book, mergeChanges: false)
            #expect(book.isFault)
            #expect(book.events == ["willTurnIntoFault", "didTurnIntoFault"])
            #expect(!context.hasChanges)
            #expect(book.title == "Book 1")
        }
    }

    @Test("B5, L4: refreshing with merging keeps changes and takes the store's other values")
    func refreshWithMerging() throws {
        let stack = try library()
        let other = stack.newContext()
        try stack.story { context in
            let book = try #require(try context.all(Book.self, "Book", "title == 'Book 1'").first)
            book.title = "Mine"
            try other.performAndWait {
                let same = try #require(other.object(with: book.objectID) as? Book)
                same.pages = 99
                try other.save()
            }
            #expect(book.pages == 0)
            context.refresh(book, mergeChanges: true)
            #expect(book.title == "Mine")
            #expect(book.pages == 99)
            try context.save()
        }
    }

    @Test("B7: a fetch leaves realised objects as they are, unless told to refresh them")
    func refetching() throws {
        let stack = try library()
        let other = stack.newContext()
        try stack.story { context in
            let book = try #require(try context.all(Book.self, "Book", "title == 'Book 1'").first)
            _ = book.pages
            try other.performAndWait {
                let same = try #require(other.object(with: book.objectID) as? Book)
                same.pages = 99
                try other.save()
            }
            let request = NSFetchRequest<Book>(entityName: "Book")
            _ = try context.fetch(request)
            #expect(book.pages == 0)
            request.shouldRefreshRefetchedObjects = true
            _ = try context.fetch(request)
            #expect(book.pages == 99)
        }
    }

    @Test("B8: a reset context knows nothing; held objects are empty")
    func reset() throws {
        let stack = try library()
        try stack.story { context in
            let book = try #require(try context.all(Book.self, "Book").first)
            _ = book.title
            context.reset()
            #expect(context.registeredObjects.isEmpty)
            #expect(book.managedObjectContext == nil)
            #expect(book.title == nil)
            #expect(book.pages == 0)
        }
    }

    @Test("B9: clean objects are registered weakly, changed ones are kept")
    func registration() throws {
        let stack = try library()
        try stack.story { context in
            do {
                let books = try context.all(Book.self, "Book")
                #expect(context.registeredObjects.count == 3)
                books[0].title = "Changed"
            }
            #expect(context.registeredObjects.count == 1)
            try context.save()
            #expect(context.registeredObjects.isEmpty)
            context.retainsRegisteredObjects = true
            _ = try context.all(Book.self, "Book")
            #expect(context.registeredObjects.count == 3)
        }
    }

    @Test("An object that outlives its context is empty and harmless")
    func objectsWithoutContext() throws {
        let stack = try library()
        var context: NSManagedObjectContext? = stack.newContext()
        var held: Book?
        try context?.performAndWait {
            held = try context?.all(Book.self, "Book").first
            _ = held?.title
        }
        context = nil
        #expect(held?.managedObjectContext == nil)
    }

    @Test("M9, M10: batches and prefetching save statements")
    func batches() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for index in 0..<10 {
                let author = Author(context: context)
                author.name = "Author \(index)"
                let book = Book(context: context)
                book.title = "Book \(index)"
                book.author = author
            }
            try context.save()
            context.reset()
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.fetchBatchSize = 4
            var books: [Book] = []
            let fetched = try stack.statements { books = try context.fetch(request) }
            #expect(fetched.count == 1)
            let read = stack.statements { for book in books { _ = book.title } }
            #expect(read.count == 3)
            books = []
            context.reset()
            request.fetchBatchSize = 0
            request.relationshipKeyPathsForPrefetching = ["author"]
            let prefetched = try stack.statements {
                books = try context.fetch(request)
                for book in books { #expect(book.author?.name != nil) }
            }
            #expect(prefetched.count == 2)
        }
    }
}
