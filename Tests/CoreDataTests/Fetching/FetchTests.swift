import CoreData
import Foundation
import Testing

// semantics M: fetch requests
@Suite struct FetchTests {
    /// Ten books, "Book 0" to "Book 9", with 0 to 9 pages.
    private func library() throws -> LibraryStack {
        let stack = try LibraryStack()
        try stack.story { context in
            for index in 0..<10 {
                let book = Book(context: context)
                book.title = "Book \(index)"
                book.pages = Int32(index)
            }
            try context.save()
            context.reset()
        }
        return stack
    }

    private func request(_ format: String? = nil, limit: Int = 0, offset: Int = 0) -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
        request.fetchLimit = limit
        request.fetchOffset = offset
        return request
    }

    @Test("M1, M2: limit and offset, without and with unsaved changes, give the window that was asked for")
    func windows() throws {
        let stack = try library()
        try stack.story { context in
            #expect(try context.fetch(request(limit: 3, offset: 2)).map(\.pages) == [2, 3, 4])
            let books = try context.fetch(request())
            context.delete(books[3])
            books[9].pages = 2
            let new = Book(context: context)
            new.title = "New"
            new.pages = 4
            let window = try context.fetch(request(limit: 4, offset: 2))
            #expect(window.map(\.pages) == [2, 2, 4, 4])
            #expect(window.contains(new) && window.contains(books[9]) && !window.contains(books[3]))
            #expect(try context.count(for: request("pages >= 4")) == 6)
            let stored = request(limit: 4, offset: 2)
            stored.includesPendingChanges = false
            #expect(try context.fetch(stored).count == 4)
        }
    }

    @Test("The statement of a fetch is Apple's columns, the predicate and the order")
    func statement() throws {
        let stack = try library()
        try stack.story { context in
            let statements = try stack.statements {
                _ = try context.fetch(request("pages > 3 AND author.name == 'x'", limit: 2))
            }
            #expect(statements.count == 1)
            #expect(statements[0].hasPrefix("SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, "))
            #expect(statements[0].contains("LEFT OUTER JOIN ZPERSON t1 ON t1.Z_PK = t0.ZAUTHOR"))
            #expect(statements[0].hasSuffix("ORDER BY t0.ZPAGES LIMIT ?"), "\(statements[0])")
        }
    }

    @Test("M7, M8: counts and IDs")
    func countsAndIDs() throws {
        let stack = try library()
        try stack.story { context in
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
            ids.resultType = .managedObjectIDResultType
            let stored = try context.fetch(ids)
            #expect(stored.count == 10)
            let new = Book(context: context)
            new.title = "New"
            #expect(try context.fetch(ids).contains(new.objectID))
            let count = NSFetchRequest<NSNumber>(entityName: "Book")
            count.resultType = .countResultType
            #expect(try context.fetch(count) == [NSNumber(value: 11)])
        }
    }

    @Test("M5, M6: dictionaries, grouped and aggregated")
    func dictionaries() throws {
        let stack = try library()
        try stack.story { context in
            let names = NSFetchRequest<NSDictionary>(entityName: "Book")
            names.resultType = .dictionaryResultType
            names.propertiesToFetch = ["title", "isbn"]
            names.predicate = NSPredicate(format: "pages == 4")
            let rows = try context.fetch(names)
            #expect(rows.count == 1)
            #expect(rows[0]["title"] as? String == "Book 4")
            #expect(rows[0]["isbn"] == nil)
            let title = NSExpressionDescription()
            title.name = "title"
            names.propertiesToFetch = [title]
            #expect(try context.fetch(names).first?["title"] as? String == "Book 4", "its name stands for a property")
            let sum = NSExpressionDescription()
            sum.name = "total"
            sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "pages")])
            sum.expressionResultType = .integer64AttributeType
            names.predicate = nil
            names.propertiesToFetch = ["isLent", sum]
            names.propertiesToGroupBy = ["isLent"]
            #expect(try context.fetch(names).first?["total"] as? Int == 45)
        }
    }

    @Test("M11: a request for an entity finds its subentities, or not")
    func subentities() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            Author(context: context).name = "a"
            Reader(context: context).name = "r"
            try context.save()
            context.reset()
            let people = NSFetchRequest<NSManagedObject>(entityName: "Person")
            people.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
            let found = try context.fetch(people)
            #expect(found.map { type(of: $0) == Reader.self } == [true, false])
            people.includesSubentities = false
            #expect(try context.fetch(people).isEmpty)
        }
    }

    @Test("M15: objects are sorted by the name of their entity, in the store and with unsaved changes")
    func sortingByTheEntitysName() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            Reader(context: context).name = "b"
            Author(context: context).name = "c"
            Reader(context: context).name = "a"
            func names(ascending: Bool) throws -> [String?] {
                let people = NSFetchRequest<NSManagedObject>(entityName: "Person")
                people.sortDescriptors = [
                    NSSortDescriptor(key: "entity.name", ascending: ascending),
                    NSSortDescriptor(key: "name", ascending: true),
                ]
                return try context.fetch(people).map { $0.value(forKey: "name") as? String }
            }
            for _ in 0..<2 {
                #expect(try names(ascending: true) == ["c", "a", "b"])
                #expect(try names(ascending: false) == ["a", "b", "c"])
                try context.save()
            }
        }
        let entities = stack.coordinator.managedObjectModel.entitiesByName
        let people = [
            Author(entity: try #require(entities["Author"]), insertInto: nil),
            Reader(entity: try #require(entities["Reader"]), insertInto: nil),
        ]
        let sorted = NSArray(array: people).sortedArray(using: [NSSortDescriptor(key: "entity.name", ascending: false)])
        #expect(sorted.first is Reader)
    }

    @Test(
        "M13, M15, M16: what cannot be fetched throws and names it",
        arguments: [
            ("Nothing", nil, nil, "Nothing"), ("Book", "titel == 'x'", nil, "titel"),
            ("Book", "note == 'x'", nil, "note"),
            ("Book", nil, "tags", "tags"), ("Book", nil, "note", "note"), ("Book", nil, "missing", "missing"),
        ] as [(String, String?, String?, String)])
    func failures(_ entity: String, _ format: String?, _ sort: String?, _ culprit: String) throws {
        let stack = try library()
        stack.story { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = format.map { NSPredicate(format: $0) }
            request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
            let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(error?.localizedDescription.contains(culprit) == true, "\(error?.localizedDescription ?? "")")
        }
    }

    @Test("M14, M18: execute() inside a block, templates with variables")
    func templates() throws {
        let model = Library.model()
        let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        template.predicate = NSPredicate(format: "pages > $MINIMUM")
        model.setFetchRequestTemplate(template, forName: "Long")
        let stack = try LibraryStack(model: model)
        try stack.story { context in
            for pages in [1, 5, 9] {
                let book = Book(context: context)
                book.title = "\(pages)"
                book.pages = Int32(pages)
            }
            try context.save()
            let request = try #require(
                model.fetchRequestFromTemplate(withName: "Long", substitutionVariables: ["MINIMUM": 4]))
            #expect(try NSFetchRequest<Book>(request).execute().count == 2)
        }
        #expect(throws: CocoaError.self) { try NSFetchRequest<Book>(entityName: "Book").execute() }
    }

    @Test("Objects in predicates: equality, membership, IDs")
    func objects() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "A"
            let book = Book(context: context)
            book.title = "B"
            book.author = author
            let other = Book(context: context)
            other.title = "C"
            try context.save()
            #expect(try context.all(Book.self, "Book", "author == %@", author) == [book])
            #expect(try context.all(Book.self, "Book", "author == %@", author.objectID) == [book])
            #expect(try context.all(Book.self, "Book", "author == nil") == [other])
            #expect(try context.all(Book.self, "Book", "SELF IN %@", [other]) == [other])
            #expect(try context.all(Author.self, "Author", "ANY books == %@", book) == [author])
            #expect(try context.all(Author.self, "Author", "%@ IN books", book) == [author])
            #expect(try context.all(Author.self, "Author", "books.@count == 1") == [author])
        }
    }
}
