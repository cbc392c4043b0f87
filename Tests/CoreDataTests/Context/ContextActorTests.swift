import CoreData
import Foundation
import TestSupport
import Testing

// semantics Q: actors on the queue of a context
@Suite struct ContextActorTests {
    @Test("Q1: an actor uses the objects of its context without perform, and its changes are processed")
    func plainUse() async throws {
        let stack = try LibraryStack()
        let importer = Importer(stack.newContext())
        let log = NotificationLog(.NSManagedObjectContextObjectsDidChange, importer.context)
        #expect(try await importer.add(["a", "b"]) == 2)
        #expect(try await importer.names() == ["a", "b"])
        #expect(log.userInfos.count == 1)
        await importer.rename("a", to: "c")
        // The actor's queue processes it behind the call.
        try await Polling.suspend(until: "the change is told") { log.userInfos.count == 2 }
    }

    @Test("Q2: perform and performAndWait in the actor run their blocks at once")
    func reentrance() async throws {
        let importer = Importer(try LibraryStack().context)
        #expect(await importer.depth() == 3)
        #expect(await importer.order() == ["block", "actor", "queued"])
    }

    @Test("Q2: calls of the actor and blocks of perform run one at a time")
    func exclusion() async throws {
        let stack = try LibraryStack()
        let importer = Importer(stack.newContext())
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask { await importer.insert("actor \(number)") }
                group.addTask {
                    let context = importer.context
                    await context.perform { Tag(context: context).name = "block \(number)" }
                }
            }
        }
        #expect(try await importer.save() == 100)
    }

    @Test("Q4: an actor's use is right for ConcurrencyDebug, and somebody else's is not")
    func confinement() async {
        await #expect(processExitsWith: .success) {
            setenv("COREDATA_CONCURRENCYDEBUG", "1", 1)
            let stack = try LibraryStack()
            let importer = Importer(stack.context)
            _ = try await importer.add(["a"])
            await importer.checkIsolation()
            stack.context.performAndWait { importer.assumeIsolated { $0.checkIsolation() } }
            let main = MainImporter(NSManagedObjectContext(.mainQueue), stack.coordinator)
            await main.insert()
            exit(EXIT_SUCCESS)
        }
        await #expect(processExitsWith: .failure) {
            ContextActorTests.assumeWrongly(Importer(try LibraryStack().context))
            exit(EXIT_SUCCESS)
        }
    }

    private static func assumeWrongly(_ importer: Importer) { importer.assumeIsolated { _ in } }

    @Test("On a main context the actor is on the main actor")
    func main() async throws {
        let stack = try LibraryStack()
        let main = MainImporter(NSManagedObjectContext(.mainQueue), stack.coordinator)
        #expect(await main.insert() == 1)
    }

    @Test("A context goes with the actor that alone has it, also right after its work")
    func lifetime() async throws {
        let stack = try LibraryStack()
        weak var context: NSManagedObjectContext?
        do {
            let importer = Importer(stack.newContext())
            context = importer.context
            _ = try await importer.add(["a"])
        }
        // Its queue may not have come to the end of the turn yet.
        try await Polling.suspend(until: "the context is gone") { context == nil }
        #expect(context == nil)
    }

    @Test("A global actor can be one of a context")
    func global() async throws {
        #expect(await countTags() == 0)
    }

    @LibraryActor private func countTags() -> Int {
        LibraryActor.shared.context.performAndWait { LibraryActor.shared.context.registeredObjects.count }
    }

    /// What applications write: compiles in Swift 6 without a word.
    private static let application = """
        import CoreData

        final class Item: NSManagedObject {
            var name: String? { get { value(forKey: "name") as? String } set { setValue(newValue, forKey: "name") } }
        }
        actor Importer: ManagedObjectContextActor {
            let context: NSManagedObjectContext
            private var count = 0
            init(_ container: NSPersistentContainer) { context = container.newBackgroundContext() }
            func add(_ names: [String]) throws -> [NSManagedObjectID] {
                let items = names.map { name in
                    let item = Item(context: context)
                    item.name = name
                    return item
                }
                count += items.count
                try context.save()
                return items.map(\\.objectID)
            }
            func now(_ item: NSManagedObjectID) async throws -> String? {
                let object = try context.existingObject(with: item) as? Item
                let name = context.performAndWait { object?.name }
                let count = await context.perform { 3 }
                return name.map { "\\($0) \\(count)" }
            }
            func elsewhere(_ other: NSManagedObjectContext) async throws -> Int {
                try await other.perform { try other.count(for: NSFetchRequest<Item>(entityName: "Item")) + 1 }
            }
            func captured(_ other: NSManagedObjectContext) async { await other.perform { _ = self } }
        }
        func use(_ container: NSPersistentContainer) async throws -> [NSManagedObjectID] {
            try await Importer(container).add(["a"])
        }
        func request(_ context: NSManagedObjectContext) async throws -> Int {
            try await context.perform {
                let request = NSFetchRequest<Item>(entityName: "Item")
                request.predicate = NSPredicate(format: "name == %@", "a")
                return try context.count(for: request)
            }
        }
        func objects(_ context: NSManagedObjectContext) async throws -> [Item] {
            try await context.perform { try context.fetch(NSFetchRequest<Item>(entityName: "Item")) }
        }
        func scheduled(_ context: NSManagedObjectContext) async throws {
            try await context.perform(schedule: .enqueued) { try context.save() }
        }
        func forwarded<T: Sendable>(
            _ context: NSManagedObjectContext, _ block: @escaping @Sendable () throws -> T
        ) async rethrows -> T { try await context.perform { try block() } }
        func background(_ container: NSPersistentContainer) async throws -> Int {
            try await container.performBackgroundTask { try $0.count(for: NSFetchRequest<Item>(entityName: "Item")) }
        }
        func coordinated(_ coordinator: NSPersistentStoreCoordinator) async -> Int {
            await coordinator.perform { coordinator.persistentStores.count }
        }
        @MainActor final class Model {
            private let container: NSPersistentContainer
            private(set) var items: [Item] = []
            init(_ container: NSPersistentContainer) { self.container = container }
            func load() async throws {
                let context = container.viewContext
                items = try await context.perform { try context.fetch(NSFetchRequest<Item>(entityName: "Item")) }
                items[0].name = "Milk"
                async let count = context.perform { 3 }
                print(await count)
                try await Task { try await self.container.viewContext.perform { [container] in
                    try container.viewContext.save() } }.value
            }
        }
        """

    /// Where objects of a queue would be used elsewhere the compiler says so.
    private static let captured = """
        import CoreData

        func count(_ context: NSManagedObjectContext) async throws -> Int {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            return try await context.perform { try context.count(for: request) }
        }
        """

    private static let handedOut = """
        import CoreData

        actor Shelf: ManagedObjectContextActor {
            let context = NSManagedObjectContext(.privateQueue)
            var items: [NSManagedObject] = []
            func all() -> [NSManagedObject] { items }
        }
        func take(_ shelf: Shelf) async -> [NSManagedObject] { await shelf.all() }
        """

    @Test(.enabled(if: TypeChecker.isAvailable, Comment(rawValue: TypeChecker.missing)))
    func applicationsUseActorsWithoutAWordOfTheCompiler() throws {
        #expect(try TypeChecker.problems(in: [("Source.swift", Self.application)], checksRegions: true) == "")
        let captured = try TypeChecker.problems(in: [("Source.swift", Self.captured)], checksRegions: true)
        #expect(captured.contains("error: capture of 'request'"))
        let handedOut = try TypeChecker.problems(in: [("Source.swift", Self.handedOut)], checksRegions: true)
        #expect(handedOut.contains("error: ") && handedOut.contains("shelf.all()"))
    }

    @Test(
        "Q5: IDs, coordinators, containers and contexts are Sendable, managed objects are not",
        .enabled(if: TypeChecker.isAvailable, Comment(rawValue: TypeChecker.missing)))
    func sendability() throws {
        let check = "import CoreData\nfunc send<T: Sendable>(_: T.Type) {}\n"
        for type in [
            "NSManagedObjectID", "NSPersistentStoreCoordinator", "NSPersistentContainer", "NSManagedObjectContext",
        ] {
            #expect(try TypeChecker.problems(in: [("Source.swift", check + "func f() { send(\(type).self) }")]) == "")
        }
        let problems = try TypeChecker.problems(
            in: [("Source.swift", check + "func f() { send(NSManagedObject.self) }")])
        #expect(problems.contains("NSManagedObject") && problems.contains("Sendable"))
    }

    @Test("Q6: objects that the caller holds beyond a block stay registered, others are let go of at its end")
    func registration() async throws {
        let stack = try LibraryStack()
        let context = stack.context
        let kept = try context.performAndWait {
            for name in ["a", "c"] { Tag(context: context).name = name }
            let tag = Tag(context: context)
            tag.name = "b"
            #expect(context.registeredObjects.count == 3)
            try context.save()
            return tag
        }
        context.performAndWait {
            #expect(context.registeredObjects == [kept])
            #expect(context.registeredObject(for: kept.objectID) === kept)
        }
    }
}

