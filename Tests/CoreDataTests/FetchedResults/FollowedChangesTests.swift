import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// Lists that follow what nobody did to their objects here: other IDs, derived values, another process.
@Suite struct FollowedChangesTests {
    /// Applies each difference to the one before.
    private final class Differences: NSObject, NSFetchedResultsControllerDelegate {
        var items: [NSManagedObjectID] = []
        var onChange: () -> Void = {}

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
            didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
        ) {
            for case .remove(let offset, let id, _) in diff { #expect(items[offset] == id) }
            items = items.applying(diff) ?? []
            onChange()
        }
    }

    /// Keeps every snapshot.
    private final class Snapshots: NSObject, NSFetchedResultsControllerDelegate {
        var all: [NSDiffableDataSourceSnapshot<String, NSManagedObjectID>] = []

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
            didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
        ) { all.append(NSDiffableDataSourceSnapshot(snapshot)) }
    }

    @Test("R7: a snapshot comes with the first fetch and with every change, and names what is to be drawn anew")
    func snapshots() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let books = ["a", "b", "c"].map { title in
                let book = Book(context: context)
                (book.title, book.pages) = (title, title == "c" ? 2 : 1)
                return book
            }
            try context.save()
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.sortDescriptors = ["pages", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
            let list = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "pages", cacheName: nil)
            let snapshots = Snapshots()
            list.delegate = snapshots
            try list.performFetch()
            #expect(snapshots.all.count == 1 && snapshots.all[0].sectionIdentifiers == ["1", "2"])
            #expect(snapshots.all[0].itemIdentifiers == books.map(\.objectID))
            #expect(snapshots.all[0].reloadedItemIdentifiers.isEmpty)
            books[1].rating = 3
            context.processPendingChanges()
            #expect(snapshots.all.count == 2 && snapshots.all[1].itemIdentifiers == books.map(\.objectID))
            #expect(snapshots.all[1].reloadedItemIdentifiers == [books[1].objectID])
            books[0].pages = 2
            context.processPendingChanges()
            #expect(snapshots.all.last?.itemIdentifiers == [1, 0, 2].map { books[$0].objectID })
            #expect(snapshots.all.last?.itemIdentifiers(inSection: "2").count == 2)
            Author(context: context).name = "nobody's"
            context.processPendingChanges()
            #expect(snapshots.all.count == 3)
        }
    }

    @Test("K3, R7: a child's list is told once of what the child saves, and not again when its parent saves it")
    func savesOfTheParentAreNotToldAgain() async throws {
        let stack = try LibraryStack()
        let (parent, child) = (stack.context, NSManagedObjectContext(.privateQueue))
        child.parent = parent
        child.automaticallyMergesChangesFromParent = true
        nonisolated(unsafe) let snapshots = Snapshots()
        nonisolated(unsafe) var list: NSFetchedResultsController<Book>?
        try await child.perform {
            let author = Author(context: child)
            author.name = "Ann"
            try child.save()
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let made = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: child, sectionNameKeyPath: nil, cacheName: nil)
            made.delegate = snapshots
            try made.performFetch()
            list = made
            for title in ["a", "b"] {
                let book = Book(context: child)
                (book.title, book.author) = (title, author)
            }
            try child.save()
            #expect(snapshots.all.count == 2)
        }
        // The delegate learns of the new IDs, and of nothing else.
        try await parent.perform { try parent.save() }
        try await child.perform {
            let reloaded = snapshots.all.dropFirst(2).flatMap(\.reloadedItemIdentifiers)
            #expect(snapshots.all.count <= 3 && reloaded.isEmpty)
            #expect(list?.fetchedObjects?.map(\.title) == ["a", "b"])
            #expect(snapshots.all.last?.itemIdentifiers == list?.fetchedObjects?.map(\.objectID))
            snapshots.all = []
            list?.fetchedObjects?.first?.pages = 5
            try child.save()
            #expect(snapshots.all.count == 1)
        }
        try await parent.perform { try parent.save() }
        await child.perform { #expect(snapshots.all.count == 1) }
        // What the parent changed itself is told.
        try await parent.perform {
            try parent.all(Book.self, "Book", "title == 'b'")[0].pages = 7
            let book = Book(context: parent)
            book.title = "c"
            try parent.save()
        }
        await child.perform {
            #expect(snapshots.all.count == 2)
            #expect(list?.fetchedObjects?.map(\.title) == ["a", "b", "c"])
            #expect(list?.fetchedObjects?.map(\.pages) == [5, 7, 0])
            list = nil
        }
    }

    private func makeList<T: NSManagedObject>(
        of entity: String, _ context: NSManagedObjectContext, format: String? = nil, by key: String,
        _ delegate: Differences
    ) throws -> NSFetchedResultsController<T> {
        let request = NSFetchRequest<T>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        controller.delegate = delegate
        try controller.performFetch()
        delegate.items = (controller.fetchedObjects ?? []).map(\.objectID)
        return controller
    }

    @Test func anInsertionThatWasUndoneAndDoneAgainIsToldByItsNewID() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            context.undoManager = UndoManager()
            let delegate = Differences()
            let list: NSFetchedResultsController<Book> = try makeList(of: "Book", context, by: "title", delegate)
            func check(_ step: String) {
                #expect(delegate.items == (list.fetchedObjects ?? []).map(\.objectID), "\(step)")
            }
            Book(context: context).title = "A"
            context.processPendingChanges()
            check("inserted")
            context.undo()
            context.processPendingChanges()
            check("undone")
            try context.save()
            context.redo()
            context.processPendingChanges()
            check("done again")
            try context.save()
            #expect(delegate.items.count == 1 && !delegate.items[0].isTemporaryID)
            check("saved")
            context.undo()
            context.processPendingChanges()
            check("undone after the save")
            try context.save()
            context.redo()
            context.processPendingChanges()
            try context.save()
            check("done again after the save")
        }
    }

    @Test(
        "R7: an object that the merge policy deletes in a save leaves the list with it",
        arguments: [NSMergePolicy.mergeByPropertyStoreTrump, .rollback] as [NSMergePolicy])
    func lostInASave(_ policy: NSMergePolicy) throws {
        let stack = try LibraryStack()
        let other = stack.newContext()
        try stack.story { context throws in
            context.mergePolicy = policy
            for title in ["A", "B"] { Book(context: context).title = title }
            try context.save()
            let delegate = Differences()
            let list: NSFetchedResultsController<Book> = try makeList(of: "Book", context, by: "title", delegate)
            let book = try #require(list.fetchedObjects?.first)
            let id = book.objectID
            #expect(book.title == "A")
            try other.performAndWait {
                other.delete(try other.existingObject(with: id))
                try other.save()
            }
            book.title = "C"
            context.processPendingChanges()
            #expect(list.fetchedObjects?.map(\.title) == ["B", "C"])
            try context.save()
            #expect(list.fetchedObjects?.map(\.title) == ["B"])
            #expect(delegate.items == list.fetchedObjects?.map(\.objectID))
        }
    }

    @Test("A merge brings members to a fault that has lost some here, and whose members somebody asked for")
    func membersOfFaults() throws {
        let stack = try LibraryStack()
        let (context, other) = (stack.newContext(), stack.newContext())
        let (first, second, tagID) = try other.performAndWait {
            let (first, second, tag) = (Book(context: other), Book(context: other), Tag(context: other))
            (first.title, second.title, tag.name) = ("first", "second", "new")
            first.tags = [tag]
            try other.save()
            return (first.objectID, second.objectID, tag.objectID)
        }
        try context.performAndWait {
            let delegate = Differences()
            let list: NSFetchedResultsController<Book> = try makeList(
                of: "Book", context, format: "ANY tags.name == 'new'", by: "title", delegate)
            #expect(list.fetchedObjects?.map(\.objectID) == [first])
            // The list asks the tag, which is a fault, for the books that it has still.
            list.fetchedObjects?.first?.mutableSetValue(forKey: "tags").remove(context.object(with: tagID))
            context.processPendingChanges()
            #expect(delegate.items == [])
            let saved = try other.performAndWait { () throws -> [AnyHashable: Any] in
                let (book, tag) = (try other.existingObject(with: second), try other.existingObject(with: tagID))
                book.mutableSetValue(forKey: "tags").add(tag)
                try other.save()
                return [NSUpdatedObjectIDsKey: [second, tagID]]
            }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: saved, into: [context])
            #expect(delegate.items == [second])
            let tag = try #require(context.object(with: tagID) as? Tag)
            #expect(tag.books.map(\.objectID) == [second])
            // What depends on the tag is found through it.
            tag.name = "old"
            context.processPendingChanges()
            #expect(delegate.items == [])
        }
    }

    @Test func whatADelegateSavesWhileItIsToldIsToldByItsNewID() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let delegate = Differences()
            let list: NSFetchedResultsController<Book> = try makeList(of: "Book", context, by: "title", delegate)
            delegate.onChange = { [unowned delegate] in
                delegate.onChange = {}
                do { try context.save() } catch { Issue.record(error) }
            }
            Book(context: context).title = "A"
            context.processPendingChanges()
            #expect(delegate.items == (list.fetchedObjects ?? []).map(\.objectID))
            #expect(delegate.items.count == 1 && !delegate.items[0].isTemporaryID)
        }
    }

    // MARK: Derived attributes

    private func shelfModel() -> NSManagedObjectModel {
        let (shelf, item) = (Library.entity("Shelf", nil), Library.entity("Item", nil))
        let (toShelf, toItems) = Library.pair("shelf", of: item, "items", of: shelf)
        let count = NSDerivedAttributeDescription()
        count.name = "itemCount"
        count.attributeType = .integer64AttributeType
        count.derivationExpression = NSExpression(format: "items.@count")
        shelf.properties = [Library.attribute("name", .stringAttributeType), count, toItems]
        item.properties = [Library.attribute("name", .stringAttributeType), toShelf]
        let model = NSManagedObjectModel()
        model.entities = [shelf, item]
        return model
    }

    @Test("derived attributes that triggers change in a save bring rows into the list, move them and take them out")
    func derivedAttributes() throws {
        let stack = try LibraryStack(model: shelfModel())
        try stack.story { context in
            func insert(_ entity: String, _ name: String) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                object.setValue(name, forKey: "name")
                return object
            }
            let shelves = ["a", "b"].map { insert("Shelf", $0) }
            try context.save()
            let delegate = Differences()
            let list: NSFetchedResultsController<NSManagedObject> = try makeList(
                of: "Shelf", context, format: "itemCount > 0", by: "itemCount", delegate)
            func shown() -> [String] {
                #expect(delegate.items == (list.fetchedObjects ?? []).map(\.objectID))
                return delegate.items.map { context.object(with: $0).value(forKey: "name") as? String ?? "" }
            }
            #expect(shown() == [])
            let item = insert("Item", "1")
            item.setValue(shelves[0], forKey: "shelf")
            try context.save()
            #expect(shown() == ["a"])
            for name in ["2", "3"] { insert("Item", name).setValue(shelves[1], forKey: "shelf") }
            try context.save()
            #expect(shown() == ["a", "b"])
            for name in ["4", "5"] { insert("Item", name).setValue(shelves[0], forKey: "shelf") }
            try context.save()
            #expect(shown() == ["b", "a"])
            for object in try context.all(NSManagedObject.self, "Item", "shelf.name == 'b'") { context.delete(object) }
            try context.save()
            #expect(shown() == ["a"])
        }
    }

    // MARK: Another process

    @Test(.timeLimit(.minutes(Sanitizer.minutes(2)))) func aListShowsWhatAnotherProcessWrites() async throws {
        let stack = try HistoryStack()
        let context = stack.newContext()
        // Safe because they are used on the context's queue.
        nonisolated(unsafe) let delegate = Differences()
        nonisolated(unsafe) var made: NSFetchedResultsController<Tag>?
        try await context.perform { made = try makeList(of: "Tag", context, by: "name", delegate) }
        nonisolated(unsafe) let list = try #require(made)
        let (notes, told) = AsyncStream<Void>.makeStream()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: stack.coordinator, queue: nil
        ) { _ in told.yield() }
        defer { NotificationCenter.default.removeObserver(observer) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("HistoryWriter")
        process.arguments = [stack.url.path, "40"]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        var token: NSPersistentHistoryToken?
        var count = 0
        for await _ in notes {
            (token, count) = try await context.perform { [token] in
                var last = token
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                let result = try context.execute(request) as? NSPersistentHistoryResult
                for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
                    context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                    last = transaction.token
                }
                return (last, list.fetchedObjects?.count ?? 0)
            }
            if count == 40 { break }
        }
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        await context.perform {
            let names = (list.fetchedObjects ?? []).compactMap(\.name)
            #expect(names.count == 40 && names == names.sorted())
            #expect(delegate.items == (list.fetchedObjects ?? []).map(\.objectID))
        }
    }
}
