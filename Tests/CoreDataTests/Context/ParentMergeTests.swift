import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// Semantics K3, L2, L3: children that merge by themselves follow what their parent merges.
@Suite struct ParentMergeTests {
    enum Way: CaseIterable { case notification, identifiers, remote, automatic }

    /// A list that writes down what it is told.
    private final class Titles: NSObject, NSFetchedResultsControllerDelegate, @unchecked Sendable {
        // Safe because it is used on its context's queue.
        let controller: NSFetchedResultsController<Book>
        var calls: [String] = []

        init(_ context: NSManagedObjectContext) throws {
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            super.init()
            controller.delegate = self
            try controller.performFetch()
        }

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            calls.append("\(type) \((anObject as? Book)?.title ?? "")")
        }

        func taken() -> [String] {
            defer { calls = [] }
            return calls.sorted()
        }

        var titles: [String] { controller.fetchedObjects?.map { $0.title ?? "" } ?? [] }
    }

    private func child(of parent: NSManagedObjectContext, merges: Bool = true) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        child.automaticallyMergesChangesFromParent = merges
        return child
    }

    /// Runs the body and then what waits on the queue.
    private func settle(_ contexts: NSManagedObjectContext...) async {
        for _ in 0..<3 { for context in contexts { await context.perform(schedule: .enqueued) {} } }
    }

    @Test("K3, L3: what the parent merges arrives in its children and theirs", arguments: Way.allCases)
    func merges(_ way: Way) async throws {
        let stack = try LibraryStack()
        let (parent, sibling) = (stack.context, stack.newContext())
        let middle = child(of: parent)
        let leaf = child(of: middle)
        let bystander = child(of: parent, merges: false)
        parent.automaticallyMergesChangesFromParent = way == .automatic
        let ids = try await parent.perform {
            let books = ["a", "b", "c"].map { title in
                let book = Book(context: parent)
                book.title = title
                return book
            }
            try parent.save()
            return books.map(\.objectID)
        }
        let lists = try await [
            middle.perform { try Titles(middle) }, leaf.perform { try Titles(leaf) },
            bystander.perform { try Titles(bystander) },
        ]
        // What it has read stays as it was.
        await bystander.perform { #expect(lists[2].titles == ["a", "b", "c"]) }
        await leaf.perform {
            // A change of its own stays.
            (leaf.object(with: ids[0]) as? Book)?.pages = 5
            leaf.processPendingChanges()
            _ = lists[1].taken()
        }
        let saves = NotificationSaves(
            sibling,
            way == .identifiers ? NSManagedObjectContext.didSaveObjectIDsNotification : .NSManagedObjectContextDidSave)
        try await sibling.perform {
            (sibling.object(with: ids[0]) as? Book)?.title = "A"
            sibling.delete(sibling.object(with: ids[1]))
            let book = Book(context: sibling)
            book.title = "new"
            try sibling.save()
        }
        nonisolated(unsafe) let saved = try #require(saves.last)
        switch way {
        case .notification, .identifiers: await parent.perform { parent.mergeChanges(fromContextDidSave: saved) }
        case .remote:
            nonisolated(unsafe) var data: [AnyHashable: Any] = [:]
            for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
                data[key] = (saved.userInfo?[key] as? Set<NSManagedObject>)?.map { $0.objectID.uriRepresentation() }
            }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: data, into: [parent])
        case .automatic: break
        }
        await settle(parent, middle, leaf, bystander)
        for (context, list) in zip([middle, leaf], lists) {
            await context.perform {
                #expect(list.titles == ["A", "c", "new"], "\(way)")
                let told = list.taken().map { $0.split(separator: " ").last.map(String.init) ?? "" }
                #expect(told.contains("A") && told.contains("new") && !told.contains("c"), "\(way) \(told)")
                #expect(list.calls.isEmpty)
            }
        }
        await leaf.perform {
            let book = leaf.object(with: ids[0]) as? Book
            #expect(book?.title == "A" && book?.pages == 5 && book?.isUpdated == true)
            #expect(leaf.registeredObject(for: ids[1]) == nil)
        }
        await bystander.perform { #expect(lists[2].titles == ["a", "b", "c"] && lists[2].taken().isEmpty) }
        await parent.perform { parent.automaticallyMergesChangesFromParent = false }
    }

    @Test(
        "K3: a child's list is told once of what the child saved, and once of what the parent made of it",
        arguments: [false, true])
    func toldOnce(_ knowsMembers: Bool) async throws {
        let stack = try LibraryStack()
        let parent = stack.context
        let child = child(of: parent)
        let list = try await child.perform { try Titles(child) }
        let notes = Mutex(0)
        nonisolated(unsafe) let book = try await child.perform {
            let book = Book(context: child)
            book.title = "a"
            book.tags = [Tag(context: child)]
            book.tags.first?.name = "t"
            let chapter = Chapter(context: child)
            (chapter.title, chapter.book) = ("one", book)
            book.author = Author(context: child)
            book.author?.name = "Ann"
            try child.save()
            if knowsMembers {
                #expect(book.tags.count == 1 && book.chapters.count == 1 && book.author?.books.count == 1)
            }
            return book
        }
        await child.perform { #expect(list.taken().count == 1) }
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: child, queue: nil
        ) { _ in notes.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(token) }
        try await parent.perform { try parent.save() }
        await settle(parent, child)
        await child.perform { #expect(list.taken() == [], "inserted by the child, saved by the parent") }
        try await child.perform {
            book.title = "b"
            try child.save()
            #expect(list.taken().count == 1)
        }
        try await parent.perform { try parent.save() }
        await settle(parent, child)
        await child.perform { #expect(list.taken() == [], "changed by the child, saved by the parent") }
        try await child.perform {
            let chapter = Chapter(context: child)
            (chapter.title, chapter.book) = ("two", book)
            book.tags = []
            try child.save()
            _ = list.taken()
            if knowsMembers { #expect(book.tags.isEmpty && book.chapters.count == 2) }
        }
        try await parent.perform { try parent.save() }
        await settle(parent, child)
        await child.perform { #expect(list.taken() == [], "related by the child, saved by the parent") }
        let id = await child.perform { book.objectID }
        try await parent.perform {
            (parent.object(with: id) as? Book)?.title = "c"
            try parent.save()
        }
        await settle(parent, child)
        await child.perform {
            #expect(list.taken().count == 1 && book.title == "c")
            #expect(book.chapters.map(\.title) == ["one", "two"])
        }
        try await parent.perform {
            let chapter = Chapter(context: parent)
            (chapter.title, chapter.book) = ("three", parent.object(with: id) as? Book)
            try parent.save()
        }
        await settle(parent, child)
        await child.perform { #expect(book.chapters.map(\.title) == ["one", "two", "three"]) }
    }
}
