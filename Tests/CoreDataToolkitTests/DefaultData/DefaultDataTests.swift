import CoreData
import CoreDataToolkit
import Foundation
import Testing

@Suite struct DefaultDataTests {
    @Test func theOfferIsMadeOnceAndItsAnswerStaysInTheStore() async throws {
        let grocery = try Grocery()
        var stack = try await grocery.makeStack()
        #expect(DefaultData.choice(in: stack) == .notAsked)
        var asked = 0
        let choice = try await DefaultData.offer(
            in: stack,
            ask: {
                asked += 1
                return true
            },
            importing: { stack in
                try await Importer(stack, unique: Grocery.unique)
                    .importRecords(from: .file(Grocery.data), as: "Item", map: Grocery.map)
            })
        #expect(choice == .imported)
        try await stack.removeStores()
        stack = try await grocery.makeStack()
        #expect(DefaultData.choice(in: stack) == .imported)
        try await DefaultData.offer(
            in: stack,
            ask: {
                asked += 1
                return true
            },
            importing: { _ in asked += 100 })
        #expect(asked == 1)
        #expect(try await stack.count("Item") == 377)
    }

    @Test func whoDeclinesIsNotAskedAgain() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        var asked = 0
        for _ in 0..<2 {
            let choice = try await DefaultData.offer(
                in: stack,
                ask: {
                    asked += 1
                    return false
                },
                importing: { _ in asked += 100 })
            #expect(choice == .declined)
        }
        #expect(asked == 1)
    }

    @Test func anImportThatFailedIsDoneAgainWithoutAsking() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        var asked = 0
        await #expect(throws: ToolkitError.self) {
            try await DefaultData.offer(
                in: stack,
                ask: {
                    asked += 1
                    return true
                },
                importing: { _ in throw ToolkitError("torn") })
        }
        #expect(DefaultData.choice(in: stack) == .accepted)
        try await DefaultData.offer(
            in: stack,
            ask: {
                asked += 1
                return true
            },
            importing: { _ in })
        #expect(asked == 1 && DefaultData.choice(in: stack) == .imported)
    }

    @Test func anInitialStoreIsCopiedBeforeTheFirstOpeningOnly() async throws {
        let grocery = try Grocery()
        let shipped = grocery.folder.appendingPathComponent("DefaultData.sqlite")
        try await grocery.makeFullStack(at: shipped).removeStores()
        var options = CoreDataStack.Options.server
        options.initialStore = shipped
        let stack = try await grocery.makeStack(options)
        #expect(try await stack.count("Item") == 377)
        try await stack.performImport { context in
            for item in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")) { context.delete(item) }
        }
        try await stack.removeStores()
        #expect(try await grocery.makeStack(options).count("Item") == 0)
        #expect(try await grocery.makeStack(at: shipped).count("Item") == 377)
    }
}
