import CoreData
import CoreDataToolkit
import Foundation
import TestSupport
import Testing

@Suite struct CoreDataStackTests {
    @Test(arguments: [CoreDataStack.Options.ViewQueue.main, .private])
    func savesUpTheChainIntoAStoreThatIsThereNextTime(queue: CoreDataStack.Options.ViewQueue) async throws {
        let grocery = try Grocery()
        var options = CoreDataStack.Options()
        options.viewQueue = queue
        let stack = try await grocery.makeStack(options)
        await stack.inView { context in
            NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue("Milk", forKey: "name")
        }
        try await stack.save()
        #expect(stack.viewContext.parent === stack.parentContext)
        try await stack.removeStores()
        let again = try await grocery.makeStack(options)
        #expect(try await again.texts("Item", "name") == ["Milk"])
    }

    @Test func aProgramWithoutTasksSetsUpAndSaves() throws {
        let grocery = try Grocery()
        let stack = try CoreDataStack(model: Grocery.model(), storeURL: grocery.storeURL, options: .server)
        stack.viewContext.performAndWait {
            _ = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: stack.viewContext)
        }
        try stack.saveAndWait()
        let other = try CoreDataStack(model: Grocery.model(), storeURL: grocery.storeURL, options: .server)
        let count = try other.viewContext.performAndWait {
            try other.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Unit"))
        }
        #expect(count == 1)
    }

    @Test func storesInMemoryNeedNoURL() async throws {
        let stack = try await CoreDataStack.setUp(model: Grocery.model(), storeURL: nil, options: .server)
        try await stack.performImport { _ = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: $0) }
        #expect(try await stack.count("Unit") == 1)
        try await stack.destroyStores()
        #expect(try await stack.count("Unit") == 0)
    }

    @Test func whatImportsSaveIsInObjectsThatTheViewHas() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        let id = try await stack.performImport { context in
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue("Milk", forKey: "name")
            try context.save()
            return item.objectID
        }
        let item = try await stack.inView { context in
            let item = try context.existingObject(with: id)
            return (item.value(forKey: "name") as? String, ObjectIdentifier(item), Passing(item))
        }
        #expect(item.0 == "Milk")
        try await stack.performImport { context in
            try context.existingObject(with: id).setValue("Oat milk", forKey: "name")
        }
        let name = await stack.inView { _ in item.2.value.value(forKey: "name") as? String }
        #expect(name == "Oat milk")
    }

    @Test func anImportThatThrowsSavesNothing() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        await #expect(throws: ToolkitError.self) {
            try await stack.performImport { context in
                _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                throw ToolkitError("no more")
            }
        }
        #expect(try await stack.count("Item") == 0)
    }

    @Test func whatAnotherProcessWritesIsMerged() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        let seen = AsyncStream<Void>.makeStream()
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didChangeObjectsNotification, object: stack.viewContext, queue: nil
        ) { note in
            if !((note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>) ?? []).isEmpty {
                seen.continuation.yield()
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        #expect(try Worker.run("write", grocery.storeURL.path, "3") == 0)
        // Nobody calls mergeNow: the kernel tells of the file.
        var iterator = seen.stream.makeAsyncIterator()
        for _ in 0..<3 { await iterator.next() }
        #expect(try await stack.texts("Item", "name") == (1...3).map { "from outside \($0)" })
    }

    @Test func undoTakesBackAndRollbackGivesUp() async throws {
        let grocery = try Grocery()
        var options = CoreDataStack.Options.server
        options.undo = true
        let stack = try await grocery.makeStack(options)
        await stack.inView { context in
            let unit = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: context)
            unit.setValue("kg", forKey: "name")
        }
        try await stack.save()
        try await stack.inView { context in
            let units = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Unit"))
            units[0].setValue("g", forKey: "name")
        }
        #expect(try await stack.texts("Unit", "name") == ["g"])
        await stack.inView { $0.undo() }
        #expect(try await stack.texts("Unit", "name") == ["kg"])
        await stack.inView { _ = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: $0) }
        await stack.rollback()
        #expect(try await stack.count("Unit") == 1)
    }

    @Test func storesAreTakenOffReloadedAndDestroyed() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeFullStack()
        #expect(try await stack.count("Item") == 377)
        try await stack.removeStores()
        #expect(stack.store == nil)
        try await stack.reload()
        #expect(try await stack.count("Item") == 377)
        // Merging goes on after a reload.
        try await stack.performImport { _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: $0) }
        #expect(try await stack.count("Item") == 378)
        try await stack.destroyStores()
        #expect(try await stack.count("Item") == 0)
        try await stack.performImport { _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: $0) }
        #expect(try await stack.count("Item") == 1)
    }

    @Test func errorsSayWhatToDo() async throws {
        let grocery = try Grocery()
        let file = try grocery.write("no folder", to: "file")
        let inFile = file.appendingPathComponent("store.sqlite")
        let error = await #expect(throws: ToolkitError.self) { try await grocery.makeStack(at: inFile) }
        #expect(error?.message.contains("choose another one") == true)
        let noFile = try #require(URL(string: "https://example.org/store.sqlite"))
        await #expect(throws: ToolkitError.self) { try await grocery.makeStack(at: noFile) }
        var options = CoreDataStack.Options.server
        options.initialStore = grocery.folder.appendingPathComponent("nothing.sqlite")
        let missing = await #expect(throws: ToolkitError.self) { try await grocery.makeStack(options) }
        #expect(missing?.message.contains("no initial store") == true)
    }
}

/// An object that is only used on its context's queue.
struct Passing<Value>: @unchecked Sendable {
    // Safe because the tests use it on that queue only.
    let value: Value

    init(_ value: Value) { self.value = value }
}
