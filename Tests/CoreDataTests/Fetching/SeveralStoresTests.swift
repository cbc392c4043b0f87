import CoreData
import Foundation
import Testing

/// Dictionaries of several stores are sorted, distinct, grouped and cut over all of them.
@Suite struct SeveralStoresTests {
    /// Books of three stores: 1, 4, 7 pages; 2, 5, 8; 3, 6, 9. Every third is lent, the fourth has no rating above 0.
    private func library(_ body: (NSManagedObjectContext) throws -> Void) throws {
        let stack = try LibraryStack()
        let coordinator = stack.coordinator
        for _ in 0..<2 {
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        }
        try stack.story { context in
            for (index, store) in coordinator.persistentStores.enumerated() {
                let author = Author(context: context)
                author.name = "Author \(index)"
                context.assign(author, to: store)
                for step in 0..<3 {
                    let book = Book(context: context)
                    let pages = index + 1 + step * 3
                    book.title = pages % 2 == 0 ? "even" : "odd"
                    book.pages = Int32(pages)
                    book.rating = Double(pages) / 2
                    book.price = pages < 9 ? Decimal(pages) : nil
                    book.isLent = pages % 3 == 0
                    book.author = author
                    context.assign(book, to: store)
                }
            }
            try context.save()
            context.reset()
            try body(context)
        }
    }

