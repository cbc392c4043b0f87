import Bookshelf
import CoreData
import Foundation
import FoundationNetworking
import Testing

/// Runs what `Apple/Bookshelf` says, compiled from its copies.
@MainActor @Suite struct BookshelfTests {
    private func makeLibrary() throws -> Library {
        try Library(name: "Books", url: URL(fileURLWithPath: "/dev/null"))
    }

    @Test func propertiesOfEveryKindAreStored() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bookshelf-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Books.sqlite")
        do {
            let context = try makeLibrary(at: url).container.viewContext
            let book = Book(title: "Emma", pages: 474, in: context)
            book.binding = .hardback
            book.colour = Colour(name: "red")
            try context.save()
        }
        let context = try makeLibrary(at: url).container.viewContext
        let book = try #require(try context.fetch(Book.longerThan(400)).first)
        #expect(book.title == "Emma")
        #expect(book.pages == 474)
        #expect(book.binding == .hardback)
        #expect(book.colour == Colour(name: "red"))
        #expect(book.addedOn != nil)
        #expect(book.summary() == "Emma, 474 pages")
        #expect(book.timesSummarised == 1)
    }

    private func makeLibrary(at url: URL) throws -> Library { try Library(name: "Books", url: url) }

    @Test func keyPathsAndSelectorsOfRequestsWork() throws {
        let library = try makeLibrary()
        let context = library.container.viewContext
        for title in ["Part 10", "Part 9", "part 1"] { _ = Book(title: title, pages: 10, in: context) }
        _ = Book(title: "Leaflet", pages: 1, in: context)
        try context.save()
        #expect(try context.fetch(Book.longerThan(5)).map(\.title) == ["part 1", "Part 9", "Part 10"])
    }

    @Test func orderedMembersChangeByTheirAccessors() throws {
        let context = try makeLibrary().container.viewContext
        let shelf = Shelf(context: context)
        shelf.name = "By the window"
        let books = ["A", "B", "C", "D"].map { Book(title: $0, pages: 1, in: context) }
        func titles() -> [String] { shelf.books.compactMap { ($0 as? Book)?.title } }

        shelf.addToBooks(books[0])
        shelf.addToBooks(NSOrderedSet(array: [books[1], books[2]]))
        shelf.insertIntoBooks(books[3], at: 0)
        #expect(titles() == ["D", "A", "B", "C"])
        shelf.removeFromBooks(at: 1)
        shelf.removeFromBooks(books[1])
        #expect(titles() == ["D", "C"])
        shelf.replaceBooks(at: 0, with: books[0])
        #expect(titles() == ["A", "C"])
        try context.save()
        #expect(try context.fetch(Book.onShelf(named: "By the window")).map(\.title) == ["A", "C"])
    }

    @Test func orderedMembersChangeByTheOlderNamesToo() throws {
        let context = try makeLibrary().container.viewContext
        let shelf = Shelf(context: context)
        let books = ["A", "B", "C", "D"].map { Book(title: $0, pages: 1, in: context) }
        func titles() -> [String] { shelf.books.compactMap { ($0 as? Book)?.title } }

        shelf.addBooksObject(books[0])
        shelf.append(NSOrderedSet(object: books[1]))
        shelf.insertObject(books[2], inBooksAtIndex: 0)
        shelf.insertBooks([books[3]], atIndexes: NSIndexSet(index: 1))
        #expect(titles() == ["C", "D", "A", "B"])
        shelf.removeObjectFromBooksAtIndex(0)
        shelf.removeBooksAtIndexes(NSIndexSet(index: 1))
        #expect(titles() == ["D", "B"])
        shelf.replaceObjectInBooksAtIndex(0, withObject: books[0])
        shelf.replaceBooksAtIndexes(NSIndexSet(index: 1), withBooks: [books[2]])
        #expect(titles() == ["A", "C"])
        shelf.removeBooks(NSOrderedSet(array: [books[0], books[2]]))
        #expect(titles().isEmpty)
    }

    @Test func requestsOfTheNetworkCompile() {
        let cover = CoverRequest(isbn: "123", host: "covers")
        #expect(cover.request.value(forHTTPHeaderField: "Sorted-By") == "title")
    }

    @Test func methodsObserveUntilTheyAreRemoved() throws {
        let library = try makeLibrary()
        let context = library.container.viewContext
        let delegate = Delegate()
        library.delegate = delegate
        _ = Book(title: "Emma", pages: 1, in: context)
        try context.save()
        #expect(library.insertedTitles == ["Emma"])
        #expect(delegate.saves == 1)
        let changes = library.changeCount
        #expect(changes > 0)

        library.ignoreChanges()
        _ = Book(title: "Persuasion", pages: 1, in: context)
        try context.save()
        #expect(library.insertedTitles == ["Emma", "Persuasion"])
        #expect(library.changeCount == changes)
    }

    @Test func libraryIsNotKeptByTheCentre() throws {
        var library: Library? = try makeLibrary()
        weak let weakly = library
        let context = try #require(library).container.viewContext
        library = nil
        #expect(weakly == nil)
        _ = Book(title: "Emma", pages: 1, in: context)
    }

    @Test func batchesInAnAutoreleasePoolAreSaved() throws {
        let library = try makeLibrary()
        try library.add(3)
        #expect(try library.container.viewContext.count(for: NSFetchRequest<Book>(entityName: "Book")) == 3)
    }

    private final class Delegate: LibraryDelegate {
        var saves = 0

        func libraryDidSave(_ library: Library) { saves += 1 }
    }
}
