import CoreData
import CoreDataToolkit
import Foundation
import Synchronization
import Testing

@Suite struct StackMigrationTests {
    /// The example's model with one more attribute, which needs a migration.
    private static func newModel() throws -> NSManagedObjectModel {
        let model = try Grocery.model()
        let note = NSAttributeDescription()
        note.name = "note"
        note.attributeType = .stringAttributeType
        note.isOptional = true
        let item = try #require(model.entitiesByName["Item"])
        item.properties.append(note)
        return model
    }

    @Test func aStoreOfAnOlderModelIsMigratedWithProgress() async throws {
        let grocery = try Grocery()
        let old = try await grocery.makeFullStack()
        try await DefaultData.setChoice(.declined, in: old)
        let identifier = old.store?.identifier
        try await old.removeStores()
        let told = Mutex<[Double]>([])
        let stack = try await CoreDataStack.setUp(
            model: Self.newModel(), storeURL: grocery.storeURL, options: .server
        ) { progress in told.withLock { $0.append(progress.fractionCompleted) } }
        let fractions = told.withLock { $0 }
        #expect(fractions.count > 1 && fractions == fractions.sorted() && fractions.last == 1)
        #expect(try await stack.count("Item", "note == nil") == 377)
        #expect(stack.store?.identifier == identifier)
        #expect(DefaultData.choice(in: stack) == .declined)
        let left = try FileManager.default.contentsOfDirectory(
            atPath: grocery.storeURL.deletingLastPathComponent().path)
        #expect(!left.contains { $0.contains("migrating") })
    }

    @Test func aMigrationThatIsCancelledLeavesTheStoreAsItWas() async throws {
        let grocery = try Grocery()
        try await grocery.makeFullStack().removeStores()
        let model = Passing(try Self.newModel())
        let task = Mutex<Task<CoreDataStack, any Error>?>(nil)
        let started = AsyncStream<Void>.makeStream()
        let running = Task {
            for await _ in started.stream { break }
            return try await CoreDataStack.setUp(
                model: model.value, storeURL: grocery.storeURL, options: .server
            ) { _ in task.withLock { $0?.cancel() } }
        }
        task.withLock { $0 = running }
        started.continuation.yield()
        await #expect(throws: (any Error).self) { _ = try await running.value }
        let stack = try await grocery.makeStack()
        #expect(try await stack.count("Item") == 377)
    }

    @Test func withoutMigrationTheErrorTellsOfTheModel() async throws {
        let grocery = try Grocery()
        try await grocery.makeFullStack().removeStores()
        var options = CoreDataStack.Options.server
        options.migrates = false
        let error = await #expect(throws: CocoaError.self) {
            _ = try await CoreDataStack.setUp(model: Self.newModel(), storeURL: grocery.storeURL, options: options)
        }
        #expect(error?.errorCode == NSPersistentStoreIncompatibleVersionHashError)
    }
}
