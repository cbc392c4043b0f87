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

    /// The example's model, and versions after it: each has what the one before had under another name.
    private static func versions() throws -> [NSManagedObjectModel] {
        try (0...3).map { number in
            let model = try Grocery.model()
            let item = try #require(model.entitiesByName["Item"])
            let name = try #require(item.attributesByName["name"])
            if number > 0 {
                name.name = "name\(number)"
                name.renamingIdentifier = number == 1 ? "name" : "name\(number - 1)"
            }
            return model
        }
    }

    @Test func aStoreGoesThroughEveryVersion() async throws {
        let grocery = try Grocery()
        let old = try await grocery.makeFullStack()
        let identifier = old.store?.identifier
        try await old.removeStores()
        var options = CoreDataStack.Options.server
        let seen = Mutex<[Int]>([])
        options.versions = MigrationVersions(Self.versions) { version, _, _ in
            seen.withLock { $0.append(version) }
            return nil
        }
        let told = Mutex<[Double]>([])
        let stack = try await CoreDataStack.setUp(
            model: Self.versions()[3], storeURL: grocery.storeURL, options: options
        ) { progress in told.withLock { $0.append(progress.fractionCompleted) } }
        #expect(seen.withLock { $0 } == [0, 1, 2])
        #expect(try await stack.count("Item", "name3 != nil") == 377)
        #expect(stack.store?.identifier == identifier)
        let fractions = told.withLock { $0 }
        #expect(fractions == fractions.sorted() && fractions.last == 1 && fractions.contains { $0 > 0.3 && $0 < 0.7 })
        let left = try FileManager.default.contentsOfDirectory(
            atPath: grocery.storeURL.deletingLastPathComponent().path)
        #expect(!left.contains { $0.contains("migrating") })
    }

    @Test func aStepThatFailsLeavesTheStoreAsItWas() async throws {
        let grocery = try Grocery()
        try await grocery.makeFullStack().removeStores()
        var options = CoreDataStack.Options.server
        options.versions = MigrationVersions(Self.versions) { version, _, _ in
            if version == 2 { throw ToolkitError("not this one") }
            return nil
        }
        await #expect(throws: ToolkitError.self) {
            _ = try await CoreDataStack.setUp(
                model: Self.versions()[3], storeURL: grocery.storeURL, options: options)
        }
        let stack = try await grocery.makeStack()
        #expect(try await stack.count("Item", "name != nil") == 377)
    }

    @Test func anOlderProgramDoesNotDropWhatANewerOneAdded() async throws {
        let grocery = try Grocery()
        try await grocery.makeFullStack().removeStores()
        let newer = try await CoreDataStack.setUp(
            model: Self.newModel(), storeURL: grocery.storeURL, options: .server)
        try await newer.removeStores()
        let error = await #expect(throws: CocoaError.self) {
            _ = try await CoreDataStack.setUp(model: Grocery.model(), storeURL: grocery.storeURL, options: .server)
        }
        #expect(error?.errorCode == NSMigrationMissingSourceModelError)
        #expect(error?.userInfo[NSMigrationLossesErrorKey] as? [String] == ["Item.note"])
        // The versions that the program says it has are those that it has.
        var options = CoreDataStack.Options.server
        options.versions = MigrationVersions { try [Self.newModel(), Grocery.model()] }
        let later = try await CoreDataStack.setUp(
            model: Grocery.model(), storeURL: grocery.storeURL, options: options)
        #expect(try await later.count("Item") == 377)
    }

    @Test func anOptionAllowsAnOlderProgramToDrop() async throws {
        let grocery = try Grocery()
        try await grocery.makeFullStack().removeStores()
        try await CoreDataStack.setUp(model: Self.newModel(), storeURL: grocery.storeURL, options: .server)
            .removeStores()
        var options = CoreDataStack.Options.server
        options.migratesAllowingLoss = true
        let older = try await CoreDataStack.setUp(
            model: Grocery.model(), storeURL: grocery.storeURL, options: options)
        #expect(try await older.count("Item") == 377)
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
