import CoreData
import Foundation
import Testing

/// Rows whose stored properties are columns, put into memory by the statement itself.
@Suite struct FetchedRowTests {
    private func fill(_ context: NSManagedObjectContext, count: Int = 2) throws {
        let jane = Author(context: context)
        jane.name = "Jane"
        for index in 0..<count {
            let book = Book(context: context)
            book.title = index % 2 == 0 ? "B\(index)" : "Book \(index) with a title that is no small text"
            book.pages = Int32(index)
            book.rating = Double(index) / 2
            book.isLent = index % 3 == 0
            book.price = Decimal(index)
            book.published = index % 2 == 0 ? Date(timeIntervalSinceReferenceDate: Double(index)) : nil
            book.identifier = UUID()
            book.author = index % 2 == 0 ? jane : nil
        }
        try context.save()
    }

    private func books() -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
        return request
    }

    struct Plain: FetchedRow {
        var title: String
        var pages: Int32
        var isLent: Bool
        var published: Date?
        var rating: Double?
    }

    @Test("Stored properties are the columns, for as many rows as there are")
    func plain() throws {
        for count in [0, 1, 2, 511, 512, 513, 1_700] {
            let stack = try LibraryStack()
            try stack.story { context in
                try fill(context, count: count)
                var rows: [Plain] = []
                let statements = try stack.statements { rows = try context.fetch(books(), as: Plain.self) }
                #expect(
                    statements == [
                        "SELECT t0.ZTITLE, t0.ZPAGES, t0.ZISLENT, t0.ZPUBLISHED, t0.ZRATING FROM ZBOOK t0 ORDER BY t0.ZPAGES"
                    ])
                let objects = try context.fetch(books())
                #expect(rows.count == count)
                for (row, book) in zip(rows, objects) {
                    #expect(
                        row.title == book.title && row.pages == book.pages && row.isLent == book.isLent
                            && row.published == book.published && row.rating == book.rating)
                }
                let pairs = try context.fetch(books(), \.title, \.pages)
                #expect(pairs.map(\.0) == objects.map(\.title) && pairs.map(\.1) == objects.map(\.pages))
            }
        }
    }

    enum Extent: Int32, FetchedValue, Equatable {
        case none, one
    }

    struct Whole: FetchedRow {
        var writer: Writer?
        var extent: Extent
        var persistentID: PersistentID<Book>
        var identifier: UUID?
        var price: Decimal?
        var author: PersistentID<Author>?
        static let fetchedKeyPaths = ["writer": "author", "extent": "pages", "persistentID": "objectID"]

        struct Writer: FetchedRow, Equatable {
            var name: String
            var born: Date?
        }
    }

    @Test("Rows within rows, enumerations, IDs and other names")
    func nested() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            try fill(context)
            let rows = try context.fetch(books(), as: Whole.self)
            let objects = try context.fetch(books())
            #expect(rows.map(\.writer) == [.init(name: "Jane", born: nil), nil])
            #expect(rows.map(\.extent) == [.none, .one])
            #expect(rows.map(\.identifier) == objects.map(\.identifier) && rows.map(\.price) == objects.map(\.price))
            #expect(try rows.map { try context.object(with: $0.persistentID) } == objects)
            #expect(rows.map { $0.author == nil } == [false, true])
        }
    }

    struct Total: FetchedRow {
        var author: PersistentID<Author>?
        var books: Int
        var longest: Int32?
    }

    @Test("Columns that the request computes go by their names")
    func computed() throws {
        try LibraryStack().story { context in
            try fill(context, count: 5)
            let (count, longest) = (NSExpressionDescription(), NSExpressionDescription())
            (count.name, count.expression) = ("books", NSExpression(format: "count:(title)"))
            (longest.name, longest.expression) = ("longest", NSExpression(format: "max:(pages)"))
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.propertiesToFetch = ["author", count, longest]
            request.propertiesToGroupBy = ["author"]
            let totals = try context.fetch(request, as: Total.self)
            #expect(totals.first { $0.author != nil }?.books == 3 && totals.first { $0.author == nil }?.books == 2)
            #expect(Set(totals.map(\.longest)) == [4, 3])
            let error = #expect(throws: CocoaError.self) { try context.fetch(request, as: Plain.self) }
            #expect(
                error?.localizedDescription.contains(
                    "Plain: 'title' is none of the columns that are fetched: author, books")
                    == true)
        }
    }

    struct Strict: FetchedRow {
        var title: String
        var published: Date
    }
    struct Unknown: FetchedRow { var titel: String }
    struct Unreadable: FetchedRow { var title: [String: Int] }
    struct Misnamed: FetchedRow {
        var title: String
        static let fetchedKeyPaths = ["name": "title"]
    }
    struct Empty: FetchedRow {}
    final class Thing: FetchedRow { var title = "" }

    @Test("What cannot be read is told of by its name")
    func mistakes() throws {
        try LibraryStack().story { context in
            try fill(context, count: 600)
            func text<Row: FetchedRow>(_ type: Row.Type) -> String {
                let error = #expect(throws: CocoaError.self) { try context.fetch(books(), as: type) }
                return error?.localizedDescription ?? ""
            }
            #expect(text(Strict.self).contains("Strict: 'published' of Book is nil, and no Date: read it as Date?."))
            #expect(text(Unknown.self).contains("Unknown: 'titel' is no property of Book, which has: "))
            #expect(text(Unreadable.self).contains("'title' of Unreadable is of the type Dictionary<String, Int>"))
            #expect(text(Misnamed.self).contains("Misnamed.fetchedKeyPaths has 'name', which is no stored property"))
            #expect(text(Empty.self).contains("Empty is no struct with stored properties"))
            #expect(text(Thing.self).contains("Thing is no struct with stored properties"))
        }
    }

    struct Both: FetchedRow, Decodable { var title: String }

    @Test("In memory, over several stores, through a child")
    func elsewhere() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        for _ in 0..<2 {
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            try fill(context, count: 3)
            #expect(try context.fetch(books(), as: Plain.self).map(\.pages) == [0, 1, 2])
            #expect(try context.fetch(books(), as: Both.self).count == 3)
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            let titles = try child.performAndWait { try child.fetch(books(), as: Plain.self).map(\.title) }
            #expect(titles == (try context.fetch(books()).compactMap(\.title)))
        }
    }
}
