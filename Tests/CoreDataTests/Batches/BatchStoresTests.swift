import CoreData
import Foundation
import Testing

/// Batch requests with several stores, and with stores that take none.
@Suite struct BatchStoresTests {
    private func inserted(
        _ title: String, _ isbn: String, _ context: NSManagedObjectContext, _ store: NSPersistentStore
    ) {
        let book = Book(context: context)
        book.title = title
        book.isbn = isbn
        context.assign(book, to: store)
    }

    /// A stack with two stores, which have a book each.
    private func makeStack() throws -> LibraryStack {
        let stack = try LibraryStack()
        let second = try stack.coordinator.addPersistentStore(
            type: .sqlite, at: stack.folder.appendingPathComponent("Second.sqlite"))
        try stack.story { context in
            inserted("first", "1", context, stack.coordinator.persistentStores[0])
            inserted("second", "2", context, second)
            inserted("second too", "3", context, second)
            try context.save()
        }
        return stack
    }

    private func titles(_ stack: LibraryStack) throws -> [String] {
        let context = stack.newContext()
        return try context.performAndWait { try context.all(Book.self, "Book").compactMap(\.title).sorted() }
    }

    @Test("N6: every affected store is written to") func everyStore() throws {
        let stack = try makeStack()
        try stack.story { context in
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.propertiesToUpdate = ["pages": 5]
            update.resultType = .updatedObjectIDsResultType
            let ids = try (context.execute(update) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID]
            #expect(Set(ids?.compactMap { $0.persistentStore?.url?.lastPathComponent } ?? []).count == 2)
            #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == 3)
            let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Book"))
            delete.affectedStores = [stack.coordinator.persistentStores[1]]
            delete.resultType = .resultTypeCount
            #expect(try (context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 2)
        }
        #expect(try titles(stack) == ["first"])
    }

    @Test("N3, N6: limit and offset of a batch delete count over all stores")
    func window() throws {
        let stack = try makeStack()
        try stack.story { context throws in
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            fetch.sortDescriptors = [NSSortDescriptor(key: "isbn", ascending: true)]
            (fetch.fetchOffset, fetch.fetchLimit) = (1, 1)
            let delete = NSBatchDeleteRequest(fetchRequest: fetch)
            delete.resultType = .resultTypeCount
            #expect(try (context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 1)
        }
        #expect(try titles(stack) == ["first", "second too"])
    }

    @Test("N6: where one store refuses, none is written to", arguments: [false, true]) func noneOrAll(
        fromChild: Bool
    ) throws {
        let stack = try makeStack()
        stack.story { parent in
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = parent
            let context = fromChild ? child : parent
            context.performAndWait {
                // The second store has two books, which cannot have one number.
                let update = NSBatchUpdateRequest(entityName: "Book")
                update.propertiesToUpdate = ["isbn": "9", "title": "new"]
                let error = #expect(throws: CocoaError.self) { try context.execute(update) }
                #expect(error?.code.rawValue == NSManagedObjectConstraintMergeError)
            }
        }
        #expect(try titles(stack) == ["first", "second", "second too"])
        // A rule of one store's rows denies it.
        try stack.story { context in
            let book = try #require(try context.all(Book.self, "Book", "title == 'second'").first)
            let reader = Reader(context: context)
            reader.name = "Rob"
            let loan = Loan(context: context)
            (loan.book, loan.reader) = (book, reader)
            for object in [reader, loan] { context.assign(object, to: stack.coordinator.persistentStores[1]) }
            try context.save()
            let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Book"))
            let error = #expect(throws: CocoaError.self) { try context.execute(delete) }
            #expect(error?.code.rawValue == NSValidationRelationshipDeniedDeleteError)
        }
        #expect(try titles(stack) == ["first", "second", "second too"])
    }

    @Test("N1: stores that are no SQL stores refuse, by name", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func otherStores(_ type: String) throws {
        let model = Library.model()
        for entity in model.entities { entity.uniquenessConstraints = [] }
        let stack = try FileStack(NSPersistentStore.StoreType(rawValue: type), model: model)
        try stack.story { context in
            for request: NSPersistentStoreRequest in [
                NSBatchInsertRequest(entityName: "Book", objects: [["title": "A"]]),
                NSBatchUpdateRequest(entityName: "Book"),
                NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Book")),
            ] {
                let error = #expect(throws: CocoaError.self) { try context.execute(request) }
                #expect(error?.code.rawValue == NSPersistentStoreUnsupportedRequestTypeError)
                #expect(error?.localizedDescription.contains(type) == true)
            }
        }
    }

    @Test("N1: a store in memory is an SQLite database and takes batch requests of each kind")
    func storesInMemory() throws {
        let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        func titles() throws -> [String] { try context.all(Book.self, "Book").compactMap(\.title).sorted() }
        try context.performAndWait {
            let insert = NSBatchInsertRequest(entityName: "Book", objects: [["title": "A"], ["title": "B"]])
            insert.resultType = .count
            #expect((try context.execute(insert) as? NSBatchInsertResult)?.result as? Int == 2)
            #expect(try titles() == ["A", "B"])
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.predicate = NSPredicate(format: "title == 'A'")
            update.propertiesToUpdate = ["title": "C"]
            try context.execute(update)
            context.reset()
            #expect(try titles() == ["B", "C"])
            let found = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            found.predicate = NSPredicate(format: "title == 'B'")
            try context.execute(NSBatchDeleteRequest(fetchRequest: found))
            context.reset()
            #expect(try titles() == ["C"])
        }
    }

    @Test("N2, N3: a predicate over relationships is followed in one statement, and recorded")
    func historyOfWhatAPredicateFinds() throws {
        let stack = try HistoryStack()
        let context = stack.newContext()
        try context.performAndWait {
            let authors = ["Ann", "Bob"].map { name in
                let author = Author(context: context)
                author.name = name
                return author
            }
            for number in 0..<10 {
                let chapter = Chapter(context: context)
                chapter.title = "\(number)"
                let book = Book(context: context)
                book.title = "book \(number)"
                book.author = authors[number % 2]
                chapter.book = book
            }
            try context.save()
            let token = stack.token
            let update = NSBatchUpdateRequest(entityName: "Chapter")
            update.predicate = NSPredicate(format: "book.author.name == 'Ann'")
            update.propertiesToUpdate = ["title": "changed"]
            update.resultType = .updatedObjectsCountResultType
            #expect(try (context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 5)
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Chapter")
            fetch.predicate = NSPredicate(format: "book.author.name == 'Bob'")
            let delete = NSBatchDeleteRequest(fetchRequest: fetch)
            delete.resultType = .resultTypeCount
            #expect(try (context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 5)
            let transactions = try stack.transactions(.fetchHistory(after: token))
            #expect(
                transactions.map { $0.changes?.map(\.changeType) } == [
                    Array(repeating: .update, count: 5), Array(repeating: .delete, count: 5),
                ])
            let left = try context.all(Chapter.self, "Chapter")
            #expect(left.count == 5)
        }
    }
}
