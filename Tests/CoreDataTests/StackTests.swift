import CoreData
import Foundation
import Testing

/// Whole stories through the public API, from an empty folder to a store that was closed and opened again.
@Suite struct StackTests {
    @Test func savedObjectsAreThereInAnotherStack() throws {
        let stack = try LibraryStack()
        let published = Date(timeIntervalSinceReferenceDate: 123_456.5)
        let identifier = UUID()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Tove Jansson"
            let book = Book(context: context)
            book.title = "The Summer Book"
            book.pages = 170
            book.price = Decimal(string: "10.11")
            book.published = published
            book.identifier = identifier
            book.website = URL(string: "https://example.org/summer?x=1")
            book.cover = Data([0, 1, 2, 255])
            book.rating = 4.5
            book.isLent = true
            book.author = author
            #expect(author.books == [book])
            #expect(book.objectID.isTemporaryID)
            try context.save()
            #expect(!book.objectID.isTemporaryID)
            #expect(!context.hasChanges)
        }
        let other = try LibraryStack(opening: stack.url)
        try other.story { context in
            let books = try context.all(Book.self, "Book")
            let book = try #require(books.first)
            #expect(books.count == 1)
            #expect(book.isFault)
            #expect(book.title == "The Summer Book")
            #expect(!book.isFault)
            #expect(book.pages == 170)
            #expect(book.price == Decimal(string: "10.11"))
            #expect(book.published == published)
            #expect(book.identifier == identifier)
            #expect(book.website?.absoluteString == "https://example.org/summer?x=1")
            #expect(book.cover == Data([0, 1, 2, 255]))
            #expect(book.rating == 4.5)
            #expect(book.isLent)
            #expect(book.isbn == nil)
            #expect(book.author?.name == "Tove Jansson")
            #expect(book.author?.books == [book])
        }
    }

    @Test func changesAndDeletionsAreSaved() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for index in 0..<10 {
                let book = Book(context: context)
                book.title = "Book \(index)"
                book.pages = Int32(index * 10)
            }
            try context.save()
            let books = try context.all(Book.self, "Book", "pages >= 50")
            #expect(books.count == 5)
            for book in books { book.title = (book.title ?? "") + "!" }
            context.delete(try #require(try context.all(Book.self, "Book", "pages == 0").first))
            try context.save()
        }
        let other = try LibraryStack(opening: stack.url)
        try other.story { context in
            #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == 9)
            let titles = try context.all(Book.self, "Book", "title ENDSWITH '!'").compactMap(\.title).sorted()
            #expect(titles == ["Book 5!", "Book 6!", "Book 7!", "Book 8!", "Book 9!"])
        }
    }

    @Test func relationshipsOfEveryKindAreSaved() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "One"
            let sequel = Book(context: context)
            sequel.title = "Two"
            let third = Book(context: context)
            third.title = "Three"
            book.sequels = [third, sequel]
            #expect(sequel.prequels == [book])
            for name in ["a", "b", "c"] {
                let chapter = Chapter(context: context)
                chapter.title = name
                chapter.book = book
            }
            #expect(book.chapters.map(\.title) == ["a", "b", "c"])
            let tag = Tag(context: context)
            tag.name = "novel"
            tag.books = [book, sequel]
            #expect(book.tags == [tag])
            let reader = Reader(context: context)
            reader.name = "Sophia"
            let loan = Loan(context: context)
            loan.book = book
            loan.reader = reader
            try context.save()
        }
        let other = try LibraryStack(opening: stack.url)
        try other.story { context in
            let book = try #require(try context.all(Book.self, "Book", "title == 'One'").first)
            #expect(book.sequels.map(\.title) == ["Three", "Two"])
            #expect(book.chapters.map(\.title) == ["a", "b", "c"])
            #expect(book.tags.map(\.name) == ["novel"])
            #expect(book.tags.first?.books.count == 2)
            #expect(book.loans.first?.reader?.name == "Sophia")
            book.chapters = [book.chapters[2], book.chapters[0]]
            book.sequels.reverse()
            book.tags = []
            try context.save()
        }
        let third = try LibraryStack(opening: stack.url)
        try third.story { context in
            let book = try #require(try context.all(Book.self, "Book", "title == 'One'").first)
            #expect(book.sequels.map(\.title) == ["Two", "Three"])
            #expect(book.chapters.map(\.title) == ["c", "a"])
            #expect(book.tags.isEmpty)
            #expect(try context.all(Tag.self, "Tag").first?.books.count == 1)
            #expect(try context.all(Chapter.self, "Chapter", "book == nil").map(\.title) == ["b"])
        }
    }
}
