import Foundation
import SwiftData
import Testing

/// Contexts that are used where they do not belong (complaint 32): debug builds log it, and with ConcurrencyDebug it stops the program.
@Suite struct ContextUseTests {
    private struct Smuggled<Value>: @unchecked Sendable {
        // Not safe at all: that is what is tested.
        let value: Value
    }

    /// Runs on a thread that belongs to no context.
    private static func elsewhere(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await Task.detached { try body() }.value
    }

    @MainActor private static func mainDish() throws -> (Smuggled<ModelContext>, Smuggled<Dish>, ModelContainer) {
        let (container, _) = try kitchen()
        let context = container.mainContext
        context.autosaveEnabled = false
        let dish = Dish(name: "Soup")
        context.insert(dish)
        try context.save()
        return (Smuggled(value: context), Smuggled(value: dish), container)
    }

    @Test func modelsOfTheMainContextStayOnTheMainActor() async {
        await #expect(processExitsWith: .failure) {
            setenv("COREDATA_CONCURRENCYDEBUG", "1", 1)
            let (_, dish, container) = try await ContextUseTests.mainDish()
            try await ContextUseTests.elsewhere { _ = dish.value.name }
            withExtendedLifetime(container) {}
            exit(EXIT_SUCCESS)
        }
        await #expect(processExitsWith: .failure) {
            setenv("COREDATA_CONCURRENCYDEBUG", "1", 1)
            let (context, _, container) = try await ContextUseTests.mainDish()
            try await ContextUseTests.elsewhere { _ = try context.value.fetch(FetchDescriptor<Dish>()) }
            withExtendedLifetime(container) {}
            exit(EXIT_SUCCESS)
        }
    }

    @Test func theContextOfAnActorStaysThere() async {
        await #expect(processExitsWith: .failure) {
            setenv("COREDATA_CONCURRENCYDEBUG", "1", 1)
            let (container, _) = try kitchen()
            let executor = DefaultSerialModelExecutor(modelContext: ModelContext(container))
            let context = Smuggled(value: executor.modelContext)
            try await ContextUseTests.elsewhere { _ = try context.value.fetch(FetchDescriptor<Dish>()) }
            exit(EXIT_SUCCESS)
        }
    }

    /// The main actor and an actor use theirs, and a context of nobody is used on any thread.
    @Test func rightUsesGoOn() async {
        await #expect(processExitsWith: .success) {
            setenv("COREDATA_CONCURRENCYDEBUG", "1", 1)
            let (_, dish, container) = try await ContextUseTests.mainDish()
            let name = await MainActor.run { dish.value.name }
            let executor = DefaultSerialModelExecutor(modelContext: ModelContext(container))
            let store = ShapeHandStore(modelContainer: container, modelExecutor: executor)
            let count = try await store.with { try $0.fetchCount(FetchDescriptor<Dish>()) }
            let context = Smuggled(value: ModelContext(container))
            for _ in 0..<2 {
                try await ContextUseTests.elsewhere {
                    for dish in try context.value.fetch(FetchDescriptor<Dish>()) { dish.servings += 1 }
                    try context.value.save()
                }
            }
            exit(name == "Soup" && count == 1 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }
}
