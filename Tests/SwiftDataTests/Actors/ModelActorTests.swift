import CoreData
import Foundation
import SwiftData
import Testing

/// Where actors run, and with which context.
@Suite struct ModelActorTests {
    private static func container() throws -> ModelContainer {
        try ModelContainer(
            for: ShapeTrip.self, ShapeStop.self, ShapeStay.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    /// Whether the calling thread runs work of the main queue, which is the main actor's.
    private enum MainQueue {
        private static let key: DispatchSpecificKey<Bool> = {
            let key = DispatchSpecificKey<Bool>()
            DispatchQueue.main.setSpecific(key: key, value: true)
            return key
        }()
        static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
    }

    @Test func actorHasAContextOfItsOwn() async throws {
        let container = try Self.container()
        let one = ShapeStore(modelContainer: container)
        let other = ShapeStore(modelContainer: container)
        #expect(one.modelContainer === container)
        let context = await one.with { ObjectIdentifier($0) }
        #expect(context == ObjectIdentifier(one.modelExecutor.modelContext))
        #expect(await other.with { ObjectIdentifier($0) } != context)
        #expect(await one.with { $0.container === container })
    }

    /// The actor's executor is its model executor (H1), which is the queue of the context.
    @Test func blocksOfTheContextsQueueAreIsolatedToTheActor() async throws {
        let store = ShapeStore(modelContainer: try Self.container())
        let executor = try #require(store.modelExecutor as? DefaultSerialModelExecutor)
        let name = await executor.modelContext.managedObjectContext.perform {
            store.assumeIsolated { ObjectIdentifier($0.modelContext) }
        }
        #expect(name == ObjectIdentifier(executor.modelContext))
    }

    /// The executor is private wherever the actor is made (H2, complaint 33).
    @MainActor @Test func actorMadeOnTheMainActorRunsOffIt() async throws {
        let store = ShapeStore(modelContainer: try Self.container())
        #expect(await store.with { _ in MainQueue.isCurrent } == false)
        #expect(await store.add(["a", "b"]) == 2)
        #expect(await store.add(["c"]) == 3)
    }

    /// Only the main context's executor is the main actor's (H2).
    @MainActor @Test func actorOfTheMainContextRunsOnTheMainActor() async throws {
        let container = try Self.container()
        let store = ShapeHandStore(
            modelContainer: container,
            modelExecutor: DefaultSerialModelExecutor(modelContext: container.mainContext))
        #expect(await store.with { _ in MainQueue.isCurrent })
        let main = ObjectIdentifier(container.mainContext)
        #expect(await store.with { ObjectIdentifier($0) } == main)
    }

    @Test func actorWithItsOwnInitializerRuns() async throws {
        let container = try Self.container()
        #expect(await ShapeOwnStore(modelContainer: container).named() == "store")
        #expect(await ShapeOwnStore(modelContainer: container, name: "other").named() == "other")
    }

    @Test func subscriptGivesModelsOfTheClass() async throws {
        let store = ShapeStore(modelContainer: try Self.container())
        let id = try await store.with { context in
            let stop = ShapeStop(title: "Oslo")
            context.insert(stop)
            try context.save()
            return stop.persistentModelID
        }
        #expect(await store.title(of: id) == "Oslo")
        #expect(await store.isTrip(id) == false)
    }

    /// Contexts and models stay where they are; containers and identifiers are passed on (H4, complaint 31).
    @Test(.enabled(if: MacroCompiler.isAvailable, Comment(rawValue: MacroCompiler.missing)))
    func contextsAndModelsAreNotSendable() throws {
        let output = try MacroCompiler.check(
            """
            import SwiftData
            @Model final class Item { var a = 1; init() {} }
            func send<T: Sendable>(_ type: T.Type) {}
            func check() {
                send(ModelContainer.self)
                send(PersistentIdentifier.self)
                send(ModelContext.self)
                send(Item.self)
            }
            """)
        #expect(output.diagnostics.map(\.line) == [7, 8])
        for message in output.diagnostics.map(\.message) { #expect(message.contains("to 'Sendable' is unavailable")) }
        #expect(output.diagnostics.last?.message.contains("pass 'persistentModelID'") == true)
    }
}

extension ShapeStore {
    fileprivate func title(of id: PersistentIdentifier) -> String? { self[id, as: ShapeStop.self]?.title }
    fileprivate func isTrip(_ id: PersistentIdentifier) -> Bool { self[id, as: ShapeTrip.self] != nil }
}
