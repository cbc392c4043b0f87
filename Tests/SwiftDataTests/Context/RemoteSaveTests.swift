import Foundation
import Observation
import SwiftData
import Synchronization
import TestSupport
import Testing

/// What another process saves shows in models in use (complaint 23). A second container of the file stands for the other process: both
/// know of each other by the file only.
@Suite @MainActor struct RemoteSaveTests {
    private let here: ModelContainer
    private let there: ModelContainer

    init() throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("dishes.store")
        func open() throws -> ModelContainer {
            try ModelContainer(for: Dish.self, DishOrder.self, configurations: ModelConfiguration(url: url))
        }
        (here, there) = (try open(), try open())
    }

    @Test func updatesAndDeletionsShow() async throws {
        let context = here.mainContext
        let (soup, stew) = (Dish(name: "Soup"), Dish(name: "Stew"))
        context.insert(soup)
        context.insert(stew)
        try context.save()
        let (soupID, stewID) = (soup.persistentModelID, stew.persistentModelID)
        let count = Mutex(0)
        withObservationTracking {
            _ = soup.name
        } onChange: {
            count.withLock { $0 += 1 }
        }

        let other = ModelContext(there)
        (other.model(for: soupID) as? Dish)?.name = "Broth"
        if let same = other.model(for: stewID) as? Dish { other.delete(same) }
        try other.save()
        try await Polling.suspend(until: "the other process's save") { soup.name == "Broth" }
        #expect(count.withLock { $0 } == 1)
        #expect(stew.modelContext == nil && stew.name == "Stew")
        #expect(!context.hasChanges)
    }

    /// Results of a query, too; own saves in between are no news, and unsaved changes stay.
    @Test func queriesFollow() async throws {
        let context = here.mainContext
        context.autosaveEnabled = false
        let query = try ModelQuery<Dish>(sort: [SortDescriptor(\.name)], in: context)
        let mine = Dish(name: "Mine")
        context.insert(mine)
        try context.save()
        mine.servings = 7
        let other = ModelContext(there)
        other.insert(Dish(name: "Theirs"))
        (other.model(for: mine.persistentModelID) as? Dish)?.name = "Ours"
        try other.save()
        try await Polling.suspend(until: "the inserted dish") { query.results.map(\.name) == ["Ours", "Theirs"] }
        #expect(mine.servings == 7 && mine.hasChanges)
        try context.save()
        try await Polling.suspend(until: "the way back") { try other.fetch(Self.many).map(\.name) == ["Ours"] }
    }

    private static var many: FetchDescriptor<Dish> { FetchDescriptor(predicate: #Predicate { $0.servings > 6 }) }

    /// `ModelContainer.remoteChange` tells of other containers' saves only.
    @Test func theContainerTellsOfChangesFromElsewhere() async throws {
        let counts = Mutex((here: 0, there: 0))
        let observers = [here, there].enumerated().map { index, container in
            NotificationCenter.default.addObserver(
                forName: ModelContainer.remoteChange, object: container, queue: nil
            ) { _ in counts.withLock { if index == 0 { $0.here += 1 } else { $0.there += 1 } } }
        }
        defer { observers.forEach { NotificationCenter.default.removeObserver($0) } }
        let context = ModelContext(there)
        context.insert(Dish(name: "Soup"))
        try context.save()
        try await Polling.suspend(until: "the notification") { counts.withLock { $0.here == 1 } }
        #expect(counts.withLock { $0.there } == 0)
    }

    /// A store of an app's own beside that of the module has no history, and is no obstacle.
    @Test func containersWithAStoreOfAnAppsOwnFollow() async throws {
        let folder = try Fixtures.temporaryFolder()
        func open() throws -> ModelContext {
            ModelContext(
                try ModelContainer(
                    for: Dish.self, DishOrder.self, Badge.self,
                    configurations: ModelConfiguration(
                        schema: Schema([Dish.self, DishOrder.self]), url: folder.appendingPathComponent("a.store")),
                    BadgeStoreConfiguration(schema: Schema([Badge.self]))))
        }
        let (context, other) = (try open(), try open())
        let (dish, badge) = (Dish(name: "Soup"), Badge(name: "Cook"))
        context.insert(dish)
        context.insert(badge)
        try context.save()
        badge.number = 8
        (other.model(for: dish.persistentModelID) as? Dish)?.name = "Broth"
        try other.save()
        try await Polling.suspend(until: "the other container's save") {
            _ = try context.fetchCount(FetchDescriptor<Dish>())
            return dish.name == "Broth"
        }
        #expect(badge.number == 8 && badge.name == "Cook")
    }

    /// A context without a queue merges when it is used next.
    @Test func aContextOfNobodyShowsItWithTheNextFetch() async throws {
        let context = ModelContext(here)
        let dish = Dish(name: "Soup")
        context.insert(dish)
        try context.save()
        let other = ModelContext(there)
        (other.model(for: dish.persistentModelID) as? Dish)?.name = "Broth"
        try other.save()
        try await Polling.suspend(until: "the other process's save") {
            _ = try context.fetchCount(FetchDescriptor<Dish>())
            return dish.name == "Broth"
        }
    }
}
