import CoreData
import Foundation
import SwiftData
import Testing

@Suite struct UniquenessTests {
    private func labels(_ context: ModelContext) throws -> [DishLabel] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "DishLabel")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try context.managedObjectContext.fetch(request).compactMap { context.model(for: $0, as: DishLabel.self) }
    }

    /// E1, E5, E6: the stored row takes the values, keeps relationships that were not set, and is the model's from then on.
    @Test func insertingAStoredValueUpdatesItsRow() throws {
        let (_, context) = try kitchen()
        let first = DishLabel(title: "hot", rank: 1)
        let dish = Dish(name: "Soup")
        first.dishes = [dish]
        context.insert(first)
        try context.save()
        let id = first.persistentModelID
        let second = DishLabel(title: "hot", rank: 2)
        context.insert(second)
        try context.save()
        #expect(try labels(context).count == 1)
        #expect(second.persistentModelID == id && second.rank == 2 && first.rank == 2)
        #expect(second.dishes.map(\.name) == ["Soup"] && second.modelContext === context)
        // Complaint 5: the context says which row it was.
        #expect(context.lastUpdatedInsteadOfInserted == [id] && context.lastReplaced.isEmpty)
    }

    /// E4, complaint 4: two new models with one value become one row; the later values hold, and both models stand for it.
    @Test func twoNewModelsWithOneValueBecomeOneRow() throws {
        let (_, context) = try kitchen()
        let (first, second) = (DishLabel(title: "hot", rank: 1), DishLabel(title: "hot", rank: 2))
        context.insert(first)
        context.insert(second)
        try context.save()
        #expect(try labels(context).count == 1)
        #expect(first.persistentModelID == second.persistentModelID && first.rank == 2 && second.rank == 2)
        second.rank = 3
        #expect(first.rank == 3)
        try context.save()
    }

    /// Who refers to the model that becomes another's row refers to that.
    @Test func referencesFollowToTheRow() throws {
        let (_, context) = try kitchen()
        context.insert(DishLabel(title: "hot"))
        try context.save()
        let dish = Dish(name: "Soup")
        dish.labels = [DishLabel(title: "hot", rank: 7)]
        context.insert(dish)
        try context.save()
        #expect(dish.labels.map(\.rank) == [7])
        #expect(try labels(context).count == 1)
    }

    /// Complaint 5: the strict mode throws, and writes nothing.
    @Test func theStrictModeThrows() throws {
        let (container, context) = try kitchen()
        context.insert(DishLabel(title: "hot", rank: 1))
        try context.save()
        context.uniquenessPolicy = .refuse
        context.insert(DishLabel(title: "hot", rank: 2))
        #expect(throws: (any Error).self) { try context.save() }
        #expect(try labels(ModelContext(container)).map(\.rank) == [1])
    }
}
