import CoreData
import Foundation
import TestSupport
import Testing

// semantics R; the random edits are in FetchedResultsSpecification
@Suite struct NSFetchedResultsControllerTests {
    /// Writes down what it is told.
    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        var calls: [String] = []

        func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            calls.append("will")
        }

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
            didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
            for type: NSFetchedResultsChangeType
        ) {
            calls.append("\(type) section \(sectionInfo.name) at \(sectionIndex)")
        }

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            #expect(NSFetchedResultsController<Book>.cast(controller) === controller)
            let paths = [indexPath, newIndexPath].compactMap { $0.map { "\($0.section).\($0.row)" } }
            calls.append("\(type) \((anObject as? Book)?.title ?? "") \(paths.joined(separator: " to "))")
        }

        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            calls.append("did")
        }

        func taken() -> [String] {
            defer { calls = [] }
            return calls
        }
    }

    /// Implements nothing but titles.
    private final class Titles: NSObject, NSFetchedResultsControllerDelegate {
        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
            sectionIndexTitleForSectionName sectionName: String
        ) -> String? {
            sectionName == "0" ? nil : "#"
        }
    }

    private func fill(_ context: NSManagedObjectContext) throws {
        for (title, pages) in [("b", 1), ("a", 1), ("d", 2), ("c", 2), ("e", 3)] {
            let book = Book(context: context)
            book.title = title
            book.pages = Int32(pages)
        }
        try context.save()
    }

    private func controller(
        _ context: NSManagedObjectContext, _ sorts: [String] = ["pages", "title"], section: String? = "pages",
        _ change: (NSFetchRequest<Book>) -> Void = { _ in }
    ) -> NSFetchedResultsController<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = sorts.map { NSSortDescriptor(key: $0, ascending: true) }
        change(request)
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section, cacheName: nil)
    }

    private func text(_ controller: NSFetchedResultsController<Book>) -> [String] {
        (controller.sections ?? []).map { section in
            section.name + ":" + (section.objects as? [Book] ?? []).map { $0.title ?? "" }.joined()
        }
    }

    @Test("R1: no sort descriptors at all is an error, an empty list of them is none")
    func unsorted() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            try fill(context)
            let request = NSFetchRequest<Book>(entityName: "Book")
            let list = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            #expect(throws: CocoaError.self) { try list.performFetch() }
            request.sortDescriptors = []
            let listener = Listener()
            list.delegate = listener
            try list.performFetch()
            #expect(list.fetchedObjects?.compactMap(\.title).sorted() == ["a", "b", "c", "d", "e"])
            let book = Book(context: context)
            book.title = "f"
            context.processPendingChanges()
            #expect(list.fetchedObjects?.count == 6 && listener.taken().contains { $0.hasPrefix("insert f") })
            context.delete(book)
            context.processPendingChanges()
            #expect(list.fetchedObjects?.count == 5 && list.fetchedObjects?.contains(book) == false)
        }
    }

    @Test("R8, R9: sections, places and index titles", arguments: [0, 2])
    func sections(batchSize: Int) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            try fill(context)
            context.reset()
            let list = controller(context) { $0.fetchBatchSize = batchSize }
            #expect(list.fetchedObjects == nil && list.sections == nil)
            try list.performFetch()
            #expect(text(list) == ["1:ab", "2:cd", "3:e"])
            #expect(list.fetchedObjects?.map(\.title) == ["a", "b", "c", "d", "e"])
            let book = list.object(at: IndexPath(item: 1, section: 1))
            #expect(book.title == "d" && list.indexPath(forObject: book) == IndexPath(row: 1, section: 1))
            #expect(list.sectionIndexTitles == ["1", "2", "3"])
            #expect(list.section(forSectionIndexTitle: "2", at: 1) == 1)
            let titles = Titles()
            list.delegate = titles
            #expect(list.sectionIndexTitles == ["#"] && list.sections?.first?.indexTitle == "#")
        }
    }

    @Test("R12: with a batch size keys are read and sections are counted, and rows when they are looked at")
    func batches() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            try fill(context)
            context.reset()
            let list = controller(context) { $0.fetchBatchSize = 2 }
            let statements = try stack.statements { try list.performFetch() }
            #expect(statements.count == 2, "\(statements)")
            #expect(statements.contains { $0.contains("GROUP BY") }, "\(statements)")
            #expect(list.sections?.map(\.numberOfObjects) == [2, 2, 1])
        }
    }

    @Test("R1: what cannot be shown in sections is refused by name")
    func refusedRequests() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            try fill(context)
            #expect(throws: CocoaError.self) {
                try controller(context) { $0.resultType = .dictionaryResultType }.performFetch()
            }
            #expect(throws: CocoaError.self) { try controller(context, section: "chapters.title").performFetch() }
            #expect(throws: CocoaError.self) { try controller(context, section: "nothing").performFetch() }
            #expect(throws: CocoaError.self) { try controller(context, section: "title.nothing").performFetch() }
            // The sections stand next to each other, whatever they are sorted by.
            try controller(context, ["rating", "title"]).performFetch()
            let unsorted = controller(context, ["title"])
            let book = try #require(try context.all(Book.self, "Book", "title == 'a'").first)
            book.pages = 3
            let outOfOrder = #expect(throws: CocoaError.self) { try unsorted.performFetch() }
            #expect(outOfOrder?.localizedDescription.contains("out of order section name") == true)
            #expect(unsorted.sections == nil)
        }
    }

    @Test("R6: what changes in a related object is no update of the row, only a move where that changes its place")
    func relatedObjects() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for name in ["A", "C"] {
                let (author, book) = (Author(context: context), Book(context: context))
                (author.name, book.title, book.author) = (name, "of \(name)", author)
            }
            try context.save()
            let list = controller(context, ["author.name", "title"], section: nil) {
                $0.predicate = NSPredicate(format: "author.name != 'Z'")
            }
            let listener = Listener()
            list.delegate = listener
            try list.performFetch()
            let author = try #require(list.fetchedObjects?[0].author)
            author.name = "B"
            context.processPendingChanges()
            #expect(listener.taken() == [])
            author.name = "D"
            context.processPendingChanges()
            #expect(listener.taken() == ["will", "move of A 0.0 to 0.1", "did"])
            author.name = "Z"
            context.processPendingChanges()
            #expect(listener.taken() == ["will", "delete of A 0.1", "did"])
        }
    }

    @Test("R5: a section that loses all its rows, gets others and belongs elsewhere now leaves and comes again")
    func refilledSections() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            var (authors, books) = ([Author](), [Book]())
            for (index, name) in ["A", "B", "C"].enumerated() {
                let (author, book) = (Author(context: context), Book(context: context))
                (author.name, book.title, book.author) = (name, "of \(name)", author)
                author.setValue(Date(timeIntervalSinceReferenceDate: Double(index)), forKey: "born")
                authors.append(author)
                books.append(book)
            }
            try context.save()
            let list = controller(context, ["author.born", "author.name", "title"], section: "author.name")
            let listener = Listener()
            list.delegate = listener
            try list.performFetch()
            #expect(text(list) == ["A:of A", "B:of B", "C:of C"])
            authors[0].setValue(Date(timeIntervalSinceReferenceDate: 1.5), forKey: "born")
            (books[0].author, books[2].author) = (authors[2], authors[0])
            context.processPendingChanges()
            #expect(text(list) == ["B:of B", "A:of C", "C:of A"])
            #expect(
                listener.taken() == [
                    "will", "delete section B at 1", "insert section B at 0", "move of B 1.0 to 0.0",
                    "move of C 2.0 to 1.0", "move of A 0.0 to 2.0", "did",
                ])
        }
    }

    @Test("R3, R4, R5, R6: sections are told before objects, by old places what leaves and by new ones what arrives")
    func calls() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            try fill(context)
            let list = controller(context)
            let listener = Listener()
            list.delegate = listener
            try list.performFetch()
            #expect(listener.taken() == [])
            let books = try #require(list.fetchedObjects)

            books[0].rating = 2
            context.processPendingChanges()
            #expect(listener.taken() == ["will", "update a 0.0", "did"])  // R6
            books[4].pages = 0
            context.processPendingChanges()
            #expect(
                listener.taken() == [
                    "will", "delete section 3 at 2", "insert section 0 at 0", "move e 2.0 to 0.0", "did",
                ])
            context.delete(books[1])
            let new = Book(context: context)
            new.title = "bb"
            new.pages = 2
            context.processPendingChanges()  // R3: before they are saved
            #expect(listener.taken() == ["will", "delete b 1.1", "insert bb 2.0", "did"])
            #expect(text(list) == ["0:e", "1:a", "2:bbcd"])
            let author = Author(context: context)
            author.name = "Ann"
            context.processPendingChanges()
            #expect(listener.taken() == [])  // R5
            try context.save()
            #expect(listener.taken() == [])
            // R4: the rows of a section that goes are told of, too, and a row that moves out of it is not updated at the same place.
            context.delete(books[0])
            new.pages = 0
            new.rating = 3
            books[2].title = "cc"
            context.processPendingChanges()
            #expect(
                listener.taken() == [
                    "will", "delete section 1 at 1", "delete a 1.0", "update cc 2.1", "move bb 2.0 to 0.0", "did",
                ])
        }
    }

    @Test("R2, R10: without a delegate nothing is followed, nor after a reset; a delegate hears of what was missed")
    func following() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            try fill(context)
            let list = controller(context)
            try list.performFetch()
            context.delete(try #require(list.fetchedObjects?.first))
            context.processPendingChanges()
            #expect(list.fetchedObjects?.count == 5)
            let listener = Listener()
            list.delegate = listener
            list.fetchedObjects?[2].rating = 1
            context.processPendingChanges()
            #expect(listener.taken() == ["will", "delete a 0.0", "update c 1.0", "did"])
            context.reset()
            let book = Book(context: context)
            book.title = "new"
            context.processPendingChanges()
            #expect(listener.taken() == [])
            try list.performFetch()
            #expect(text(list) == ["0:new", "1:ab", "2:cd", "3:e"])
        }
    }

    @Test("what another coordinator saved shows when its history is merged, also objects that were not known")
    func otherProcesses() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            try fill(context)
            context.reset()
            let list = controller(context) { $0.predicate = NSPredicate(format: "pages > 1") }
            let listener = Listener()
            list.delegate = listener
            try list.performFetch()
            let other = try LibraryStack(opening: stack.url)
            let ids = try other.story { context in
                let book = try #require(try context.all(Book.self, "Book", "title == 'a'").first)
                book.pages = 7
                try context.save()
                return [book.objectID.uriRepresentation()]
            }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context])
            #expect(listener.taken() == ["will", "insert section 7 at 2", "insert a 2.0", "did"])
            let request = NSBatchUpdateRequest(entityName: "Book")
            request.propertiesToUpdate = ["pages": 2]
            request.mergesInto = [context]
            try context.execute(request)
            #expect(text(list) == ["2:abcde"])
        }
    }

    @Test(
        "a sequence of differences goes on after a reset of the context", .timeLimit(.minutes(Sanitizer.minutes(1))))
    func changesAfterReset() async throws {
        let stack = try LibraryStack()
        let context = stack.newContext()
        try await context.perform { try fill(context) }
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        var ids: [NSManagedObjectID] = []
        var counts: [Int] = []
        for try await difference in context.changes(of: request) {
            ids = try #require(ids.applying(difference))
            counts.append(ids.count)
            let known = ids
            switch counts.count {
            case 1: await context.perform { Book(context: context).title = "0" }
            case 2: await context.perform { context.reset() }
            case 3: await context.perform { context.delete(context.object(with: known[0])) }
            default: break
            }
            if counts.count == 4 { break }
        }
        #expect(counts == [5, 6, 5, 4])
        let left = try await context.perform { try context.all(Book.self, "Book").map(\.objectID) }
        #expect(Set(left) == Set(ids))
    }

    @Test("an event of 1,000 edits costs no more in 20,000 rows than what grows with their logarithm")
    func growth() throws {
        func seconds(rows: Int) throws -> Double {
            let stack = try LibraryStack()
            return try stack.story { context in
                try context.execute(
                    NSBatchInsertRequest(
                        entityName: "Book",
                        objects: (0..<rows).map { ["title": "book \($0)", "pages": $0 % 50, "rating": Double($0)] }))
                let list = controller(context, ["pages", "rating"])
                let listener = Listener()
                list.delegate = listener
                try list.performFetch()
                let books = try #require(list.fetchedObjects)
                // Makes the index.
                books[0].rating = 0.5
                context.processPendingChanges()
                let clock = ContinuousClock()
                let time = clock.measure {
                    for index in 0..<200 {
                        books[index * (books.count / 200)].rating = Double(index * 7 % 400)
                        context.processPendingChanges()
                    }
                }
                #expect(listener.calls.count > 400)
                return time / .seconds(1)
            }
        }
        let small = try seconds(rows: 1000)
        let large = try seconds(rows: 20_000)
        #expect(large < small * 8, "200 edits: \(small) s in 1,000 rows, \(large) s in 20,000")
    }

    @Test func differencesComeAsASequence() async throws {
        let stack = try LibraryStack()
        let context = stack.context
        try stack.story { try fill($0) }
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        var ids: [NSManagedObjectID] = []
        var rounds = 0
        for try await difference in context.changes(of: request) {
            ids = try #require(ids.applying(difference))
            rounds += 1
            let known = ids
            if rounds == 1 {
                #expect(known.count == 5)
                await context.perform { context.delete(context.object(with: known[1])) }
            } else {
                #expect(known.count == 4)
                break
            }
        }
    }

    @Test("a snapshot can be edited, and finds what is in it")
    func snapshots() {
        var snapshot = NSDiffableDataSourceSnapshot<String, Int>()
        snapshot.appendSections(["a", "b"])
        snapshot.appendItems([1, 2], toSection: "a")
        snapshot.appendItems([5])
        snapshot.insertItems([3, 4], afterItem: 2)
        snapshot.insertItems([0], beforeItem: 1)
        #expect(snapshot.itemIdentifiers == [0, 1, 2, 3, 4, 5] && snapshot.itemIdentifiers(inSection: "b") == [5])
        #expect(snapshot.indexOfItem(5) == 5 && snapshot.indexOfItem(9) == nil)
        snapshot.moveItem(0, afterItem: 5)
        snapshot.deleteItems([2, 9])
        snapshot.reloadItems([3, 3])
        snapshot.insertSections(["c"], beforeSection: "b")
        snapshot.moveSection("a", afterSection: "b")
        #expect(snapshot.sectionIdentifiers == ["c", "b", "a"] && snapshot.indexOfSection("a") == 2)
        #expect(snapshot.itemIdentifiers == [5, 0, 1, 3, 4] && snapshot.numberOfItems(inSection: "c") == 0)
        #expect(snapshot.sectionIdentifier(containingItem: 0) == "b" && snapshot.reloadedItemIdentifiers == [3])
        snapshot.deleteSections(["a"])
        #expect(snapshot.numberOfItems == 2 && snapshot.reloadedItemIdentifiers.isEmpty)
        let reference = NSDiffableDataSourceSnapshotReference()
        reference.appendSections(withIdentifiers: ["x"])
        reference.appendItems(withIdentifiers: [7, 8])
        #expect(reference.index(ofItemIdentifier: 8) == 1 && reference.index(ofItemIdentifier: 9) == NSNotFound)
        #expect(NSDiffableDataSourceSnapshot<String, Int>(reference).itemIdentifiers == [7, 8])
    }
}
