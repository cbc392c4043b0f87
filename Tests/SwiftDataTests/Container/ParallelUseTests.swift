import Foundation
import SwiftData
import TestSupport
import Testing

@ModelActor
actor DishStore {
    func add(_ name: String) throws -> PersistentIdentifier {
        let dish = Dish(name: name)
        dish.steps = [DishStep(text: "Boil")]
        modelContext.insert(dish)
        try modelContext.save()
        return dish.persistentModelID
    }

    func serve(_ id: PersistentIdentifier) throws -> Int {
        guard let dish = self[id, as: Dish.self] else { return 0 }
        dish.servings += 1
        try modelContext.save()
        return dish.servings
    }
}

/// Containers and contexts that are used at once.
@Suite struct ParallelUseTests {
    /// Complaint 34: the main context and an actor on one container; each has models of its own, and sees what the other saves.
    @Test @MainActor func anActorAndTheMainContextWorkTogether() async throws {
        let (container, _) = try kitchen()
        let store = DishStore(modelContainer: container)
        let context = container.mainContext
        let id = try await store.add("Soup")
        let dish = try #require(try context.fetch(FetchDescriptor<Dish>()).first)
        #expect(dish.persistentModelID == id && dish.modelContext === context && dish.steps.count == 1)
        async let served = store.serve(id)
        dish.note = "hot"
        try context.save()
        #expect(try await served == 3)
        try await Polling.suspend(until: "the actor's change") { dish.servings == 3 }
        #expect(dish.note == "hot")
        #expect(try await store.serve(id) == 4)
        #expect(context.model(for: id) === dish)
    }

    enum Left {
        @Model final class Item {
            var name: String
            init(name: String) { self.name = name }
        }
    }
    enum Right {
        @Model final class Item {
            var number: Int
            init(number: Int) { self.number = number }
        }
    }

    /// Complaint 37: containers of many tests at once, with the same classes, and with two classes of one name.
    @Test func containersDoNotKnowOfEachOther() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let memory = ModelConfiguration(isStoredInMemoryOnly: true)
                    if number.isMultiple(of: 2) {
                        let context = ModelContext(try ModelContainer(for: Left.Item.self, configurations: memory))
                        context.insert(Left.Item(name: "\(number)"))
                        try context.save()
                        return try context.fetch(FetchDescriptor<Left.Item>()).map(\.name) == ["\(number)"]
                    }
                    let context = ModelContext(try ModelContainer(for: Right.Item.self, configurations: memory))
                    context.insert(Right.Item(number: number))
                    try context.save()
                    return try context.fetch(FetchDescriptor<Right.Item>()).map(\.number) == [number]
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    /// Complaint 37: the same, by one test after the other in any order.
    @Test func aModelIsOfTheClassOfItsContainer() throws {
        let memory = ModelConfiguration(isStoredInMemoryOnly: true)
        let left = ModelContext(try ModelContainer(for: Left.Item.self, configurations: memory))
        left.insert(Right.Item(number: 1))
        #expect(throws: SwiftDataError.unknownSchema) { try left.save() }
        left.rollback()
        left.insert(Left.Item(name: "a"))
        try left.save()
    }
}
