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
        expect(NSPredicate(#Predicate<Book> { ($0.title ?? "") == "x" }), "title == \"x\"")
        expect(NSPredicate(#Predicate<Book> { ($0.title ?? "") < "x" }), "title < \"x\" OR title == nil")
        expect(NSPredicate(#Predicate<Book> { ($0.title ?? "x") != "x" }), "title != \"x\" AND title != nil")
        expect(
            NSPredicate(#Predicate<Book> { ($0.title ?? "").contains("x") }),
            "title CONTAINS \"x\"")
        expect(
            NSPredicate(#Predicate<Book> { $0.title?.starts(with: "x") == true }),
            "title BEGINSWITH \"x\"")
        expect(
            NSPredicate(#Predicate<Book> { $0.title?.starts(with: "x") == false }),
            "title != nil AND NOT title BEGINSWITH \"x\"")
        expect(
            NSPredicate(#Predicate<Book> { if let title = $0.title { title.count > 3 } else { $0.isLent } }),
            "characters:(title) > 3 OR (NOT title != nil AND isLent == 1)")
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
        let predicate = #Predicate<Book> { ($0.title ?? "").contains(#/a+/#) }
        #expect(NSPredicate(predicate) == nil)
        let error = #expect(throws: CocoaError.self) { try NSPredicate(validating: predicate) }
        #expect(
            error?.localizedDescription
                == "Unsupported predicate: #Predicate<Book>: StringContainsRegex has no equivalent in a predicate's format"
        )
    }

    @Test("What Foundation's predicates have on Apple's platforms only, they have here")
    func texts() {
        let (same, before) = (ComparisonResult.orderedSame, ComparisonResult.orderedAscending)
        expect(
            NSPredicate(#Predicate<Book> { ($0.title ?? "").localizedStandardContains("creme") }),
            "title CONTAINS[cd] \"creme\"")
        expect(
            NSPredicate(#Predicate<Book> { $0.title!.caseInsensitiveCompare("emma") == same }),
            "title ==[c] \"emma\"")
        expect(
            NSPredicate(#Predicate<Book> { $0.title!.localizedCompare("emma") == before }),
            "title <[l] \"emma\"")
    }

    @Test("Predicates and expressions that others evaluate are parts of them")
    func nested() {
        typealias E = PredicateExpressions
        let long = #Predicate<Book> { $0.pages > 300 }
        let both = Predicate<Book> { book in
            E.build_Conjunction(
                lhs: E.build_evaluate(Held(value: long), book), rhs: E.build_KeyPath(root: book, keyPath: \.isLent))
        }
        expect(NSPredicate(both), "pages > 300 AND isLent == 1")
        let half = #Expression<Book, Int32> { $0.pages / 2 }
        let halves = Predicate<Book> { book in
            E.build_Equal(lhs: E.build_evaluate(Held(value: half), book), rhs: E.build_Arg(Int32(3)))
        }
        expect(NSPredicate(halves), "pages / 2 == 3")
    }

    enum Extent: Int32, Codable, Sendable { case short = 80 }
    struct Filter: Codable, Sendable {
        var extent: Extent
        var other: Extent?
    }

    @Test("A property of what was captured is a constant, over types that no predicate knows")
    func properties() {
        let (extent, filter) = (Extent.short, Filter(extent: .short))
        expect(NSPredicate(#Predicate<Book> { $0.pages == extent.rawValue }), "pages == 80")
        expect(NSPredicate(#Predicate<Book> { $0.pages == filter.extent.rawValue }), "pages == 80")
        expect(NSPredicate(#Predicate<Book> { $0.pages > (filter.other?.rawValue ?? 3) }), "pages > 3")
    }

    @Test("What is captured is a constant, whatever it is")
    func captured() throws {
        struct Filter: Codable, Sendable {
            var pages: Int32
            var titles: Set<String>
        }
        let filter = Filter(pages: 300, titles: ["x"])
        let least = [3, 1, 2] as [Int32]
        let prices = ["a": 1, "b": 2] as [String: Int32]
        expect(
            NSPredicate(#Predicate<Book> { $0.pages > filter.pages && filter.titles.contains($0.title!) }),
            "pages > 300 AND title IN {\"x\"}")
        expect(NSPredicate(#Predicate<Book> { $0.pages > least.max()! }), "pages > max:({3, 1, 2})")
        expect(NSPredicate(#Predicate<Book> { $0.pages > least[1] }), "pages > 1")
        expect(NSPredicate(#Predicate<Book> { $0.pages > prices["b"]! }), "pages > 2")
        let many = PartialRangeFrom(Int32(3))
        expect(NSPredicate(#Predicate<Book> { many.contains($0.pages) }), "pages >= 3")
        try LibraryStack().story { context in
            let (jane, mary) = (Author(context: context), Author(context: context))
            jane.name = "Jane"
            mary.name = "Mary"
            for (title, author) in [("Emma", jane), ("Frankenstein", mary)] {
                let book = Book(context: context)
                book.title = title
                book.author = author
            }
            try context.save()
            let id = mary.persistentID
            let titles = try context.fetch(where: #Predicate<Book> { $0.author?.persistentID == id }).map(\.title)
            #expect(titles == ["Frankenstein"])
            let ids = [jane.persistentID]
            #expect(try context.fetch(where: #Predicate<Author> { ids.contains($0.persistentID) }) == [jane])
        }
    }

    @Test("Casts ask for the entity, and lead to what only its objects have")
    func casts() throws {
        try LibraryStack(model: SagaModel.model()).story { context in
            expect(NSPredicate(#Predicate<Being> { $0 is Poet }), "entity.name IN {\"Poet\"}")
            let (poet, being) = (Poet(context: context), Being(context: context))
            poet.meter = "iamb"
            for writer in [poet, being] {
                let saga = Saga(context: context)
                saga.writer = writer
            }
            try context.save()
            let poets = try context.fetch(where: #Predicate<Being> { ($0 as? Poet)?.meter == "iamb" })
            #expect(poets == [poet])
            let sagas = try context.fetch(where: #Predicate<Saga> { ($0.writer as? Poet)?.meter == "iamb" })
            #expect(sagas.map(\.writer) == [poet])
            #expect(try context.count(where: #Predicate<Being> { !($0 is Poet) }) == 1)
        }
    }

    @Test("A request is made of a predicate and sort descriptors of Swift's")
    func requests() throws {
        try LibraryStack().story { context in
            let request = try Book.fetchRequest(
                where: #Predicate { $0.pages > 1 },
                sortBy: [SortDescriptor(\.title), SortDescriptor(\.pages, order: .reverse)],
                limit: 3)
            #expect(request.entityName == "Book" && request.fetchLimit == 3)
            #expect(request.predicate?.node.predicateFormat == "pages > 1")
            #expect(request.sortDescriptors?.map(\.key) == ["title", "pages"])
            #expect(request.sortDescriptors?.map(\.ascending) == [true, false])
            #expect(try context.fetch(request) == [])
            let all = try NSFetchRequest<Book>(sortBy: [SortDescriptor(\.title)])
            #expect(all.predicate == nil && all.entityName == "Book")
            let error = #expect(throws: CocoaError.self) {
                try NSFetchRequest<Unclaimed>(where: #Predicate { _ in true })
            }
            #expect(
                error?.localizedDescription.contains("No entity of a model that was loaded has the class Unclaimed")
                    == true)
        }
    }

    private final class Unclaimed: NSManagedObject {}

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
