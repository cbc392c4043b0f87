import CoreDataSQL
import Foundation
import Testing

@testable import CoreData

private typealias NSExpression = CoreData.NSExpression

/// Rows that change without a new version: derived attributes that another coordinator's triggers write, another program's
/// UPDATE.
@Suite struct UnversionedChangeTests {
    /// A book with the derived attribute `chapterCount`.
    private func model() -> NSManagedObjectModel {
        let model = Library.model()
        let count = NSDerivedAttributeDescription()
        count.name = "chapterCount"
        count.attributeType = .integer64AttributeType
        count.isOptional = true
        count.derivationExpression = NSExpression(format: "chapters.@count")
        model.entitiesByName["Book"]?.properties.append(count)
        return model
    }

    private func chapter(of book: Book, _ context: NSManagedObjectContext) {
        let chapter = Chapter(context: context)
        chapter.setValue(book, forKey: "book")
    }

    private func same(_ id: NSManagedObjectID, in stack: LibraryStack) throws -> Book {
        let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()))
        return try #require(stack.context.object(with: id) as? Book)
    }

    private func stackWithBook() throws -> (LibraryStack, NSManagedObjectID) {
        let stack = try LibraryStack(model: model())
        let id = try stack.story { context in
            let book = Book(context: context)
            book.title = "Emma"
            try context.save()
            #expect(book.value(forKey: "chapterCount") as? Int == 0)
            return book.objectID
        }
        return (stack, id)
    }

    /// As another program would do it.
    private func rename(in stack: LibraryStack) throws {
        let database = try SQLStore.makeDatabase(DatabaseOptions(path: stack.url.path))
        try database.write { try $0.execute("UPDATE ZBOOK SET ZTITLE = 'Ema'") }
        database.close()
    }

    @Test func whatAnotherProgramWroteShowsOnceItIsRead() throws {
        let (stack, id) = try stackWithBook()
        try stack.story { context in
            let book = try #require(context.object(with: id) as? Book)
            #expect(book.title == "Emma")
            try rename(in: stack)
            let other = stack.newContext()
            try other.performAndWait {
                let found = try other.all(Book.self, "Book", "title == 'Ema'")
                #expect(found.map(\.title) == ["Ema"])
            }
            #expect(book.title == "Emma", "what is known stays until it is refreshed")
            context.refresh(book, mergeChanges: false)
            #expect(book.title == "Ema")
        }
    }

    @Test func aRefreshWithoutStalenessShowsWhatIsInTheStore() throws {
        let (stack, id) = try stackWithBook()
        let other = stack.newContext()
        try other.performAndWait {
            // Holds the row as it was.
            let book = try other.existingObject(with: id) as? Book
            #expect(book?.title == "Emma")
        }
        try rename(in: stack)
        for mergesChanges in [false, true] {
            try stack.story { context in
                let book = try #require(context.object(with: id) as? Book)
                book.pages = 7
                context.stalenessInterval = 0
                context.refresh(book, mergeChanges: mergesChanges)
                #expect(book.title == "Ema")
                #expect(book.pages == (mergesChanges ? 7 : 0))
                context.rollback()
            }
        }
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.shouldRefreshRefetchedObjects = true
        try other.performAndWait {
            let books = try other.fetch(request)
            #expect(books.map(\.title) == ["Ema"])
        }
    }

    @Test(arguments: [false, true])
    func aDerivedAttributeIsNewAfterTheSaveThoughItsOwnerWasAFault(isRead: Bool) throws {
        let (stack, id) = try stackWithBook()
        try stack.story { context in
            let book = try #require(context.object(with: id) as? Book)
            if isRead { #expect(book.title == "Emma") }
            context.refresh(book, mergeChanges: false)
            chapter(of: book, context)
            try context.save()
            #expect(book.value(forKey: "chapterCount") as? Int == 1)
            chapter(of: book, context)
            try context.save()
            #expect(book.value(forKey: "chapterCount") as? Int == 2)
        }
    }

    @Test func aDerivedAttributeThatAnotherCoordinatorChangedIsReadAgain() throws {
        let (stack, id) = try stackWithBook()
        let other = try LibraryStack(opening: stack.url, model: model())
        try other.story { context in
            let book = try same(id, in: other)
            #expect(book.value(forKey: "chapterCount") as? Int == 0)
            try stack.story { context in
                chapter(of: try #require(context.object(with: id) as? Book), context)
                try context.save()
            }
            #expect(try context.all(Book.self, "Book", "chapterCount == 1").count == 1)
            context.refresh(book, mergeChanges: false)
            #expect(book.value(forKey: "chapterCount") as? Int == 1)
            chapter(of: book, context)
            try context.save()
            #expect(book.value(forKey: "chapterCount") as? Int == 2)
        }
    }
}
