import CoreData
import Foundation
import Testing

/// `#Predicate` and `SortDescriptor` of Swift, as predicates and sort descriptors that stores follow.
@Suite struct SwiftPredicateTests {
    private func expect(_ predicate: NSPredicate?, _ format: String) {
        #expect(predicate?.node.predicateFormat == format)
    }

    @Test("A #Predicate of values becomes a predicate of the language")
    func values() {
        let name = "Jane"
        let range = Int32(1)...3
        expect(NSPredicate(#Predicate<Book> { $0.title == name }), "title == \"Jane\"")
        expect(NSPredicate(#Predicate<Book> { $0.author?.name == "b" }), "author.name == \"b\"")
        expect(NSPredicate(#Predicate<Book> { $0.author == nil }), "author == nil")
        expect(
            NSPredicate(#Predicate<Book> { $0.pages > 3 && $0.pages <= 9 && $0.isLent }),
            "pages > 3 AND pages <= 9 AND isLent == 1")
        expect(
            NSPredicate(#Predicate<Book> { $0.pages < 3 || !($0.rating >= 1.5) }), "pages < 3 OR NOT rating >= 1.5")
        expect(NSPredicate(#Predicate<Book> { $0.pages % 2 == 0 }), "modulus:by:(pages, 2) == 0")
        expect(NSPredicate(#Predicate<Book> { $0.pages / 2 + 1 != 3 }), "pages / 2 + 1 != 3")
        expect(NSPredicate(#Predicate<Book> { range.contains($0.pages) }), "pages BETWEEN {1, 3}")
        expect(NSPredicate(#Predicate<Book> { (1...3).contains($0.pages) }), "pages BETWEEN {1, 3}")
        expect(NSPredicate(#Predicate<Book> { (1..<3).contains($0.pages) }), "pages >= 1 AND pages < 3")
        expect(NSPredicate(#Predicate<Book> { [1, 2].contains($0.pages) }), "pages IN {1, 2}")
        expect(NSPredicate(#Predicate<Book> { _ in true }), "TRUEPREDICATE")
    }

    @Test("nil in a captured array is a member, as in Swift")
    func containedNil() throws {
        let names: [String?] = ["Emma", nil]
        let predicate = NSPredicate(#Predicate<Book> { names.contains($0.isbn) })
        expect(predicate, "isbn IN {\"Emma\"} OR isbn == nil")
        try LibraryStack().story { context in
            for isbn in ["Emma", nil, "x"] {
                let book = Book(context: context)
                book.title = "t"
                book.isbn = isbn
            }
            try context.save()
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = predicate
            #expect(Set(try context.fetch(request).map(\.isbn)) == ["Emma", nil])
            request.predicate = nil
            #expect(try context.fetch(request).filter { predicate?.evaluate(with: $0) == true }.count == 2)
        }
    }

    @Test("A #Predicate of texts and of to-manys becomes a predicate of the language")
    func collections() {
        expect(NSPredicate(#Predicate<Book> { ($0.title ?? "") == "x" }), "TERNARY(title != nil, title, \"\") == \"x\"")
        expect(
            NSPredicate(#Predicate<Book> { ($0.title ?? "").contains("x") }),
            "TERNARY(title != nil, title, \"\") CONTAINS \"x\"")
        expect(
            NSPredicate(#Predicate<Book> { $0.title?.starts(with: "x") == true }),
            "TERNARY(title BEGINSWITH \"x\", 1, 0) == 1")
        expect(
            NSPredicate(#Predicate<Author> { $0.books.contains { $0.pages > 2 } }),
            "SUBQUERY(books, $v0, $v0.pages > 2).@count > 0")
        expect(
            NSPredicate(#Predicate<Author> { $0.books.allSatisfy { $0.pages > 2 } }),
            "SUBQUERY(books, $v0, NOT $v0.pages > 2).@count == 0")
        expect(
            NSPredicate(#Predicate<Author> { $0.books.filter { $0.isLent }.count > 1 }),
            "SUBQUERY(books, $v0, $v0.isLent == 1).@count > 1")
        expect(NSPredicate(#Predicate<Author> { $0.books.count > 2 }), "books.@count > 2")
        expect(NSPredicate(#Predicate<Author> { $0.books.isEmpty }), "books.@count == 0")
    }

    @Test("What the language lacks makes no predicate")
    func unknown() {
        #expect(NSPredicate(#Predicate<Book> { ($0.title ?? "").count > 3 }) == nil)
    }

    @Test("Stores and memory follow predicates and sort descriptors of Swift")
    func fetches() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Jane"
            for (title, pages) in [("Emma 10", 10), ("emma 9", 9), ("Zoe", 1)] {
                let book = Book(context: context)
                book.title = title
                book.pages = Int32(pages)
                book.author = pages > 1 ? author : nil
            }
            try context.save()
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(#Predicate<Book> { $0.author?.name == "Jane" && $0.pages > 1 })
            request.sortDescriptors = [NSSortDescriptor(SortDescriptor(\Book.title, order: .reverse))]
            let books = try context.fetch(request)
            #expect(books.map(\.title) == ["emma 9", "Emma 10"])
            let predicate = try #require(request.predicate)
            #expect(books.allSatisfy { predicate.evaluate(with: $0) })
            request.sortDescriptors = [NSSortDescriptor(SortDescriptor(\Book.pages))]
            #expect(try context.fetch(request).map(\.pages) == [9, 10])
            let authors = NSFetchRequest<Author>(entityName: "Author")
            authors.predicate = NSPredicate(#Predicate<Author> { $0.books.contains { $0.pages == 9 } })
            #expect(try context.fetch(authors) == [author])
        }
    }

    @Test("A sort descriptor of Swift keeps key, direction and comparison")
    func sortDescriptors() {
        let title = NSSortDescriptor(SortDescriptor(\Book.title, order: .reverse))
        #expect(title.key == "title" && !title.ascending && title.selector?.description == "compare:")
        let pages = NSSortDescriptor(SortDescriptor(\Book.pages))
        #expect(pages.key == "pages" && pages.ascending && pages.selector?.description == "compare:")
    }

    @Test("A sort descriptor becomes one of Swift's, which sorts by its key")
    func backToSwift() throws {
        try LibraryStack().story { context in
            let books = ["b 10", "B 9", "a"].map { title in
                let book = Book(context: context)
                book.title = title
                return book
            }
            let selector = Selector("localizedStandardCompare:")
            let descriptor = NSSortDescriptor(key: "title", ascending: false, selector: selector)
            let swift = try #require(SortDescriptor(descriptor, comparing: Book.self))
            #expect(books.sorted(using: swift).map(\.title) == ["b 10", "B 9", "a"])
            let literal = try #require(
                SortDescriptor(NSSortDescriptor(key: "title", ascending: true), comparing: Book.self))
            #expect(books.sorted(using: literal).map(\.title) == ["B 9", "a", "b 10"])
            #expect(NSSortDescriptor(literal).key == "title")
            let coded = NSSortDescriptor(key: "title", ascending: true) { _, _ in .orderedSame }
            #expect(SortDescriptor(coded, comparing: Book.self) == nil)
            context.rollback()
        }
    }
}