    private func request(_ properties: [Any], sort: String? = nil) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return request
    }

    private func value(_ name: String, _ format: String) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(format: format)
        return description
    }

    private func lines(_ rows: [NSDictionary]) -> [String] {
        rows.map { row in
            let keys = row.allKeys.compactMap { $0 as? String }.sorted()
            return keys.map { "\($0) \((row[$0] as? NSObject)?.description ?? "")" }.joined(separator: " ")
        }
    }

    @Test("Sort, limit and offset are over all stores")
    func windows() throws {
        try library { context throws in
            let request = request(["pages"], sort: "pages")
            func pages() throws -> [Int] { try context.fetch(request).compactMap { $0["pages"] as? Int } }
            #expect(try pages() == Array(1...9))
            request.fetchLimit = 2
            #expect(try pages() == [1, 2])
            request.fetchOffset = 3
            #expect(try pages() == [4, 5])
            #expect(try context.count(for: request) == 2)
            request.fetchLimit = 0
            request.fetchOffset = 7
            #expect(try pages() == [8, 9])
            request.sortDescriptors = [
                NSSortDescriptor(key: "isLent", ascending: false),
                NSSortDescriptor(key: "author.name", ascending: false),
                NSSortDescriptor(key: "pages", ascending: false),
            ]
            request.fetchOffset = 2
            request.fetchLimit = 3
            #expect(try pages() == [3, 8, 5])
            request.fetchOffset = 20
            #expect(try pages().isEmpty)
            #expect(try context.count(for: request) == 0)
        }
    }

    @Test("Rows that are equal in two stores come once; object IDs never are")
    func distinctRows() throws {
        try library { context throws in
            let request = request(["title"], sort: "title")
            request.returnsDistinctResults = true
            #expect(try lines(context.fetch(request)) == ["title even", "title odd"])
            #expect(try context.count(for: request) == 2)
            request.fetchOffset = 1
            #expect(try lines(context.fetch(request)) == ["title odd"])
            request.fetchOffset = 0
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
            #expect(try lines(context.fetch(request)) == ["title odd", "title even"])
            request.propertiesToFetch = ["author"]
            let authors = try context.fetch(request).compactMap { $0["author"] as? NSManagedObjectID }
            #expect(authors.count == 3 && Set(authors.map { $0.persistentStore?.identifier }).count == 3)
        }
    }

    @Test("Functions of all rows are of the rows of all stores")
    func functions() throws {
        try library { context throws in
            let request = request([
                value("sum", "sum:(pages)"), value("least", "min:(pages)"), value("most", "@max.pages"),
                value("count", "count:(price)"), value("mean", "average:(pages)"),
                value("span", "max:(pages) - min:(pages)"),
                value("price", "sum:(price)"), value("twice", "sum:(pages * 2)"),
            ])
            let found = try lines(context.fetch(request))
            #expect(found == ["count 8 least 1 mean 5.0 most 9 price 36 span 8 sum 45 twice 90"])
            #expect(try context.count(for: request) == 1)
            request.predicate = NSPredicate(format: "pages > 100")
            let nothing = try lines(context.fetch(request))
            #expect(nothing == ["count 0 price 0 sum 0 twice 0"])
        }
    }

    @Test("Groups are over all stores, and so is what is asked of them")
    func groups() throws {
        try library { context throws in
            let request = request(
                ["title", value("n", "count:(pages)"), value("mean", "average:(rating)")], sort: "title")
            request.propertiesToGroupBy = ["title"]
            #expect(try lines(context.fetch(request)) == ["mean 2.5 n 4 title even", "mean 2.5 n 5 title odd"])
            #expect(try context.count(for: request) == 2)
            request.havingPredicate = NSPredicate(format: "$n > 4 AND max:(pages) == 9 AND title != nil")
            #expect(try lines(context.fetch(request)) == ["mean 2.5 n 5 title odd"])
            #expect(try context.count(for: request) == 1)
            request.havingPredicate = NSPredicate(format: "n < 5")
            #expect(try lines(context.fetch(request)) == ["mean 2.5 n 4 title even"])
            request.havingPredicate = nil
            request.fetchOffset = 1
            #expect(try lines(context.fetch(request)) == ["mean 2.5 n 5 title odd"])
            request.fetchOffset = 0
            request.propertiesToFetch = ["author", value("n", "count:(pages)")]
            request.propertiesToGroupBy = ["author"]
            request.sortDescriptors = nil
            #expect(try context.fetch(request).compactMap { $0["n"] as? Int } == [3, 3, 3])
        }
    }

    @Test("Functions of a row's own to-many are of that row")
    func rowsOwnMembers() throws {
        try library { context throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Author")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["name", value("n", "books.@count"), value("most", "max:(books.pages)")]
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
            request.fetchLimit = 2
            #expect(try lines(context.fetch(request)) == ["most 9 n 3 name Author 2", "most 8 n 3 name Author 1"])
            #expect(try context.count(for: request) == 2)
        }
    }

    @Test(
        "What cannot be made of several answers is a 134060 that says so",
        arguments: [
            ("median:(pages)", false, "several stores"), ("stddev:(pages)", false, "several stores"),
            ("pages", true, "neither grouped nor an aggregate"), ("max:(SELF)", true, "several stores"),
        ])
    func inexact(_ format: String, _ hasSum: Bool, _ reason: String) throws {
        try library { context throws in
            let request = request([value("x", format)] + (hasSum ? [value("sum", "sum:(pages)")] : []))
            let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(error?.code.rawValue == 134060)
            #expect(error?.localizedDescription.contains(reason) == true, "\(error?.localizedDescription ?? "")")
            #expect(throws: CocoaError.self) { try context.count(for: request) }
        }
    }

    @Test("The count of a dictionary request is the number of its dictionaries")
    func counts() throws {
        try library { context throws in
            let request = request(["title"])
            request.affectedStores = Array(context.persistentStoreCoordinator?.persistentStores.prefix(1) ?? [])
            func check(_ expected: Int) throws {
                #expect(try context.fetch(request).count == expected)
                #expect(try context.count(for: request) == expected)
            }
            try check(3)
            request.returnsDistinctResults = true
            try check(2)
            request.fetchLimit = 1
            try check(1)
            request.fetchOffset = 2
            try check(0)
            (request.returnsDistinctResults, request.fetchLimit, request.fetchOffset) = (false, 0, 0)
            request.propertiesToGroupBy = ["title"]
            try check(2)
            request.propertiesToFetch = ["title", value("n", "count:(pages)")]
            request.havingPredicate = NSPredicate(format: "$n > 1")
            try check(1)
            (request.propertiesToGroupBy, request.havingPredicate) = (nil, nil)
            request.propertiesToFetch = [value("n", "sum:(pages)")]
            try check(1)
            request.propertiesToFetch = ["title"]
            let unsaved = Book(context: context)
            unsaved.title = "Unsaved"
            try check(3)
        }
    }

    @Test(
        "M12: every kind of result is of the affected stores alone, unsaved changes included", arguments: [false, true])
    func affectedStores(inChild: Bool) throws {
        try library { parent throws in
            let stores = parent.persistentStoreCoordinator?.persistentStores ?? []
            let context = inChild ? NSManagedObjectContext(.privateQueue) : parent
            if inChild { context.parent = parent }
            try context.performAndWait {
                for step in ["saved", "changed"] {
                    if step == "changed" {
                        // One more, and one less, in each store; 3 pages become 30.
                        for (index, store) in stores.enumerated() {
                            let book = Book(context: context)
                            book.title = "new"
                            book.pages = Int32(100 + index)
                            context.assign(book, to: store)
                        }
                        for book in try context.all(Book.self, "Book", "pages IN {4, 5, 6}") { context.delete(book) }
                        for book in try context.all(Book.self, "Book", "pages IN {1, 2, 3}") { book.pages *= 10 }
                        if inChild { try context.save() }
                    }
                    for (index, store) in stores.enumerated() {
                        let all =
                            step == "saved"
                            ? [1, 4, 7].map { $0 + index } : [7 + index, 10 * (index + 1), 100 + index]
                        let request = NSFetchRequest<Book>(entityName: "Book")
                        request.affectedStores = [store]
                        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
                        #expect(try context.fetch(request).map { Int($0.pages) } == all, "\(step)")
                        #expect(try context.count(for: request) == 3, "\(step)")
                        request.fetchLimit = 2
                        #expect(try context.fetch(request).map { Int($0.pages) } == Array(all.prefix(2)), "\(step)")
                        #expect(try context.count(for: request) == 2, "\(step)")
                        request.fetchLimit = 0
                        request.fetchOffset = 1
                        #expect(try context.fetch(request).map { Int($0.pages) } == Array(all.dropFirst()), "\(step)")
                        let ids = NSFetchRequest<NSManagedObjectID>(request)
                        (ids.resultType, ids.fetchOffset) = (.managedObjectIDResultType, 0)
                        #expect(ids.affectedStores == [store])
                        let found = try context.fetch(ids)
                        #expect(found.count == 3, "\(step)")
                        for id in found where !id.isTemporaryID { #expect(id.persistentStore === store, "\(step)") }
                        let dictionaries = NSFetchRequest<NSDictionary>(request)
                        (dictionaries.resultType, dictionaries.fetchOffset) = (.dictionaryResultType, 0)
                        dictionaries.propertiesToFetch = [value("n", "count:(pages)"), value("sum", "sum:(pages)")]
                        #expect(try context.fetch(dictionaries).map { $0["n"] as? Int } == [3])
                        #expect(try context.fetch(dictionaries).map { $0["sum"] as? Int } == [12 + 3 * index])
                        dictionaries.propertiesToFetch = ["pages"]
                        #expect(try context.count(for: dictionaries) == 3)
                        request.fetchOffset = 0
                        let list = NSFetchedResultsController(
                            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
                            cacheName: nil)
                        try list.performFetch()
                        #expect(list.fetchedObjects?.map { Int($0.pages) } == all, "\(step)")
                        let two = NSFetchRequest<Book>(request)
                        two.affectedStores = Array(stores.prefix(2))
                        #expect(try context.count(for: two) == 6, "\(step)")
                    }
                    #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == 9)
                }
            }
        }
    }

    @Test("M12, R3: a list of one store follows what is new there, and nothing else")
    func listsOfAffectedStores() throws {
        try library { context throws in
            let stores = context.persistentStoreCoordinator?.persistentStores ?? []
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.affectedStores = [stores[1]]
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            let list = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
                func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
            }
            let delegate = Delegate()
            list.delegate = delegate
            try list.performFetch()
            func pages() -> [Int32] { (list.fetchedObjects ?? []).map(\.pages) }
            #expect(pages() == [2, 5, 8])
            let other = NSManagedObjectContext(.privateQueue)
            other.persistentStoreCoordinator = context.persistentStoreCoordinator
            let ids = try other.performAndWait {
                let books = stores.indices.map { index in
                    let book = Book(context: other)
                    book.title = "other"
                    book.pages = Int32(50 + index)
                    other.assign(book, to: stores[index])
                    return book
                }
                try other.save()
                return books.map(\.objectID)
            }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectsKey: ids], into: [context])
            #expect(pages() == [2, 5, 8, 51])
            for (index, store) in stores.enumerated() {
                let book = Book(context: context)
                book.title = "own"
                book.pages = Int32(60 + index)
                context.assign(book, to: store)
            }
            // One that is assigned to none goes to the first store, and to that of its author.
            let unassigned = (0..<2).map { _ in Book(context: context) }
            for book in unassigned { (book.title, book.pages) = ("none", 70) }
            unassigned[1].pages = 71
            unassigned[1].author = try context.all(Author.self, "Author", "name == 'Author 1'").first
            context.processPendingChanges()
            #expect(pages() == [2, 5, 8, 51, 61, 71])
            try context.save()
            #expect(unassigned.map { $0.objectID.persistentStore === stores[1] } == [false, true])
            #expect(pages() == [2, 5, 8, 51, 61, 71])
            withExtendedLifetime(delegate) {}
        }
    }

    @Test("N6, M12: batch requests write to the affected stores that have the entity, and to no others")
    func batchRequests() throws {
        let model = Library.model()
        let names = Set(model.entities.compactMap(\.name))
        model.setEntities(
            model.entities.filter { $0.name == "Author" || $0.name == "Tag" }, forConfigurationName: "Authors")
        let stack = try LibraryStack(model: model)
        let coordinator = stack.coordinator
        #expect(names.contains("Reader"))
        let second = try coordinator.addPersistentStore(
            type: .sqlite, at: stack.folder.appendingPathComponent("Second.sqlite"))
        let authors = try coordinator.addPersistentStore(
            type: .sqlite, configuration: "Authors", at: stack.folder.appendingPathComponent("Authors.sqlite"))
        let first = coordinator.persistentStores[0]
        try stack.story { context throws in
            func count(_ entity: String, _ stores: NSPersistentStore...) throws -> Int {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.affectedStores = stores
                return try context.count(for: request)
            }
            for store in [first, second] {
                let insert = NSBatchInsertRequest(entityName: "Book", objects: [["title": "a"], ["title": "b"]])
                insert.affectedStores = [store]
                try context.execute(insert)
            }
            #expect(try count("Book", first) == 2 && count("Book", second) == 2)
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.affectedStores = [second]
            update.propertiesToUpdate = ["title": "c"]
            update.resultType = .updatedObjectIDsResultType
            let updated = (try context.execute(update) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID]
            #expect(updated?.allSatisfy { $0.persistentStore === second } == true && updated?.count == 2)
            let books = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            books.affectedStores = [first]
            try context.execute(NSBatchDeleteRequest(fetchRequest: books))
            #expect(try count("Book", first) == 0 && count("Book", second) == 2)
            // Set on the request that is deleted by, later.
            let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Book"))
            delete.fetchRequest.affectedStores = [first]
            try context.execute(delete)
            #expect(try count("Book", second) == 2)

            let author = NSBatchInsertRequest(entityName: "Author", objects: [["name": "Ann"]])
            author.affectedStores = [authors]
            try context.execute(author)
            #expect(try count("Author", authors) == 1 && count("Author", first) == 0 && count("Person") == 1)
            // A store that has one of its subentities has not the entity.
            let reader = NSBatchInsertRequest(entityName: "Reader", objects: [["name": "Rob"]])
            reader.affectedStores = [authors]
            let error = #expect(throws: CocoaError.self) { try context.execute(reader) }
            #expect(error?.localizedDescription.contains("'Reader'") == true)
            let nothing = NSBatchInsertRequest(entityName: "Book", objects: [["title": "x"]])
            nothing.affectedStores = [authors]
            #expect(throws: CocoaError.self) { try context.execute(nothing) }
            #expect(try count("Book") == 2 && count("Reader") == 0)
        }
    }
}
