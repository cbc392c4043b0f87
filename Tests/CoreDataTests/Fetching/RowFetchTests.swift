import CoreData
import Foundation
import TestSupport
import Testing

/// Rows of a fetch as tuples and as types of one's own.
@Suite struct RowFetchTests {
    private func fill(_ context: NSManagedObjectContext) throws {
        let jane = Author(context: context)
        jane.name = "Jane"
        for (title, pages, author) in [("Emma", 474, jane), ("Sanditon", 80, nil)] as [(String, Int32, Author?)] {
            let book = Book(context: context)
            book.title = title
            book.pages = pages
            book.rating = 4.5
            book.price = Decimal(string: "9.99")
            book.published = Date(timeIntervalSinceReferenceDate: 1)
            book.cover = Data([1, 2])
            book.identifier = UUID(uuidString: "6F997B6B-0000-4000-8000-000000000001")
            book.website = URL(string: "https://example.org/\(title)")
            book.author = author
        }
        try context.save()
    }

    private func books() -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return request
    }

    @Test("Key paths give tuples, of these columns alone")
    func tuples() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            try fill(context)
            var rows: [(String?, Int32, String?)] = []
            let statements = try stack.statements {
                rows = try context.fetch(books(), \.title, \.pages, \.author?.name)
            }
            #expect(
                statements == [
                    "SELECT t0.ZTITLE, t0.ZPAGES, t1.ZNAME FROM ZBOOK t0 LEFT OUTER JOIN ZPERSON t1 ON t1.Z_PK = t0.ZAUTHOR "
                        + "ORDER BY t0.ZTITLE"
                ])
            #expect(
                rows.map(\.0) == ["Emma", "Sanditon"] && rows.map(\.1) == [474, 80] && rows.map(\.2) == ["Jane", nil])
            let all = try context.fetch(
                books(), \.persistentID, \.rating, \.price, \.published, \.cover, \.identifier, \.website, \.isLent)
            let emma = try context.object(with: all[0].0)
            #expect(emma.title == "Emma")
            #expect(all[0].1 == 4.5 && all[0].2 == emma.price && all[0].3 == emma.published && all[0].4 == emma.cover)
            #expect(all[0].5 == emma.identifier && all[0].6 == emma.website && !all[0].7)
            let titles = try context.fetch(books(), \.title)
            #expect(titles == ["Emma", "Sanditon"])
            let transient = #expect(throws: CocoaError.self) { try context.fetch(books(), \.note) }
            #expect(transient?.localizedDescription.contains("'note' of entity 'Book' is transient") == true)
        }
    }

    enum Extent: Int32, Decodable { case short = 80 }
    struct Extents: Decodable { var pages: Extent }

    @Test("A raw value that an enumeration lacks is told of by the column's name")
    func unknownCases() throws {
        try LibraryStack().story { context in
            try fill(context)
            let request = books()
            request.predicate = NSPredicate(format: "pages == 80")
            #expect(try context.fetch(request, as: Extents.self).map(\.pages) == [.short])
            let error = #expect(throws: CocoaError.self) { try context.fetch(books(), as: Extents.self) }
            let text = error?.localizedDescription ?? ""
            #expect(
                text.contains("Extents: 'pages' of Book") && text.contains("Extent") && !text.contains("474"), "\(text)"
            )
        }
    }

    @Test("A dictionary is a row, too: what is not nil, by name")
    func dictionaryRows() throws {
        try LibraryStack().story { context in
            try fill(context)
            let request = books()
            request.propertiesToFetch = ["pages", "rating"]
            #expect(
                try context.fetch(request, as: [String: Double].self) == [
                    ["pages": 474, "rating": 4.5], ["pages": 80, "rating": 4.5],
                ])
            request.propertiesToFetch = ["title", "author.name"]
            let error = #expect(throws: CocoaError.self) { try context.fetch(request, as: [String: Int].self) }
            #expect(error?.localizedDescription.contains("of Book is a text, and no Int") == true)
            // Of authors, whose attributes are all texts.
            let authors = NSFetchRequest<Author>(entityName: "Author")
            #expect(try context.fetch(authors, as: [String: String].self).first?["name"] == "Jane")
        }
    }

    struct Row: Decodable, Equatable {
        var name: String
        var pages: Int
        var rating: Double?
        var isLent: Bool
        var price: Decimal?
        var published: Date
        var website: URL?
        var author: Writer?
        var identifier: UUID

        struct Writer: Decodable, Equatable { var name: String }

        enum CodingKeys: String, CodingKey {
            case name = "title"
            case pages, rating, isLent, price, published, website, author, identifier
        }
    }

    @Test("A Decodable type's keys are the columns, and what to-ones lead to is a type of its own")
    func decodable() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            try fill(context)
            var rows: [Row] = []
            let statements = try stack.statements { rows = try context.fetch(books(), as: Row.self) }
            #expect(statements.count == 1 && statements[0].contains("t1.ZNAME"))
            #expect(!statements[0].contains("ZCOVER"))
            let book = try #require(try context.fetch(books()).first)
            #expect(
                rows[0]
                    == Row(
                        name: "Emma", pages: 474, rating: 4.5, isLent: false, price: book.price,
                        published: Date(timeIntervalSinceReferenceDate: 1), website: book.website,
                        author: .init(name: "Jane"),
                        identifier: try #require(book.identifier)))
            #expect(rows[1].author == nil && rows[1].name == "Sanditon")
        }
    }

    enum Length: Int32, Decodable {
        case short = 80
        case long = 474
    }

    @Test("Enumerations, IDs and computed values are columns, too")
    func others() throws {
        struct Sized: Decodable {
            var pages: Length
            var author: PersistentID<Author>?
            var title: String
        }
        struct Total: Decodable, Equatable {
            var isLent: Bool
            var total: Int
        }
        try LibraryStack().story { context in
            try fill(context)
            let sized = try context.fetch(books(), as: Sized.self)
            #expect(sized.map(\.pages) == [.long, .short])
            let jane = try #require(sized[0].author)
            #expect(try context.object(with: jane).name == "Jane")
            #expect(sized[1].author == nil)
            let total = NSExpressionDescription()
            total.name = "total"
            total.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "pages")])
            total.expressionResultType = .integer64AttributeType
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.propertiesToFetch = ["isLent", total]
            request.propertiesToGroupBy = ["isLent"]
            request.resultType = .dictionaryResultType
            #expect(try context.fetch(request, as: Total.self) == [Total(isLent: false, total: 554)])
        }
    }

    @Test("Errors name the type and the property")
    func errors() throws {
        struct Unknown: Decodable { var publisher: String }
        struct NotNil: Decodable { var isbn: String }
        struct Mistyped: Decodable { var title: Int }
        struct Missing: Decodable { var title: String, pages: Int }
        struct NoWriter: Decodable {
            var author: Row.Writer
        }
        try LibraryStack().story { context in
            try fill(context)
            func message<T: Decodable>(_ type: T.Type, _ request: NSFetchRequest<Book>? = nil) -> String {
                let request = request ?? books()
                return #expect(throws: CocoaError.self) { try context.fetch(request, as: type) }?.localizedDescription
                    ?? ""
            }
            #expect(message(Unknown.self).hasPrefix("Unknown: 'publisher' is no property of Book, which has: "))
            #expect(message(NotNil.self) == "NotNil: 'isbn' of Book is nil, and no String: read it as String?.")
            #expect(message(Mistyped.self) == "Mistyped: 'title' of Book is a text, and no Int.")
            #expect(
                message(NoWriter.self) == "NoWriter: 'author' leads nowhere, and is no Writer: declare it as Writer?.")
            let request = books()
            request.propertiesToFetch = ["title"]
            #expect(
                message(Missing.self, request) == "Missing: 'pages' is none of the columns that are fetched: title.")
            #expect(message([String].self).contains("decodes no properties by name"))
        }
    }
}