private actor Importer: ManagedObjectContextActor {
    let context: NSManagedObjectContext

    init(_ context: NSManagedObjectContext) { self.context = context }

    func add(_ names: [String]) throws -> Int {
        for name in names { insert(name) }
        return try save()
    }

    func insert(_ name: String) { Tag(context: context).name = name }

    func save() throws -> Int {
        try context.save()
        return try context.count(for: NSFetchRequest<Tag>(entityName: "Tag"))
    }

    func names() throws -> [String] { try context.all(Tag.self, "Tag").compactMap(\.name).sorted() }

    func rename(_ name: String, to other: String) {
        for case let tag as Tag in context.registeredObjects where tag.name == name { tag.name = other }
    }

    func depth() async -> Int {
        let context = context
        return await context.perform { context.performAndWait { context.performAndWait { 3 } } }
    }

    func order() async -> [String] {
        let order = Order()
        enqueue { order.words.append("queued") }
        await context.perform { order.words.append("block") }
        order.words.append("actor")
        await context.perform(schedule: .enqueued) {}
        return order.words
    }

    /// In an asynchronous function the asynchronous `perform` would be meant.
    private func enqueue(_ block: @escaping @Sendable () -> Void) { context.perform(block) }

    func checkIsolation() {
        assertIsolated()
        context.assertIsolated()
        #expect(context.registeredObjects.allSatisfy { $0.managedObjectContext === context })
    }
}

private final class Order: @unchecked Sendable {
    // Safe because one queue alone uses it.
    var words: [String] = []
}

private actor MainImporter: ManagedObjectContextActor {
    let context: NSManagedObjectContext

    init(_ context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) {
        self.context = context
        context.persistentStoreCoordinator = coordinator
    }

    @discardableResult
    func insert() -> Int {
        MainActor.preconditionIsolated()
        Tag(context: context).name = "main"
        return context.insertedObjects.count
    }
}

@globalActor private actor LibraryActor: ManagedObjectContextActor {
    static let shared = LibraryActor()
    let context = NSManagedObjectContext(.privateQueue)
}
