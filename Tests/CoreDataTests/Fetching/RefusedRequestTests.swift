import CoreData
import Foundation
import Testing

/// What no store can follow, or what makes no sense, is a 134060 that says so; never another answer than in memory.
@Suite struct RefusedRequestTests {
    /// Two authors, of whom one has two books.
    private func library() throws -> LibraryStack {
        let stack = try LibraryStack()
        try stack.story { context in
            for (name, count) in [("Jane", 2), ("Emily", 0)] {
                let author = Author(context: context)
                author.name = name
                for index in 0..<count {
                    let book = Book(context: context)
                    book.title = "Book \(index)"
                    book.pages = Int32(10 * (index + 1))
                    book.author = author
                }
            }
            try context.save()
        }
        return stack
    }

    private func refusal<T>(of request: NSFetchRequest<T>, in context: NSManagedObjectContext) -> NSError? {
        do { _ = try context.fetch(request) } catch { return error as NSError }
        return nil
    }

    private func refusal(_ format: String, in context: NSManagedObjectContext) -> NSError? {
        let request = NSFetchRequest<Author>(entityName: "Author")
        request.predicate = NSPredicate(format: format)
        return refusal(of: request, in: context)
    }

    private func isRefused(_ error: NSError?, _ part: String) -> Bool {
        error?.domain == NSCocoaErrorDomain && error?.code == 134060
            && error?.localizedDescription.contains(part) == true
    }

    @Test(
        "Collection operators mean the same in SQL, in memory and among unsaved changes",
        arguments: [
            ("books.@sum > 1", "key path to its right"), ("books.@max == 2", "key path to its right"),
            ("books.pages.@min == 2", "key path to its right"), ("@count.books > 1", "needs a collection"),
            ("name.@count == 0", "needs a collection"), ("books.@max.author == nil", "order"),
        ])
    func operators(_ format: String, _ reason: String) throws {
        try library().story { context in
            #expect(isRefused(refusal(format, in: context), reason))
            let authors = try context.all(Author.self, "Author", "books.@count > 0")
            authors[0].name = "Jane Austen"
            #expect(isRefused(refusal(format, in: context), reason))
            #expect(!NSPredicate(format: format).evaluate(with: authors[0]))
        }
    }

