import CoreData
import Foundation
import TestSupport
import Testing

/// What requests with less common settings and predicates give.
@Suite struct RequestResultTests {
    @Test func aToOneThatIsNilIsNotCounted() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Jane"
            for number in 0..<3 {
                let book = Book(context: context)
                book.title = "\(number)"
                book.author = number < 2 ? author : nil
            }
            try context.save()
            for (path, count) in [("author", 2), ("author.name", 2), ("title", 3), ("self", 3)] {
                let column = NSExpressionDescription()
                column.name = "n"
                column.expression = NSExpression(
                    forFunction: "count:", arguments: [NSExpression(forKeyPath: path)])
                column.expressionResultType = .integer64AttributeType
                let request = NSFetchRequest<NSDictionary>(entityName: "Book")
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = [column]
                #expect(try context.fetch(request).map { $0["n"] as? Int } == [count], "\(path)")
            }
        }
    }

    /// Jane with two books, Emily with one, and one of nobody.
    private func library() throws -> LibraryStack {
        let stack = try LibraryStack()
        try stack.story { context in
            let red = Tag(context: context)
            red.name = "red"
            for (name, titles) in [("Jane", ["Emma", "Persuasion"]), ("Emily", ["Heights"]), (nil, ["Beowulf"])] {
                let author = name.map { name in
                    let author = Author(context: context)
                    author.name = name
                    return author
                }
                for title in titles {
                    let book = Book(context: context)
                    book.title = title
                    book.pages = Int32(title.count)
                    book.isLent = title == "Emma"
                    book.author = author
                    if title.count > 5 { book.tags = [red] }
                }
            }
            try context.save()
        }
        return stack
    }

    private func titles(_ format: String, _ arguments: [Any] = [], _ context: NSManagedObjectContext) throws -> [String]
    {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let found = try context.fetch(request).compactMap(\.title)
        let all = try context.all(Book.self, "Book")
        let predicate = try #require(request.predicate)
        let inMemory = all.filter { predicate.evaluate(with: $0) }.compactMap(\.title).sorted()
        #expect(found == inMemory, "\(format): SQL and memory agree")
        return found
    }

    @Test(
        "M16: ANY and ALL of a value that is no collection are of that value",
        arguments: [
            ("ANY title == 'Emma'", ["Emma"]), ("ANY author.name BEGINSWITH[c] 'j'", ["Emma", "Persuasion"]),
            ("NOT ANY author.name BEGINSWITH[c] 'j'", ["Beowulf", "Heights"]),
            ("ALL author.name == 'Emily'", ["Beowulf", "Heights"]),
            ("NOT ALL author.name == 'Emily'", ["Emma", "Persuasion"]), ("ANY author.name == nil", []),
            ("ANY author.name != 'Jane'", ["Heights"]), ("ALL author.name != 'Jane'", ["Beowulf", "Heights"]),
            ("ANY author == nil", []),
            ("SUBQUERY(tags, $t, ANY $t.name BEGINSWITH 'r').@count > 0", ["Beowulf", "Heights", "Persuasion"]),
        ])
    func anyOfOne(format: String, expected: [String]) throws {
        try library().story { context in
            let found = try titles(format, [], context)
            #expect(found == expected)
        }
    }

    @Test("M16: a SUBQUERY may stand in another, and be of another's members")
    func nestedSubqueries() throws {
        try library().story { context in
            let tagged = try titles(
                "SUBQUERY(tags, $t, SUBQUERY($t.books, $b, $b.pages > 9).@count > 0).@count > 0", [], context)
            #expect(tagged == ["Beowulf", "Heights", "Persuasion"])
            let ofTheAuthor = try titles(
                "SUBQUERY(author.books, $a, SUBQUERY($a.tags, $t, $t.name == 'red' AND $a.pages > 9).@count == 1).@count == 1",
                [], context)
            #expect(ofTheAuthor == ["Emma", "Persuasion"])
        }
    }

    @Test("M16: FETCH is what a fetch finds, or how much")
    func fetches() throws {
        try library().story { context in
            let jane = NSFetchRequest<Author>(entityName: "Author")
            jane.predicate = NSPredicate(format: "name == 'Jane'")
            let written = try titles("author IN FETCH(%@, %@, NO)", [jane, context], context)
            #expect(written == ["Emma", "Persuasion"])
            let long = try titles("pages > 6 + FETCH(%@, %@, YES)", [jane, context], context)
            #expect(long == ["Persuasion"])
            let expression = NSFetchRequestExpression.expression(
                forFetch: NSExpression(forConstantValue: jane), context: NSExpression(forConstantValue: context),
                countOnly: true)
            #expect(expression.expressionValue(with: nil, context: nil) as? Int == 1)
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: "author IN FETCH(%@, %@, NO)", argumentArray: ["x", context])
            let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(
                error?.localizedDescription.contains("the first argument of FETCH is a fetch request, not a string")
                    == true)
        }
    }

    @Test("M6: a count of a path among the columns of groups is of the whole group")
    func countsOfGroups() throws {
        try library().story { context in
            let blue = Tag(context: context)
            blue.name = "blue"
            for book in try context.all(Book.self, "Book", "title == 'Persuasion'") { book.tags.insert(blue) }
            try context.save()
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            let tags = NSExpressionDescription()
            tags.name = "tagCount"
            tags.expression = NSExpression(forKeyPath: "tags.name.@count")
            tags.expressionResultType = .integer64AttributeType
            request.propertiesToFetch = ["author.name", tags]
            request.propertiesToGroupBy = ["author.name"]
            request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true)]
            let rows = try context.fetch(request)
            #expect(rows.map { $0["author.name"] as? String } == [nil, "Emily", "Jane"])
            #expect(rows.map { $0["tagCount"] as? Int } == [1, 1, 2])
            request.havingPredicate = NSPredicate(format: "$tagCount > 1")
            #expect(try context.fetch(request).map { $0["author.name"] as? String } == ["Jane"])
        }
    }

    @Test("M3: results come as faults whose rows are in memory, realised, or as IDs alone")
    func faults() throws {
        let stack = try library()
        func fired(_ set: (NSFetchRequest<Book>) -> Void) throws -> (areFaults: Bool, statements: Int) {
            // Another coordinator, which has no rows in memory.
            let library = try LibraryStack(opening: stack.url)
            return try library.story { context in
                let request = NSFetchRequest<Book>(entityName: "Book")
                set(request)
                let books = try context.fetch(request)
                let areFaults = books.allSatisfy(\.isFault)
                return (areFaults, library.statements { for book in books { _ = book.title } }.count)
            }
        }
        #expect(try fired { _ in } == (true, 0))
        #expect(try fired { $0.returnsObjectsAsFaults = false } == (false, 0))
        #expect(try fired { $0.includesPropertyValues = false } == (true, 4))
    }

    @Test("M4: objects with propertiesToFetch have their other properties, too; computed values are for dictionaries")
    func partialObjects() throws {
        try library().story { context in
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.propertiesToFetch = ["title"]
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let books = try context.fetch(request)
            #expect(books.map(\.title) == ["Beowulf", "Emma", "Heights", "Persuasion"])
            #expect(books.map(\.pages) == [7, 4, 7, 10])
        }
    }

    @Test("M12: affectedStores are the stores that are asked")
    func affectedStores() throws {
        let stack = try library()
        let other = stack.folder.appendingPathComponent("Other.sqlite")
        let second = try stack.coordinator.addPersistentStore(type: .sqlite, at: other)
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Elsewhere"
            context.assign(book, to: second)
            try context.save()
            let request = NSFetchRequest<Book>(entityName: "Book")
            #expect(try context.count(for: request) == 5)
            request.affectedStores = [second]
            #expect(try context.fetch(request).map(\.title) == ["Elsewhere"])
            #expect(try request.sql(in: context).map(\.store) == [other])
        }
    }
}
