import CoreData
import Foundation
import Testing

/// Predicates on managed objects in memory.
@Suite struct ManagedObjectPredicateTests {
    @Test func onePredicateIsAskedOfObjectsOfSeveralEntities() throws {
        try LibraryStack().story { context in
            // `title` and `name` have other slots in each entity.
            let book = Book(context: context)
            book.title = "x"
            let chapter = Chapter(context: context)
            chapter.title = "x"
            chapter.book = book
            let other = Chapter(context: context)
            other.title = "y"
            let titled = NSPredicate(format: "title == 'x'")
            let ofBook = NSPredicate(format: "book.title == 'x'")
            for _ in 0..<3 {
                #expect(titled.evaluate(with: book) && titled.evaluate(with: chapter) && !titled.evaluate(with: other))
                #expect(ofBook.evaluate(with: chapter) && !ofBook.evaluate(with: other))
                #expect(titled.evaluate(with: ["title": "x"]) && !titled.evaluate(with: ["title": "y"]))
            }
        }
    }

    @Test func onePredicateIsAskedOfSeveralModels() throws {
        let predicate = NSPredicate(format: "amount >= 20")
        for names in [["amount"], ["a", "b", "amount"], ["amount", "z"]] {
            let entity = Library.entity("Ware", nil)
            entity.properties = names.map { Library.attribute($0, .integer64AttributeType) }
            let model = NSManagedObjectModel()
            model.entities = [entity]
            try LibraryStack(model: model).story { context in
                let ware = NSEntityDescription.insertNewObject(forEntityName: "Ware", into: context)
                for name in names { ware.setValue(name == "amount" ? 20 : 0, forKey: name) }
                #expect(predicate.evaluate(with: ware))
                ware.setValue(19, forKey: "amount")
                #expect(!predicate.evaluate(with: ware))
            }
        }
    }

    @Test func pathsGoThroughNilAndCollections() throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            #expect(NSPredicate(format: "author.name == nil").evaluate(with: book))
            #expect(!NSPredicate(format: "author.name == 'Jane'").evaluate(with: book))
            let author = Author(context: context)
            author.name = "Jane"
            book.author = author
            book.title = "Emma"
            #expect(NSPredicate(format: "author.name == 'Jane'").evaluate(with: book))
            #expect(NSPredicate(format: "ANY author.books.title == 'Emma'").evaluate(with: book))
            #expect(NSPredicate(format: "author.books.@count == 1").evaluate(with: book))
            #expect(NSPredicate(format: "author.self.name == 'Jane'").evaluate(with: book))
            #expect(NSPredicate(format: "author.name.length == 4").evaluate(with: book))
            #expect(NSPredicate(format: "author == %@", author).evaluate(with: book))
        }
    }

    @Test(arguments: [
        "pages >= 20", "pages < 20", "pages == 20.5", "title == 'Emma'", "title BEGINSWITH[c] 'em'", "title == nil",
        "isLent == YES", "isLent == NO", "rating > 3.5", "rating == nil", "published > CAST(5, 'NSDate')",
        "price == 9.5", "identifier == nil", "author == nil", "author.name == 'Jane'", "pages BETWEEN {10, 20}",
        "title IN {'Emma', 'Emil'}", "NOT (pages == 20 OR isLent == YES)", "pages == rating", "website == nil",
    ])
    func memorySelectsWhatTheStoreSelects(_ format: String) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Jane"
            for index in 0..<24 {
                let book = Book(context: context)
                book.title = ["Emma", "emil", "Pippi", "x"][index % 4]
                book.pages = Int32(index)
                if index % 3 > 0 { book.rating = Double(index) / 2 }
                book.isLent = index % 2 == 0
                if index % 5 == 0 { book.published = Date(timeIntervalSinceReferenceDate: Double(index)) }
                if index % 4 == 0 { book.price = Decimal(9.5) }
                if index % 6 == 0 { book.author = author }
                if index % 7 == 0 { book.identifier = UUID() }
            }
            try context.save()
            let predicate = NSPredicate(format: format)
            for isReset in [false, true] {
                if isReset { context.reset() }
                let stored = Set(try context.all(Book.self, "Book", format).map(\.pages))
                let all = try context.all(Book.self, "Book")
                #expect(Set(all.filter { predicate.evaluate(with: $0) }.map(\.pages)) == stored)
            }
        }
    }

    @Test(
        arguments: [
            ("isbn CONTAINS ''", []), ("isbn BEGINSWITH[cd] ''", []), ("isbn ENDSWITH[c] ''", []), ("'' IN isbn", []),
            ("isbn LIKE ''", [1]), ("isbn LIKE '*'", [1, 2]), ("isbn MATCHES ''", [1]), ("isbn == ''", [1]),
            ("NOT isbn CONTAINS ''", [0, 1, 2]), ("ANY tags.name CONTAINS ''", []), ("title CONTAINS isbn", []),
        ] as [(String, [Int32])])
    func theEmptyTextIsPartOfNoText(_ format: String, _ pages: [Int32]) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for index in 0..<3 {
                let book = Book(context: context)
                book.title = "Emma"
                book.pages = Int32(index)
                book.isbn = [nil, "", "1"][index]
                let tag = Tag(context: context)
                tag.name = "\(index)"
                book.tags = [tag]
            }
            let predicate = NSPredicate(format: format)
            for _ in ["unsaved", "stored"] {
                #expect(try context.all(Book.self, "Book", format).map(\.pages).sorted() == pages)
                let all = try context.all(Book.self, "Book")
                #expect(all.filter { predicate.evaluate(with: $0) }.map(\.pages).sorted() == pages)
                try context.save()
            }
        }
    }
}