    @Test(
        "Results of another type than the request's are an error and no objects",
        arguments: [NSFetchRequestResultType.dictionaryResultType, .managedObjectIDResultType, .countResultType])
    func resultsOfAnotherType(_ type: NSFetchRequestResultType) throws {
        try library().story { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.resultType = type
            #expect(isRefused(refusal(of: request, in: context), "not NSManagedObject"))
            request.predicate = NSPredicate(value: false)
            if type != .countResultType { #expect(refusal(of: request, in: context) == nil) }
        }
    }

    @Test("A request whose predicate fetches by the request itself is refused")
    func fetchesByItself() throws {
        try library().story { context in
            let request = NSFetchRequest<Author>(entityName: "Author")
            request.predicate = NSPredicate(
                format: "%K == %@", "name",
                NSFetchRequestExpression.expression(
                    forFetch: NSExpression(forConstantValue: request), context: NSExpression(forConstantValue: context),
                    countOnly: true))
            #expect(refusal(of: request, in: context)?.localizedDescription.contains("FETCH again") == true)
        }
    }

    @Test("@count takes no notice of a key path to its right")
    func countsWithPaths() throws {
        try library().story { context in
            for format in ["books.@count.pages == 2", "books.@count.@count == 2", "books.pages.@max.self == 20"] {
                let found = try context.all(Author.self, "Author", format)
                #expect(found.map(\.name) == ["Jane"], "\(format)")
                #expect(found.allSatisfy { NSPredicate(format: format).evaluate(with: $0) }, "\(format)")
            }
        }
    }

    @Test("Key paths through more tables than one statement joins are refused with the predicate")
    func longKeyPaths() throws {
        try library().story { context in
            for count in 58...68 {
                let format = "ANY " + String(repeating: "books.author.", count: count) + "books.pages == 10"
                let error = refusal(format, in: context)
                #expect(
                    error == nil ? count < 64 : isRefused(error, "tables"), "\(count): \(String(describing: error))")
                if count > 64 { #expect(error?.localizedDescription.contains("books.pages == 10") == true) }
            }
        }
    }

    @Test("A row's text that is no regular expression is refused as a constant is")
    func patterns() throws {
        try library().story { context in
            let author = try context.all(Author.self, "Author", "name == 'Jane'")[0]
            author.name = "("
            try context.save()
            context.reset()
            let error = refusal("'x' MATCHES name", in: context)
            #expect(isRefused(error, "is not a regular expression"), "\(String(describing: error))")
            #expect(isRefused(refusal("name MATCHES '('", in: context), "is not a regular expression"))
        }
    }

    @Test("Grouping is for dictionaries, and dictionaries' values have names")
    func grouping() throws {
        try library().story { context throws in
            let objects = NSFetchRequest<Book>(entityName: "Book")
            objects.propertiesToGroupBy = ["author"]
            #expect(isRefused(refusal(of: objects, in: context), "propertiesToGroupBy is for dictionaries"))
            objects.propertiesToGroupBy = nil
            objects.havingPredicate = NSPredicate(format: "pages > 1")
            #expect(isRefused(refusal(of: objects, in: context), "havingPredicate is for dictionaries"))
            let count = NSFetchRequest<NSNumber>(objects)
            count.resultType = .countResultType
            #expect(isRefused(refusal(of: count, in: context), "havingPredicate is for dictionaries"))
            let unnamed = NSFetchRequest<NSDictionary>(entityName: "Book")
            unnamed.resultType = .dictionaryResultType
            let description = NSExpressionDescription()
            description.expression = NSExpression(forKeyPath: "pages")
            unnamed.propertiesToFetch = [description]
            #expect(isRefused(refusal(of: unnamed, in: context), "needs a name"))
            description.name = "p"
            #expect(try context.fetch(unnamed).count == 2)
        }
    }

    @Test("The properties of a fetch of objects are properties of its entity")
    func propertiesOfObjects() throws {
        try library().story { context throws in
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.propertiesToFetch = ["title", "author"]
            #expect(try context.fetch(request).count == 2)
            request.propertiesToFetch = ["title", "titel"]
            #expect(isRefused(refusal(of: request, in: context), "Invalid keypath titel passed to propertiesToFetch"))
            request.propertiesToFetch = [7]
            #expect(isRefused(refusal(of: request, in: context), "Invalid keypath 7 passed to propertiesToFetch"))
            let description = NSExpressionDescription()
            (description.name, description.expression) = ("p", NSExpression(forKeyPath: "pages"))
            request.propertiesToFetch = [description]
            #expect(isRefused(refusal(of: request, in: context), "expressions are for dictionaries"))
        }
    }

    @Test("A limit, an offset or a batch size below zero is none; a sort needs a key")
    func strangeNumbers() throws {
        try library().story { context throws in
            let request = NSFetchRequest<Book>(entityName: "Book")
            for number in [-1, Int.min, Int.max] {
                request.fetchLimit = number
                request.fetchOffset = min(number, 0)
                request.fetchBatchSize = number
                #expect(try context.fetch(request).count == 2)
                #expect(try context.count(for: request) == 2)
            }
            request.fetchLimit = Int.max
            request.fetchOffset = Int.max
            #expect(try context.fetch(request).isEmpty)
            let unsaved = Book(context: context)
            unsaved.title = "Unsaved"
            #expect(try context.fetch(request).isEmpty)
            request.fetchOffset = -3
            #expect(try context.fetch(request).count == 3)
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            try child.performAndWait { () throws in
                Book(context: child).title = "Unsaved, too"
                #expect(try child.fetch(request).count == 4 && child.count(for: request) == 4)
                request.fetchOffset = Int.max
                #expect(try child.fetch(request).isEmpty)
            }
            for key in ["", nil] {
                request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
                #expect(isRefused(refusal(of: request, in: context), "needs a key"))
            }
        }
    }
}
