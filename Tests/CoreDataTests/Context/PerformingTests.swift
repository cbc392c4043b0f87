import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

// semantics Q: performing blocks, as applications write it
@Suite struct PerformingTests {
    /// What compiles without a word in Swift 5 and in Swift 6, as with Apple's declarations.
    private static let plain = """
        import CoreData

        func nothing(_ context: NSManagedObjectContext) { context.performAndWait { print("a") } }
        func value(_ context: NSManagedObjectContext) -> Int { context.performAndWait { 3 } }
        func inferred(_ context: NSManagedObjectContext) { let n = context.performAndWait { 3 }; print(n + 1) }
        func unused(_ context: NSManagedObjectContext) {
            var names: Set<String> = []
            context.performAndWait { names.insert("a") }
            context.performAndWait { try? context.save() }
            print(names)
        }
        func handled(_ context: NSManagedObjectContext) {
            context.performAndWait { do { try context.save() } catch { print(error) } }
        }
        func early(_ context: NSManagedObjectContext) {
            context.performAndWait {
                guard context.hasChanges else { return }
                context.rollback()
            }
        }
        func thrown(_ context: NSManagedObjectContext) throws { try context.performAndWait { try context.save() } }
        func wrapped(_ context: NSManagedObjectContext, _ block: () -> Void) { context.performAndWait(block) }
        func wrapped<T>(_ context: NSManagedObjectContext, value block: () throws -> T) rethrows -> T {
            try context.performAndWait(block)
        }
        func asFunction(_ context: NSManagedObjectContext) -> (() -> Void) -> Void { context.performAndWait }

        func later(_ context: NSManagedObjectContext) { context.perform { print("a") } }
        func later(_ context: NSManagedObjectContext, _ block: @escaping @Sendable () -> Void) { context.perform(block) }
        func async(_ context: NSManagedObjectContext) async -> Int { await context.perform { 3 } }
        func async(_ context: NSManagedObjectContext) async throws { try await context.perform { try context.save() } }
        func wrapped<T: Sendable>(
            _ context: NSManagedObjectContext, later block: @escaping @Sendable () throws -> T
        ) async rethrows -> T { try await context.perform { try block() } }
        func background<T: Sendable>(
            _ container: NSPersistentContainer, _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
        ) async rethrows -> T { try await container.performBackgroundTask(block) }

        @MainActor final class Model {
            private let context: NSManagedObjectContext
            private var count = 0
            init(_ context: NSManagedObjectContext) { self.context = context }
            func now() { context.performAndWait { count += 1 } }
            func later() async { count = await context.perform { 3 } }
        }

        class LoggingContext: NSManagedObjectContext, @unchecked Sendable {
            override func perform(_ block: @escaping @Sendable () -> Void) { super.perform(block) }
            override func performAndWait(_ block: () -> Void) { super.performAndWait(block) }
        }
        class LoggingCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
            override func perform(_ block: @escaping @Sendable () -> Void) { super.perform(block) }
            override func performAndWait(_ block: () -> Void) { super.performAndWait(block) }
        }
        """

    /// What is older than sendability: silent in Swift 5.
    private static let older = """
        import CoreData

        extension NSManagedObjectContext {
            func performChanges(_ block: @escaping () -> Void) {
                perform {
                    block()
                    _ = try? self.save()
                }
            }
            func performChanges(_ block: @escaping () -> Void, completion: @escaping (Error?) -> Void) {
                perform { do { block(); try self.save(); completion(nil) } catch { completion(error) } }
            }
            func forwarded(_ block: @escaping () -> Void) { perform(block) }
            func change(_ object: NSManagedObject) { perform { object.setValue(1, forKey: "a") } }
        }
        final class Store {
            private let context: NSManagedObjectContext
            private var count = 0
            init(_ context: NSManagedObjectContext) { self.context = context }
            func add() { context.perform { self.count += 1 } }
            func add(in container: NSPersistentContainer, _ block: @escaping (NSManagedObjectContext) -> Void) {
                container.performBackgroundTask(block)
            }
        }
        class OlderContext: NSManagedObjectContext, @unchecked Sendable {
            override func perform(_ block: @escaping () -> Void) { super.perform(block) }
            override func performAndWait(_ block: () -> Void) { super.performAndWait(block) }
        }
        """

    @Test(
        .enabled(if: TypeChecker.isAvailable, Comment(rawValue: TypeChecker.missing)),
        arguments: [("5", [plain, older]), ("6", [plain])])
    func applicationsPerformBlocksWithoutAWordOfTheCompiler(mode: String, sources: [String]) throws {
        let files = sources.enumerated().map { ("Source\($0.offset).swift", $0.element) }
        #expect(try TypeChecker.problems(in: files, mode: mode) == "")
    }

    @Test("A subclass runs every synchronous block by its own performAndWait")
    func overriding() throws {
        let stack = try LibraryStack()
        let context = CountingContext(.privateQueue)
        context.persistentStoreCoordinator = stack.coordinator
        #expect(context.performAndWait { 3 } == 3)
        context.performAndWait { context.reset() }
        #expect(throws: CocoaError.self) { try context.performAndWait { throw CocoaError(.coreData) } }
        #expect(context.count.load(ordering: .relaxed) == 3)
    }

    @Test("Q3: the block's changes are processed before its caller goes on")
    func processing() async throws {
        let stack = try LibraryStack()
        let context = stack.context
        let log = NotificationLog(.NSManagedObjectContextObjectsDidChange, context)
        await context.perform { Tag(context: context).name = "a" }
        #expect(log.userInfos.count == 1)
    }
}

private final class CountingContext: NSManagedObjectContext, @unchecked Sendable {
    let count = Atomic(0)

    override func performAndWait(_ block: () -> Void) {
        count.add(1, ordering: .relaxed)
        super.performAndWait(block)
    }
}
