import CoreData
import Foundation
import Testing

/// Requests as somebody writes them who has read Apple's documentation, and puts two of its features together.
@Suite struct UnusualFetchTests {
    private func filled() throws -> LibraryStack {
        let stack = try LibraryStack()
        try stack.story { context throws in
            let authors = ["Ann", "Bob", "Cid"].map { name -> Author in
                let author = Author(context: context)
                author.name = name
                return author
            }
            for number in 1...12 {
                let book = Book(context: context)
                book.title = "book \(number % 4)"
                book.pages = Int32(number * 10)
                book.rating = Double(number % 3)
                book.isbn = "\(number)"
                if number % 4 != 0 { book.author = authors[number % 3] }
            }
            try context.save()
        }
        return stack
    }

    private func description(_ name: String, _ format: String, _ type: NSAttributeType) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(format: format)
        description.expressionResultType = type
        return description
    }

    private func dictionaries(_ entity: String = "Book") -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: entity)
        request.resultType = .dictionaryResultType
        return request
    }

    @Test("Groups by a to-one's attribute, with several aggregates, a having clause and an order")
    func groups() throws {
        try filled().story { context throws in
            let request = dictionaries()
            request.propertiesToGroupBy = ["author.name"]
            request.propertiesToFetch = [
                "author.name", description("n", "count:(SELF)", .integer32AttributeType),
                description("most", "max:(pages)", .integer32AttributeType),
                description("mean", "average:(rating)", .doubleAttributeType),
            ]
            request.havingPredicate = NSPredicate(format: "count:(SELF) >= 3 AND author.name != nil")
            request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: false)]
            let found = try context.fetch(request)
            #expect(found.map { $0["author.name"] as? String } == ["Cid", "Bob", "Ann"])
            #expect(found.map { $0["n"] as? Int } == [3, 3, 3])
            #expect(found.map { $0["most"] as? Int } == [110, 100, 90])
            #expect(found.map { $0["mean"] as? Double } == [2, 1, 0])
        }
    }

    @Test("Distinct rows of two columns, within a limit and after an offset")
    func distinct() throws {
        try filled().story { context throws in
            let request = dictionaries()
            request.propertiesToFetch = ["title", "rating"]
            request.returnsDistinctResults = true
            request.sortDescriptors = [
                NSSortDescriptor(key: "title", ascending: true), NSSortDescriptor(key: "rating", ascending: true),
            ]
            #expect(try context.fetch(request).count == 12)
            request.propertiesToFetch = ["title"]
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            request.fetchLimit = 2
            request.fetchOffset = 1
            #expect(try context.fetch(request).map { $0["title"] as? String } == ["book 1", "book 2"])
        }
    }

    @Test("IDs as columns lead to objects, also of a to-one")
    func identifiers() throws {
        try filled().story { context throws in
            let id = NSExpressionDescription()
            id.name = "id"
            id.expression = NSExpression.expressionForEvaluatedObject()
            id.expressionResultType = .objectIDAttributeType
            let request = dictionaries()
            request.propertiesToFetch = [id, "author", "isbn"]
            request.predicate = NSPredicate(format: "isbn == '1'")
            let row = try #require(try context.fetch(request).first)
            let book = try #require(row["id"] as? NSManagedObjectID)
            let author = try #require(row["author"] as? NSManagedObjectID)
            #expect((context.object(with: book) as? Book)?.author?.objectID == author)
        }
    }

    @Test("Statistics over all rows in one row")
    func statistics() throws {
        try filled().story { context throws in
            let request = dictionaries()
            request.propertiesToFetch = [
                description("median", "median:(pages)", .doubleAttributeType),
                description("mode", "mode:(rating)", .doubleAttributeType),
                description("spread", "stddev:(pages)", .doubleAttributeType),
                description("sum", "sum:(pages)", .integer64AttributeType),
            ]
            let row = try #require(try context.fetch(request).first)
            #expect(row["median"] as? Double == 65 && row["sum"] as? Int == 780)
            let spread = try #require(row["spread"] as? Double)
            #expect(abs(spread - 34.52) < 0.01 || abs(spread - 36.06) < 0.01)
        }
    }

    @Test("Subqueries in subqueries, with operators around them")
    func subqueries() throws {
        try filled().story { context throws in
            let request = NSFetchRequest<Author>(entityName: "Author")
            request.predicate = NSPredicate(
                format: "SUBQUERY(books, $b, $b.pages > 50 AND "
                    + "SUBQUERY($b.author.books, $c, $c.pages < 30).@count == 1).@count >= 1")
            let inStore = try context.fetch(request).compactMap(\.name).sorted()
            let all = try context.all(Author.self, "Author")
            let inMemory = all.filter { request.predicate?.evaluate(with: $0) == true }.compactMap(\.name).sorted()
            #expect(inStore == inMemory)
            request.predicate = NSPredicate(
                format: "books.@max.pages - books.@min.pages > 60 AND books.@avg.rating < 2")
            #expect(
                try context.fetch(request).compactMap(\.name).sorted()
                    == all.filter { request.predicate?.evaluate(with: $0) == true }.compactMap(\.name).sorted())
        }
    }

    @Test("A batch size reads the rows that are looked at, whatever of an array is asked for them")
    func batchSize() throws {
        let stack = try filled()
        try stack.story { context throws in
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            request.fetchBatchSize = 3
            var found: [Book] = []
            var numbers: [Int32] = []
            var ran = try stack.statements { found = try context.fetch(request) }
            #expect(ran.count == 1)
            ran = stack.statements { _ = (found.count, found.first, found.last?.objectID) }
            #expect(ran.isEmpty)
            ran = stack.statements { numbers = [found[4].pages, found[3].pages] }
            #expect(ran.count == 1 && numbers == [50, 40])
            ran = stack.statements { numbers = found.suffix(1).map(\.pages) }
            #expect(ran.count == 1 && numbers == [120])
            // One statement may read what two ask for soon after each other.
            ran = stack.statements { numbers = found.map(\.pages) }
            #expect(ran.count == 1 || ran.count == 2)
            #expect(numbers.reduce(0, +) == 780)
        }
    }

    @Test("Batch requests through a child context are written at once, and told to whoever is named")
    func batchesInChildren() throws {
        let stack = try filled()
        try stack.story { parent throws in
            let book = try #require(try parent.all(Book.self, "Book", "isbn == '1'").first)
            #expect(book.pages == 10)
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = parent
            let ids = try child.performAndWait { () -> [NSManagedObjectID] in
                let update = NSBatchUpdateRequest(entityName: "Book")
                update.predicate = NSPredicate(format: "isbn IN {'1', '2'}")
                update.propertiesToUpdate = ["pages": NSExpression(format: "pages + 5")]
                update.resultType = .updatedObjectIDsResultType
                return try (child.execute(update) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID] ?? []
            }
            #expect(ids.count == 2 && book.pages == 10)
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [parent, child])
            #expect(book.pages == 15)
            #expect(try child.performAndWait { (try child.existingObject(with: book.objectID) as? Book)?.pages } == 15)
        }
    }

    @Test("A count that a request itself asks for counts as count(for:) does")
    func counts() throws {
        try filled().story { context throws in
            let request = NSFetchRequest<NSNumber>(entityName: "Book")
            request.resultType = .countResultType
            request.predicate = NSPredicate(format: "pages > 60")
            request.fetchLimit = 4
            #expect(try context.fetch(request) == [4])
            #expect(try context.count(for: request) == 4)
            request.fetchOffset = 5
            #expect(try context.count(for: request) == 1)
        }
    }

    @Test("A pinned context sees neither changes nor deletions, until it goes on")
    func generations() throws {
        let stack = try filled()
        let pinned = stack.newContext()
        try pinned.performAndWait { () throws in
            try pinned.setQueryGenerationFrom(.current)
            #expect(try pinned.count(for: NSFetchRequest<Book>(entityName: "Book")) == 12)
        }
        try stack.story { other throws in
            let books = try other.all(Book.self, "Book")
            for book in books where book.pages > 60 { other.delete(book) }
            for book in books where book.pages <= 60 { book.title = "changed" }
            try other.save()
        }
        try pinned.performAndWait { () throws in
            #expect(try pinned.all(Book.self, "Book", "title == 'changed'").isEmpty)
            let old = try pinned.all(Book.self, "Book", "pages == 120")
            #expect(old.first?.title == "book 0")
            let rows = dictionaries()
            rows.propertiesToFetch = ["isbn"]
            #expect(try pinned.fetch(rows).count == 12)
            #expect(try pinned.fetch(NSFetchRequest<Book>(entityName: "Book"), \.isbn).count == 12)
            try pinned.setQueryGenerationFrom(.current)
            #expect(try pinned.count(for: NSFetchRequest<Book>(entityName: "Book")) == 6)
        }
    }

    // MARK: Rows of one's own types

    struct Wide: Decodable, Equatable {
        var title: String?
        var pages: Int
        var rating: Double?
        var isLent: Bool
        var published: Date?
        var isbn: String
    }

    struct Mixed: Decodable {
        var title: String
        var pages: UInt8?
        var rating: Float
        var author: Writer?
        struct Writer: Decodable { var name: String }

        enum CodingKeys: String, CodingKey { case title, pages, rating, author }

        // In another order for some rows, and a value twice.
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            rating = try container.decode(Float.self, forKey: .rating)
            if rating > 0 {
                title = try container.decode(String.self, forKey: .title)
                pages = try container.decodeIfPresent(UInt8.self, forKey: .pages)
            } else {
                pages = try container.decode(UInt8.self, forKey: .pages)
                title =
                    try container.decode(String.self, forKey: .title) + container.decode(String.self, forKey: .title)
            }
            author = try container.decodeIfPresent(Writer.self, forKey: .author)
        }
    }

    @Test("Rows after the first are decoded as the first is, whatever is nil, and in whichever order a type asks")
    func decodedRows() throws {
        let stack = try filled()
        try stack.story { context throws in
            let books = try context.all(Book.self, "Book")
            books[3].title = "a title that is too long to be kept in the string itself"
            books[5].published = Date(timeIntervalSinceReferenceDate: 7)
            try context.save()
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            let expected = try context.fetch(request)
            let rows = try context.fetch(request, as: Wide.self)
            #expect(
                rows
                    == expected.map {
                        Wide(
                            title: $0.title, pages: Int($0.pages), rating: $0.rating, isLent: $0.isLent,
                            published: $0.published, isbn: $0.isbn ?? "")
                    })
            let mixed = try context.fetch(request, as: Mixed.self)
            #expect(mixed.map(\.pages) == expected.map { UInt8($0.pages) })
            #expect(mixed.map { $0.author?.name } == expected.map { $0.author?.name })
            #expect(
                mixed.map(\.title) == expected.map { ($0.title ?? "") + ($0.rating > 0 ? "" : $0.title ?? "") })
        }
    }

    struct Strict: Decodable { var isbn: String, pages: Int16 }

    @Test("A value in a later row that does not fit is told by name, and nothing is lost of those before it")
    func lateFailures() throws {
        let stack = try filled()
        try stack.story { context throws in
            let last = try #require(try context.all(Book.self, "Book", "pages == 120").first)
            last.pages = 70_000
            try context.save()
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            let wide = #expect(throws: CocoaError.self) { try context.fetch(request, as: Strict.self) }
            #expect(wide?.localizedDescription.contains("'pages' of Book") == true)
            last.pages = 120
            last.isbn = nil
            try context.save()
            let missing = #expect(throws: CocoaError.self) { try context.fetch(request, as: Strict.self) }
            #expect(missing?.localizedDescription.contains("'isbn' of Book is nil, and no String") == true)
            let tuples = try context.fetch(request, \.isbn, \.pages, \.published, \.author?.persistentID)
            #expect(tuples.last?.0 == nil && tuples.last?.1 == 120 && tuples[0].0 == "1" && tuples[0].2 == nil)
            #expect(tuples[3].3 == nil && tuples[0].3 != nil)
        }
    }

    // MARK: Lists

    private final class Recorder: NSObject, NSFetchedResultsControllerDelegate {
        var told: [String] = []

        func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            told.append("will")
        }
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            told.append("did")
        }
        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
            didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex index: Int,
            for type: NSFetchedResultsChangeType
        ) { told.append("section \(sectionInfo.name) \(index) \(type)") }
        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
            at old: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            told.append(
                "\((anObject as? Book)?.isbn ?? "") \(old.map { "\($0.section).\($0.item)" } ?? "-") \(type) "
                    + (newIndexPath.map { "\($0.section).\($0.item)" } ?? "-"))
        }
    }

    @Test("A section that loses its last row goes; a deletion and an insertion in one event are told together")
    func sections() throws {
        try filled().story { context throws in
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: "pages <= 50")
            request.sortDescriptors = [
                NSSortDescriptor(key: "author.name", ascending: true), NSSortDescriptor(key: "pages", ascending: true),
            ]
            let list = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "author.name", cacheName: nil)
            let recorder = Recorder()
            list.delegate = recorder
            try list.performFetch()
            // 4 has no author; Ann 3; Bob 1; Cid 2, 5.
            #expect(list.sections?.map(\.name) == ["", "Ann", "Bob", "Cid"])
            #expect(list.sections?.map(\.numberOfObjects) == [1, 1, 1, 2])
            let bob = try #require(try context.all(Author.self, "Author", "name == 'Bob'").first)
            list.object(at: IndexPath(item: 0, section: 1)).author = bob
            context.processPendingChanges()
            #expect(list.sections?.map(\.name) == ["", "Bob", "Cid"])
            #expect(recorder.told.first == "will" && recorder.told.last == "did")
            #expect(recorder.told.contains { $0.hasPrefix("section Ann 1") })
            #expect(recorder.told.contains { $0.hasPrefix("3 1.0") && $0.hasSuffix(" 1.1") })
            recorder.told = []
            context.delete(list.object(at: IndexPath(item: 0, section: 0)))
            let new = Book(context: context)
            (new.title, new.isbn, new.pages, new.author) = ("new", "new", 1, bob)
            context.processPendingChanges()
            #expect(list.sections?.map(\.name) == ["Bob", "Cid"])
            #expect(list.indexPath(forObject: new) == IndexPath(item: 0, section: 0))
            #expect(recorder.told.filter { $0 == "will" }.count == 1 && recorder.told.count == 5, "\(recorder.told)")
            // A rename of the author moves its section.
            recorder.told = []
            bob.name = "Zoe"
            context.processPendingChanges()
            #expect(list.sections?.map(\.name) == ["Cid", "Zoe"], "\(recorder.told)")
            #expect(list.sectionIndexTitles == ["C", "Z"])
            context.rollback()
            #expect(list.sections?.map(\.name) == ["", "Ann", "Bob", "Cid"])
        }
    }
}
