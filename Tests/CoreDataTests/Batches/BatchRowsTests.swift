import CoreData
import Foundation
import Testing

// What batch inserts take besides dictionaries, and destinations by unique values.
@Suite struct BatchRowsTests {
    private func count(_ context: NSManagedObjectContext, _ request: NSBatchInsertRequest) throws -> Int? {
        request.resultType = .count
        return try (context.execute(request) as? NSBatchInsertResult)?.result as? Int
    }

    private func message(_ body: () throws -> Void) -> String {
        do { try body() } catch { return "\((error as NSError).localizedDescription)" }
        return ""
    }

    // MARK: Typed rows

    @Test("Rows by key paths are inserted as they are typed; what no key path names has its default")
    func typedRows() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Ann"
            try context.save()
            let id = author.persistentID
            let uuid = UUID()
            var number = 0
            let request = try NSBatchInsertRequest(
                \Book.title, \.pages, \.rating, \.isLent, \.published, \.price, \.identifier, \.website, \.cover,
                \.author?.persistentID
            ) {
                number += 1
                guard number <= 1200 else {
                    return ((String, Int32, Double, Bool, Date?, Decimal?, UUID?, URL?, Data?, PersistentID<Author>?)?)
                        .none
                }
                return (
                    "book \(number)", Int32(number), Double(number) / 4, number % 2 == 0,
                    number == 1 ? nil : Date(timeIntervalSinceReferenceDate: Double(number)), Decimal(number) / 8,
                    uuid, URL(string: "https://example.org/\(number)"), Data([1, 2]), number % 3 == 0 ? id : nil
                )
            }
            #expect(try count(context, request) == 1200)
            let books = try context.all(Book.self, "Book").sorted { $0.pages < $1.pages }
            #expect(books.count == 1200)
            let third = books[2]
            #expect(third.title == "book 3" && third.rating == 0.75 && !third.isLent && third.author === author)
            #expect(third.published == Date(timeIntervalSinceReferenceDate: 3) && third.price == Decimal(3) / 8)
            #expect(third.identifier == uuid && third.website?.path == "/3" && third.cover == Data([1, 2]))
            #expect(books[0].published == nil && books[0].author == nil && books[0].isbn == nil && books[1].isLent)
            #expect(author.books.count == 400)
        }
    }

    @Test("Optional values that are nil stay nil, whatever the default is; a copy of the request gives rows, too")
    func nils() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            var titles = ["a", "b"].makeIterator()
            let request = try NSBatchInsertRequest(\Book.title, \.isbn) {
                titles.next().map { ($0, $0 == "a" ? "1" : nil) }
            }
            let copy = try #require(request.copy() as? NSBatchInsertRequest)
            #expect(try count(context, copy) == 2)
            #expect(try context.all(Book.self, "Book", "isbn == nil").map(\.title) == ["b"])
            #expect(try context.all(Book.self, "Book", "isbn == '1'").map(\.title) == ["a"])
        }
    }

    @Test("What no row can hold stops the request, which leaves nothing behind")
    func refusals() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            var numbers = [1.0, .nan].makeIterator()
            let ratings = try NSBatchInsertRequest(\Book.title, \.rating) { numbers.next().map { ("a", $0) } }
            #expect(message { try context.execute(ratings) }.contains("'rating' of entity 'Book' is not a number"))
            var wide = [1, Int(Int32.max) + 1].makeIterator()
            let pages = NSBatchInsertRequest(
                entityName: "Book",
                managedObjectHandler: { object in
                    guard let next = wide.next() else { return true }
                    object.setValue("a", forKey: "title")
                    object.setValue(next, forKey: "pages")
                    return false
                })
            #expect(message { try context.execute(pages) }.contains("is too large for 'pages' of entity 'Book'"))
            struct Stop: Error {}
            let stopped = try NSBatchInsertRequest(\Book.title) { () throws -> String? in throw Stop() }
            #expect(throws: Stop.self) { try context.execute(stopped) }
            #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == 0)
            #expect(throws: CocoaError.self) { _ = try NSBatchInsertRequest(\Book.events.count) { 1 } }
        }
    }

    // MARK: Destinations

    @Test(
        "A to-one takes a unique value of its destination, in dictionaries and in typed rows: one look for each value")
    func uniqueValues() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for isbn in 1...3 {
                let book = Book(context: context)
                book.title = "book \(isbn)"
                book.isbn = "\(isbn)"
            }
            let reader = Reader(context: context)
            reader.name = "Rob"
            try context.save()
            let loans = NSBatchInsertRequest(
                entityName: "Loan",
                objects: (0..<30).map { ["book.isbn": "\($0 % 3 + 1)", "reader": reader.objectID] })
            var inserted: Int?
            let statements = try stack.statements { inserted = try count(context, loans) }
            #expect(inserted == 30)
            #expect(
                statements.filter { $0.hasPrefix("SELECT t0.Z_PK, t0.Z_ENT FROM ZBOOK t0 WHERE t0.ZISBN = ?") }.count
                    == 3)
            #expect(try context.all(Loan.self, "Loan", "book.isbn == '2'").count == 10)
            var isbns = ["3", "3"].makeIterator()
            let id = reader.persistentID
            let typed = try NSBatchInsertRequest(\Loan.book?.isbn, \.reader?.persistentID) {
                isbns.next().map { ($0, id) }
            }
            #expect(try count(context, typed) == 2)
            #expect(try context.all(Loan.self, "Loan", "book.isbn == '3'").count == 12)
            #expect(try context.all(Loan.self, "Loan", "reader.name == 'Rob'").count == 32)
        }
    }

    @Test("A value that names no object, and one that is not unique, are told by name")
    func unknownValues() throws {
        let stack = try LibraryStack()
        stack.story { context in
            func told(_ values: [String: Any]) -> String {
                message { try context.execute(NSBatchInsertRequest(entityName: "Loan", objects: [values])) }
            }
            #expect(told(["book.isbn": "9"]).contains("cannot set 'book.isbn': no 'Book' has this value: 9"))
            #expect(told(["book.title": "a"]).contains("no uniqueness constraint of 'Book' has 'title' for itself"))
            #expect(told(["book.isbn": 5]).contains("Int is not the attribute's type"))
            #expect(told(["book.nothing": 5]).contains("'nothing' is no attribute of 'Book'"))
            // What is no property is ignored, as ever.
            #expect(told(["nothing.isbn": 5]) == "")
        }
    }

    @Test("A handler's object takes destinations of whatever context, which do not learn of it")
    func handlersWithRelationships() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Ann"
            try context.save()
            var number = 0
            let request = NSBatchInsertRequest(
                entityName: "Book",
                managedObjectHandler: { object in
                    number += 1
                    guard let book = object as? Book, number <= 700 else { return true }
                    book.title = "book \(number)"
                    if number % 2 == 0 { book.author = author }
                    return false
                })
            #expect(try count(context, request) == 700)
            #expect(!context.hasChanges && !author.hasChanges)
            #expect(try context.all(Book.self, "Book", "author == nil").count == 350)
            context.refresh(author, mergeChanges: false)
            #expect(author.books.count == 350)
        }
    }

    @Test("A handler cannot set what many rows would have to know, or lead to what is not saved")
    func refusedRelationships() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let tag = Tag(context: context)
            tag.name = "tag"
            try context.save()
            func told(_ set: @escaping (Book) -> Void) -> String {
                let request = NSBatchInsertRequest(
                    entityName: "Book",
                    managedObjectHandler: { object in
                        guard let book = object as? Book else { return true }
                        book.title = "a"
                        set(book)
                        return false
                    })
                return message { try context.execute(request) }
            }
            #expect(
                told { $0.tags = [tag] }.contains("cannot set the to-many relationship 'tags' of entity 'Book'"))
            #expect(tag.books.isEmpty && !context.hasChanges)
            let unsaved = Author(context: context)
            #expect(told { $0.author = unsaved }.contains("takes the permanent ID of a 'Author'"))
            #expect(unsaved.books.isEmpty)
            context.delete(unsaved)
        }
    }

    @Test("Large values end a portion early")
    func largeValues() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            var left = 12
            let request = try NSBatchInsertRequest(\Book.title, \.cover) {
                left -= 1
                return left < 0 ? nil : ("a", Data(count: 1 << 20))
            }
            var inserted: Int?
            let statements = try stack.statements { inserted = try count(context, request) }
            #expect(inserted == 12)
            #expect(statements.filter { $0.hasPrefix("UPDATE Z_PRIMARYKEY") }.count >= 3)
        }
    }
}
