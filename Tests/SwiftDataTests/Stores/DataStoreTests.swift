import Foundation
import SwiftData
import TestSupport
import Testing

/// Stores of an app's own (1.12), by a store that is one JSON file.
struct DataStoreTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json")

    private func open(_ abilities: Set<JSONStoreConfiguration.Ability> = []) throws -> (ModelContainer, JSONStore) {
        let container = try ModelContainer(
            for: Dish.self, DishOrder.self,
            configurations: JSONStoreConfiguration(fileURL: file, abilities: abilities))
        return (container, try #require(container.dataStores.first as? JSONStore))
    }

    private func filled() throws -> (ModelContainer, JSONStore) {
        let (container, store) = try open()
        let context = ModelContext(container)
        context.author = "cook"
        for (name, servings) in [("Soup", 2), ("Stew", 4), ("Pie", 6)] {
            context.insert(Dish(name: name, servings: servings))
        }
        try context.save()
        #expect(store.log == ["begin", "save +3 ~0 -0 by cook"])
        return (container, store)
    }

    @Test func whatIsSavedIsFetchedByAnotherContainer() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (container, _) = try open()
        let context = ModelContext(container)
        let dish = Dish(name: "Soup", servings: 3)
        dish.season = .winter
        dish.steps = [DishStep(text: "Cut"), DishStep(text: "Boil")]
        context.insert(dish)
        try context.save()
        #expect(!context.hasChanges)

        let (other, _) = try open()
        let found = try #require(try ModelContext(other).fetch(FetchDescriptor<Dish>()).first)
        #expect(found.name == "Soup" && found.servings == 3 && found.season == .winter && found.note == nil)
        #expect(Set(found.steps.map(\.text)) == ["Cut", "Boil"])
        #expect(found.steps.allSatisfy { $0.dish === found })
    }

    /// B1: an identifier of the store takes the place of the temporary one, and is the one that other containers see.
    @Test func theStoreNamesNewModels() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (container, store) = try open()
        let context = ModelContext(container)
        let dish = Dish(name: "Soup")
        context.insert(dish)
        try context.save()
        let id = dish.persistentModelID
        #expect(id.storeIdentifier == store.identifier && id.entityName == "Dish")
        #expect(try store.read().keys.contains(id))
        #expect(try context.fetch(FetchDescriptor<Dish>()).first === dish)
        let same: Dish? = ModelContext(container).model(for: id) as? Dish
        #expect(same?.name == "Soup")
        let (other, _) = try open()
        #expect(try ModelContext(other).fetch(FetchDescriptor<Dish>()).first?.persistentModelID == id)
    }

    @Test func filtersAndOrdersAreDoneInMemory() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (container, store) = try filled()
        let context = ModelContext(container)
        let many = FetchDescriptor<Dish>(
            predicate: #Predicate { $0.servings > 2 }, sortBy: [SortDescriptor(\.name, comparator: .lexical)])
        #expect(try context.fetch(many).map(\.name) == ["Pie", "Stew"])
        #expect(Array(store.log.suffix(3)) == ["fetch Dish filtered sorted", "fetch Dish sorted", "fetch Dish"])
        var first = many
        first.fetchLimit = 1
        #expect(try context.fetch(first).map(\.name) == ["Pie"])
        first.fetchOffset = 1
        #expect(try context.fetch(first).map(\.name) == ["Stew"])
        #expect(try context.fetchCount(many) == 2)
        #expect(try context.fetchIdentifiers(many).count == 2)
    }

    /// A request that leaves nothing to be done in memory gets its limit.
    @Test func theStoreLimitsWhatItNeedNotFilter() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (container, store) = try filled()
        var two = FetchDescriptor<Dish>()
        two.fetchLimit = 2
        #expect(try ModelContext(container).fetch(two).count == 2)
        #expect(store.log.contains("fetch Dish limit 2"))
    }

    @Test func changesAndDeletionsAreSaved() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (container, store) = try filled()
        let context = ModelContext(container)
        let dishes = try context.fetch(FetchDescriptor<Dish>(sortBy: [SortDescriptor(\.servings)]))
        dishes[0].name = "Broth"
        context.delete(dishes[2])
        try context.save()
        #expect(store.log.contains("save +0 ~1 -1"))
        let (other, _) = try open()
        let names = try ModelContext(other).fetch(FetchDescriptor<Dish>(sortBy: [SortDescriptor(\.servings)])).map(
            \.name)
        #expect(names == ["Broth", "Stew"])
    }

    /// What another program writes is fetched, also where the model is in use.
    @Test func aFetchSeesWhatOthersWrote() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (container, _) = try filled()
        let context = ModelContext(container)
        let soup = try #require(
            try context.fetch(FetchDescriptor<Dish>(predicate: #Predicate { $0.name == "Soup" })).first)
        let (other, _) = try open()
        let writer = ModelContext(other)
        try writer.fetch(FetchDescriptor<Dish>(predicate: #Predicate { $0.name == "Soup" })).first?.servings = 9
        try writer.save()
        let again = try context.fetch(FetchDescriptor<Dish>(predicate: #Predicate { $0.servings == 9 }))
        #expect(again.count == 1 && again.first === soup && soup.servings == 9)
    }

    /// A failed save leaves context and store as they were.
    @Test func aFailedSaveKeepsTheChanges() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (container, store) = try open([.failsToSave])
        let context = ModelContext(container)
        let dish = Dish(name: "Soup")
        context.insert(dish)
        #expect(throws: (any Error).self) { try context.save() }
        #expect(context.hasChanges && dish.name == "Soup")
        #expect(try store.read().isEmpty)
        context.rollback()
        #expect(!context.hasChanges)
    }

    @Test func contextsBeginAndEnd() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (container, store) = try open()
        do {
            let context = ModelContext(container)
            _ = try context.fetch(FetchDescriptor<Dish>())
            _ = try context.fetch(FetchDescriptor<Dish>())
        }
        #expect(store.log == ["begin", "fetch Dish", "fetch Dish", "end"])
    }

    @Test func eraseDeletesEverything() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (container, store) = try filled()
        try container.erase()
        #expect(try store.read().isEmpty)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Dish>()) == 0)
    }

    @Test func aStoreOfTheAppsOwnStandsBesideOneOfTheModule() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let dishes = Schema([Dish.self])
        let guests = Schema([DishGuest.self])
        let container = try ModelContainer(
            for: Schema([Dish.self, DishGuest.self]),
            configurations: [
                JSONStoreConfiguration(schema: dishes, fileURL: file),
                ModelConfiguration("guests", schema: guests, isStoredInMemoryOnly: true),
            ])
        let context = ModelContext(container)
        context.insert(Dish(name: "Soup"))
        context.insert(DishGuest(name: "Ada"))
        try context.save()
        let store = try #require(container.dataStores.first as? JSONStore)
        #expect(try store.read().values.map(\.persistentIdentifier.entityName) == ["Dish"])
        #expect(try ModelContext(container).fetch(FetchDescriptor<DishGuest>()).map(\.name) == ["Ada"])
        #expect(try ModelContext(container).fetch(FetchDescriptor<Dish>()).map(\.name) == ["Soup"])
    }

    /// A relationship to many is saved with its owner, also where only the other side was set.
    @Test func aChangedRelationshipIsSavedOnBothSides() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (container, _) = try filled()
        let context = ModelContext(container)
        let soup = try #require(
            try context.fetch(FetchDescriptor<Dish>(predicate: #Predicate { $0.name == "Soup" })).first)
        context.insert(DishStep(text: "Boil", dish: soup))
        try context.save()
        let (other, _) = try open()
        let found = try ModelContext(other).fetch(FetchDescriptor<Dish>(predicate: #Predicate { !$0.steps.isEmpty }))
        #expect(found.map(\.name) == ["Soup"] && found.first?.steps.map(\.text) == ["Boil"])
    }

    /// Snapshots of an app's own type; values that the store gives as it saves.
    @Test func modelsTakeWhatTheStoreChanged() throws {
        let container = try ModelContainer(for: Badge.self, configurations: BadgeStoreConfiguration())
        let context = ModelContext(container)
        let ada = Badge(name: "Ada")
        context.insert(ada)
        try context.save()
        #expect(ada.number == 1 && !context.hasChanges)
        ada.name = "Ada L."
        try context.save()
        let others = try ModelContext(container).fetch(FetchDescriptor<Badge>())
        #expect(others.map(\.name) == ["Ada L."] && others.first?.number == 1)
        #expect(others.first?.persistentModelID == ada.persistentModelID)
    }

    /// What a store cannot evaluate is told by its own error.
    @Test func errorsOfTheStoreAreThrown() throws {
        let container = try ModelContainer(for: Badge.self, configurations: BadgeStoreConfiguration())
        let descriptor = FetchDescriptor<Badge>(predicate: #Predicate { $0.number > 1 })
        #expect(throws: DataStoreError.invalidPredicate) { try ModelContext(container).fetch(descriptor) }
    }
}
