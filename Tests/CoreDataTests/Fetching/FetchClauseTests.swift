import CoreData
import Foundation
import Testing

/// Statements M of the semantics, one by one, where no other suite goes into them.
@Suite struct FetchClauseTests {
    /// Books "0" to "9" with as many pages; the even ones are Ann's.
    private func library(_ body: (LibraryStack, NSManagedObjectContext) throws -> Void) throws {
        let stack = try LibraryStack()
        try stack.story { context throws in
            let author = Author(context: context)
            author.name = "Ann"
            for number in 0..<10 {
                let book = Book(context: context)
                (book.title, book.pages) = ("\(number)", Int32(number))
                if number % 2 == 0 { book.author = author }
            }
            try context.save()
            context.reset()
            try body(stack, context)
        }
    }

    private func books(_ format: String? = nil) -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
        return request
    }

    @Test("M1: memory decides of what is changed, the store of the rest; without pending changes the store of all")
    func pendingChanges() throws {
        try library { _, context throws in
            let all = try context.fetch(books())
            all[0].pages = 50
            all[9].pages = 1
            context.delete(all[8])
            let new = Book(context: context)
            (new.title, new.pages) = ("new", 60)
            let request = books("pages > 6")
            #expect(try context.fetch(request).map(\.title) == ["7", "0", "new"])
            request.includesPendingChanges = false
            let stored = try context.fetch(request)
            #expect(stored.map(\.title) == ["7", "8", "9"] && stored[2] === all[9] && stored[2].pages == 1)
            #expect(try context.count(for: request) == 3)
        }
    }

    @Test("M2: a window is as large as it can be, whatever is pending", arguments: [0, 3, 8, 20], [1, 4, 30])
    func windows(_ offset: Int, _ limit: Int) throws {
        try library { _, context throws in
            let all = try context.fetch(books())
            for book in all[2...4] { context.delete(book) }
            all[0].pages = 70
            for number in 0..<3 {
                let new = Book(context: context)
                (new.title, new.pages) = ("new \(number)", Int32(number * 30))
            }
            let expected = try context.fetch(books()).map(\.title)
            #expect(expected.count == 10)
            let request = books()
            (request.fetchOffset, request.fetchLimit) = (offset, limit)
            let window = Array(expected.dropFirst(offset).prefix(limit))
            #expect(try context.fetch(request).map(\.title) == window)
            #expect(try context.count(for: request) == window.count)  // M7
        }
    }

    @Test("M7: a count is of what would be fetched, as a number alone, and what cannot be fetched cannot be counted")
    func counts() throws {
        try library { stack, context throws in
            let request = books("author.name == 'Ann'")
            (request.fetchOffset, request.fetchLimit) = (1, 3)
            #expect(try context.count(for: request) == 3)
            let number = NSFetchRequest<NSNumber>(request)
            number.resultType = .countResultType
            #expect(try context.fetch(number) == [3])
            #expect(try stack.statements { _ = try context.count(for: books()) }.allSatisfy { $0.contains("COUNT(*)") })
            #expect(throws: CocoaError.self) { try context.count(for: books("nothing == 1")) }
            number.predicate = NSPredicate(format: "nothing == 1")
            #expect(throws: CocoaError.self) { try context.fetch(number) }
        }
    }

    @Test("M8: IDs come in the order asked for, those of unsaved objects among them, and no row is read")
    func identifiers() throws {
        try library { stack, context throws in
            let request = NSFetchRequest<NSManagedObjectID>(books())
            request.resultType = .managedObjectIDResultType
            for includesValues in [true, false] {
                request.includesPropertyValues = includesValues
                var ids: [NSManagedObjectID] = []
                let statements = try stack.statements { ids = try context.fetch(request) }
                #expect(statements.count == 1 && !statements[0].contains("ZCOVER"), "\(statements)")
                #expect(ids.map { (context.object(with: $0) as? Book)?.title } == (0..<10).map { "\($0)" })
            }
            let new = Book(context: context)
            (new.title, new.pages) = ("new", 5)
            let ids = try context.fetch(request)
            #expect(ids.count == 11 && ids.filter(\.isTemporaryID) == [new.objectID])
            #expect(ids[5...6].contains(new.objectID))
        }
    }

    @Test("M13: a request is of the model of the context's coordinator, by its entity's name")
    func entities() throws {
        try library { _, context throws in
            let stranger = NSEntityDescription()
            stranger.name = "Stranger"
            let request = NSFetchRequest<NSManagedObject>()
            let missing = #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(missing?.localizedDescription.contains("must have an entity") == true)
            request.entity = stranger
            let unknown = #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(unknown?.localizedDescription.contains("'Stranger'") == true)
            // An entity of the same name of another model is the context's own.
            request.entity = Library.model().entitiesByName["Author"]
            #expect(try context.fetch(request).count == 1)
        }
    }

    @Test("M14, M18: a template's missing variable is an error when it is executed, and is named")
    func templates() throws {
        let model = Library.model()
        let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        template.predicate = NSPredicate(format: "pages > $LEAST AND pages < $MOST")
        model.setFetchRequestTemplate(template, forName: "Between")
        let stack = try LibraryStack(model: model)
        try stack.story { context throws in
            let request = try #require(
                model.fetchRequestFromTemplate(withName: "Between", substitutionVariables: ["LEAST": 1]))
            let error = #expect(throws: CocoaError.self) { try NSFetchRequest<Book>(request).execute() }
            #expect(error?.localizedDescription.contains("$MOST") == true)
            request.predicate = request.predicate?.withSubstitutionVariables(["MOST": 3])
            #expect(try NSFetchRequest<Book>(request).execute().isEmpty)
            // The template stays as it is.
            for batch in [
                NSBatchDeleteRequest(fetchRequest: template) as NSPersistentStoreRequest,
                {
                    let update = NSBatchUpdateRequest(entityName: "Book")
                    update.predicate = template.predicate
                    update.propertiesToUpdate = ["pages": 1]
                    return update
                }(),
            ] {
                let error = #expect(throws: CocoaError.self) { try context.execute(batch) }
                #expect(error?.localizedDescription.contains("$LEAST") == true)
            }
            let list = NSFetchedResultsController(
                fetchRequest: books("pages > $LEAST"), managedObjectContext: context, sectionNameKeyPath: nil,
                cacheName: nil)
            #expect(throws: CocoaError.self) { try list.performFetch() }
        }
    }
}
