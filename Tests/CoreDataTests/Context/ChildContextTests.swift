import CoreData
import Foundation
import Testing

/// What a child context asks of its parent, and what it does not show.
@Suite struct ChildContextTests {
    private func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        return child
    }

    @Test("K5: contexts have queues, so parents have: a child may have a parent of either kind, and its stores")
    func kindsOfParents() throws {
        let stack = try LibraryStack()
        let main = NSManagedObjectContext(.mainQueue)
        main.persistentStoreCoordinator = stack.coordinator
        for parent in [stack.context, main] {
            let child = child(of: parent)
            #expect(child.parent === parent)
            #expect(child.persistentStoreCoordinator === stack.coordinator)
            #expect(child.concurrencyType == .privateQueueConcurrencyType)
        }
    }

    @Test("K8: dictionaries that a child fetches are of saved rows, whatever it or its parent has pending")
    func dictionariesArePlain() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            (book.title, book.pages) = ("Saved", 1)
            try context.save()
            let id = book.objectID
            let child = child(of: context)
            try child.performAndWait { () throws in
                (child.object(with: id) as? Book)?.title = "Changed"
                let new = Book(context: child)
                new.title = "New"
                let request = NSFetchRequest<NSDictionary>(entityName: "Book")
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = ["title"]
                #expect(try child.fetch(request).map { $0["title"] as? String } == ["Saved"])
                #expect(try child.all(Book.self, "Book").compactMap(\.title).sorted() == ["Changed", "New"])
            }
        }
    }

    @Test("K8: a batch size in a child leaves out none of what is pending")
    func batches() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for index in 0..<7 {
                let book = Book(context: context)
                (book.title, book.pages) = ("\(index)", Int32(index))
            }
            try context.save()
            let child = child(of: context)
            try child.performAndWait {
                let request = NSFetchRequest<Book>(entityName: "Book")
                request.fetchBatchSize = 2
                request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
                let new = Book(context: child)
                (new.title, new.pages) = ("new", 3)
                let titles = try child.fetch(request).compactMap(\.title)
                #expect(titles.count == 8 && titles.contains("new") && titles.first == "0" && titles.last == "6")
            }
        }
    }
}
