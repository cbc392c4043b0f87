import CoreData
import Foundation
import Synchronization
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

    @Test(.timeLimit(.minutes(1))) func aListShowsWhatAnotherProcessWrites() async throws {
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
