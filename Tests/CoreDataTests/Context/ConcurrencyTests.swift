import CoreData
import Foundation
import Testing

// semantics Q: queues; L: merging
@Suite struct ConcurrencyTests {
    @Test("Q2: performAndWait is reentrant, also through another context")
    func reentrance() throws {
        let stack = try LibraryStack()
        let other = stack.newContext()
        let context = stack.context
        let depth = context.performAndWait {
            context.performAndWait { other.performAndWait { context.performAndWait { 4 } } }
        }
        #expect(depth == 4)
    }

    @Test("Q2: blocks of perform run one after another, in order, and their changes are processed")
    func order() async throws {
        let stack = try LibraryStack()
        let context = stack.context
        let log = NotificationLog(.NSManagedObjectContextObjectsDidChange, context)
        for index in 0..<20 { enqueue("\(index)", in: context) }
        let names = await context.perform(schedule: .enqueued) {
            context.insertedObjects.compactMap { ($0 as? Tag)?.name }.count
        }
        #expect(names == 20)
        #expect(log.userInfos.count == 20)
    }

    /// In an asynchronous function the asynchronous `perform` would be meant.
    private func enqueue(_ name: String, in context: NSManagedObjectContext) {
        context.perform { Tag(context: context).name = name }
    }

    @Test("Q3: perform returns values and rethrows errors")
    func values() async throws {
        let stack = try LibraryStack()
        let context = stack.context
        let answer = await context.perform { 42 }
        #expect(answer == 42)
        await #expect(throws: CocoaError.self) { try await context.perform { throw CocoaError(.coreData) } }
    }

    @Test("Q3: a block runs though its task was cancelled before it began")
    func cancellation() async throws {
        let stack = try LibraryStack()
        let context = stack.context
        let gate = DispatchSemaphore(value: 0)
        hold(context, until: gate)
        let task = Task {
            await context.perform(schedule: .enqueued) {
                Tag(context: context).name = "made"
                return context.insertedObjects.count
            }
        }
        task.cancel()
        gate.signal()
        #expect(await task.value == 1 && task.isCancelled)
    }

    /// In an asynchronous function nobody may wait for a semaphore.
    private func hold(_ context: NSManagedObjectContext, until gate: DispatchSemaphore) {
        context.perform { gate.wait() }
    }

    @Test("L3: what a batch request writes is not merged by itself, and is by the IDs that it tells")
    func batches() async throws {
        let stack = try LibraryStack()
        let (context, other) = (stack.context, stack.newContext())
        context.automaticallyMergesChangesFromParent = true
        let id = try await context.perform {
            context.retainsRegisteredObjects = true
            let book = Book(context: context)
            book.title = "old"
            try context.save()
            return book.objectID
        }
        let ids = try await other.perform {
            let request = NSBatchUpdateRequest(entityName: "Book")
            request.propertiesToUpdate = ["title": "new"]
            request.resultType = .updatedObjectIDsResultType
            let result = try other.execute(request) as? NSBatchUpdateResult
            return result?.result as? [NSManagedObjectID] ?? []
        }
        #expect(ids == [id])
        func title() async -> String? {
            await context.perform(schedule: .enqueued) { (context.object(with: id) as? Book)?.title }
        }
        #expect(await title() == "old")
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context])
        #expect(await title() == "new")
        await context.perform { context.retainsRegisteredObjects = false }
        context.automaticallyMergesChangesFromParent = false
    }

    @Test("Many contexts write at once; nothing is lost")
    func writers() async throws {
        let stack = try LibraryStack()
        let coordinator = stack.coordinator
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    let context = NSManagedObjectContext(.privateQueue)
                    context.persistentStoreCoordinator = coordinator
                    for index in 0..<10 {
                        try await context.perform {
                            let book = Book(context: context)
                            book.title = "\(writer)-\(index)"
                            try context.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try stack.story { context in
            let books = try context.all(Book.self, "Book")
            #expect(books.count == 80)
            #expect(Set(books.map(\.objectID)).count == 80)
        }
    }

    @Test("L1, L4: merging a save refreshes, inserts and deletes, and keeps unsaved changes")
    func merging() throws {
        let stack = try LibraryStack()
        let other = stack.newContext()
        try stack.story { context in
            let kept = Book(context: context)
            kept.title = "kept"
            let doomed = Book(context: context)
            doomed.title = "doomed"
            try context.save()
            kept.isbn = "mine"
            let saves = NotificationSaves(other)
            try other.performAndWait {
                let same = try #require(other.object(with: kept.objectID) as? Book)
                same.title = "theirs"
                Book(context: other).title = "new"
                other.delete(other.object(with: doomed.objectID))
                try other.save()
            }
            context.mergeChanges(fromContextDidSave: try #require(saves.last))
            #expect(kept.title == "theirs")
            #expect(kept.isbn == "mine")
            #expect(doomed.managedObjectContext == nil)
            try context.save()
            #expect(try context.all(Book.self, "Book").count == 2)
        }
    }
}

/// The notifications of a context's saves.
final class NotificationSaves {
    private final class Entries: @unchecked Sendable { var last: Notification? }

    private let entries = Entries()
    private let token: any NSObjectProtocol

    init(_ context: NSManagedObjectContext, _ name: NSNotification.Name = .NSManagedObjectContextDidSave) {
        let entries = entries
        token = NotificationCenter.default.addObserver(
            forName: name, object: context, queue: nil
        ) { entries.last = $0 }
    }

    deinit { NotificationCenter.default.removeObserver(token) }

    var last: Notification? { entries.last }
}
