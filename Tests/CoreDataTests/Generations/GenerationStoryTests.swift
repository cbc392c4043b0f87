import CoreData
import Foundation
import Testing

/// A list that stays as it is while others write.
@Suite struct GenerationStoryTests {
    @Test func aListKeepsItsContentWhileAnotherContextAndAnotherProcessWrite() throws {
        let stack = try GenerationStack(options: [NSPersistentHistoryTrackingKey: NSNumber(value: true)])
        try stack.add("A", "B", "C")
        let view = stack.context
        try view.performAndWait {
            try view.setQueryGenerationFrom(.current)
            let list = NSFetchRequest<Book>(entityName: "Book")
            list.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            list.fetchBatchSize = 1
            let books = try view.fetch(list)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
                .deletingLastPathComponent().appendingPathComponent("HistoryWriter")
            process.arguments = [stack.url.path, "500"]
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            for number in 0..<500 {
                try stack.save { other in
                    let book = Book(context: other)
                    book.title = "\(number)"
                    for found in try other.all(Book.self, "Book", "title IN {'A', 'B', 'C'}") where number > 250 {
                        other.delete(found)
                    }
                }
                if number % 50 == 0 {
                    #expect(try view.storedTitles() == ["A", "B", "C"])
                    #expect(try view.count(for: NSFetchRequest<Tag>(entityName: "Tag")) == 0)
                }
            }
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            // Each row is read now.
            #expect(books.map(\.title) == ["A", "B", "C"])
            #expect(try view.storedTitles() == ["A", "B", "C"])
            try view.setQueryGenerationFrom(.current)
            view.refreshAllObjects()
            #expect(try view.countOfBooks() == 500)
            #expect(try view.count(for: NSFetchRequest<Tag>(entityName: "Tag")) == 500)
        }
    }

    @Test func aStoreThatWasMigratedIsNoLongerReadByThoseWhoWerePinnedToIt() throws {
        let stack = try GenerationStack()
        try stack.add("A", "B")
        let view = stack.context
        try view.performAndWait {
            try view.setQueryGenerationFrom(.current)
            #expect(try view.countOfBooks() == 2)
            let coordinator = try #require(view.persistentStoreCoordinator)
            let target = stack.url.deletingLastPathComponent().appendingPathComponent("Moved.sqlite")
            try coordinator.migratePersistentStore(
                try #require(coordinator.persistentStores.first), to: target, type: .sqlite)
            // Not nothing without a word.
            #expect(throws: CocoaError.self) { try view.countOfBooks() }
            #expect(throws: CocoaError.self) { try view.storedTitles() }
            #expect(throws: CocoaError.self) { try view.all(Book.self, "Book") }
            view.refreshAllObjects()
            #expect(try view.countOfBooks() == 2)
            #expect(try view.storedTitles() == ["A", "B"])
        }
    }

    @Test func aControllerInAPinnedContextMovesForward() throws {
        let stack = try GenerationStack()
        let ids = try stack.add("A", "B", "C")
        let view = stack.context
        try view.performAndWait {
            try view.setQueryGenerationFrom(.current)
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: view, sectionNameKeyPath: nil, cacheName: nil)
            // Only a controller with a delegate follows.
            let delegate = Delegate()
            controller.delegate = delegate
            try controller.performFetch()
            func shown() -> [String?] { (controller.fetchedObjects ?? []).map(\.title) }
            #expect(shown() == ["A", "B", "C"])
            try stack.rename(ids[0], "Z")
            try stack.save { $0.delete($0.object(with: ids[1])) }
            let new = try stack.add("M")
            #expect(shown() == ["A", "B", "C"])
            #expect(try view.storedTitles() == ["A", "B", "C"])
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [
                    NSUpdatedObjectsKey: [ids[0]], NSDeletedObjectsKey: [ids[1]], NSInsertedObjectsKey: new,
                ], into: [view])
            #expect(shown() == ["C", "M", "Z"])
            try stack.add("N")
            #expect(try view.storedTitles() == ["C", "M", "Z"])
            try controller.performFetch()
            #expect(shown() == ["C", "M", "Z"])
            withExtendedLifetime(delegate) {}
        }
    }

    private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
    }

    @Test func contextsOnSeveralThreadsReadOneGeneration() async throws {
        let stack = try GenerationStack()
        for number in 0..<20 { try stack.add("\(number)") }
        let first = stack.context
        try await first.perform {
            try first.setQueryGenerationFrom(.current)
            _ = try first.countOfBooks()
        }
        let token = first.queryGenerationToken
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                let context = stack.newContext()
                group.addTask {
                    try await context.perform {
                        try context.setQueryGenerationFrom(token)
                        for _ in 0..<30 {
                            #expect(try context.titles().count == 20)
                            context.refreshAllObjects()
                        }
                    }
                }
            }
            let writer = stack.newContext()
            group.addTask {
                for number in 0..<60 {
                    try await writer.perform {
                        Book(context: writer).title = "new \(number)"
                        try writer.save()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await first.perform { try first.countOfBooks() } == 20)
    }
}
