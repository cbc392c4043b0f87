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

    @Model final class Vault {
        #Unique<Vault>([\.shelf, \.place])
        @Attribute(.unique) var code: String
        @Attribute(.unique) var owner: String
        var shelf: Int
        var place: Int
        var note: String?
        init(code: String, owner: String, shelf: Int = 0, place: Int = 0) {
            self.code = code
            self.owner = owner
            self.shelf = shelf
            self.place = place
        }
    }

    private func vaults(_ context: ModelContext) throws -> [String] {
        try context.fetch(FetchDescriptor<Vault>(sortBy: [SortDescriptor(\.code)])).map { "\($0.code) \($0.owner)" }
    }

    private func vaultContext() throws -> ModelContext {
        ModelContext(
            try ModelContainer(for: Vault.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    }

    /// E2: an ordinary constraint of Core Data; the attributes of the new model win, nil included.
    @Test func constraintsAreThoseOfTheModel() throws {
        let context = try vaultContext()
        let entity = context.container.coordinator.managedObjectModel.entitiesByName["Vault"]
        let constraints = try #require(entity?.uniquenessConstraints as? [[String]])
        #expect(Set(constraints) == [["code"], ["owner"], ["shelf", "place"]])
        let first = Vault(code: "A", owner: "Ann", shelf: 1)
        first.note = "old"
        context.insert(first)
        try context.save()
        context.insert(Vault(code: "A", owner: "Ben", shelf: 2))
        try context.save()
        #expect(try vaults(context) == ["A Ben"])
        #expect(first.owner == "Ben" && first.shelf == 2 && first.note == nil)
    }

    /// E3, complaint 5: of rows whose values a new model has one remains, which the model stands for; the context and the notification name it
    /// and those that are gone.
    @Test(arguments: [false, true])
    func aModelWithTheValuesOfSeveralRowsReplacesThem(_ isIdentified: Bool) throws {
        let context = try vaultContext()
        let rows = [
            Vault(code: "A", owner: "Ann", place: 1), Vault(code: "B", owner: "Ben", place: 2),
            Vault(code: "C", owner: "Cleo", place: 3),
        ]
        rows.forEach(context.insert)
        try context.save()
        let ids = rows.map(\.persistentModelID)
        let saves = SaveRecorder(context)
        let new = Vault(code: "A", owner: "Ben", place: 3)
        new.note = "new"
        context.insert(new)
        // An identifier that was given out before the save is permanent, and yet not that of the row.
        if isIdentified { _ = new.persistentModelID }
        try context.save()
        #expect(try vaults(context) == ["A Ben"])
        let remaining = new.persistentModelID
        #expect(ids.contains(remaining) && new.modelContext === context && !new.hasChanges)
        #expect(context.lastUpdatedInsteadOfInserted == [remaining])
        #expect(Set(context.lastReplaced) == Set(ids).subtracting([remaining]) && context.lastReplaced.count == 2)
        #expect(saves.identifiers(.insertedIdentifiers) == [])
        #expect(saves.identifiers(.updatedIdentifiers) == [remaining])
        #expect(saves.identifiers(.deletedIdentifiers).map { Set($0) } == Set(context.lastReplaced))
        for (row, id) in zip(rows, ids) {
            #expect((row.modelContext == nil) == (id != remaining), "\(id)")
            #expect(row.note == (id == remaining ? "new" : row.note), "values stay readable")
        }
        new.note = "newer"
        try context.save()
        #expect(try ModelContext(context.container).fetch(FetchDescriptor<Vault>()).map(\.note) == ["newer"])
        #expect(context.lastReplaced.isEmpty && context.lastUpdatedInsteadOfInserted.isEmpty)
    }

    /// E3: a changed model that gets the unique value of another row stands for that row from then on; its own is gone.
    @Test func aChangedModelWithTheValueOfAnotherRowReplacesIt() throws {
        let context = try vaultContext()
        let (first, second) = (Vault(code: "A", owner: "Ann", place: 1), Vault(code: "B", owner: "Ben", place: 2))
        context.insert(first)
        context.insert(second)
        try context.save()
        let ids = [first, second].map(\.persistentModelID)
        first.code = "B"
        try context.save()
        #expect(try vaults(context) == ["B Ben"])
        #expect(first.persistentModelID == ids[1] && first.modelContext === context && first.code == "B")
        #expect(context.lastReplaced == [ids[0]] && context.lastUpdatedInsteadOfInserted.isEmpty)
    }

    /// E4: of two new models, one of which has a row's value, too, the row remains. A row that was inserted is not told as updated.
    @Test func newModelsAndARowBecomeOneRow() throws {
        let context = try vaultContext()
        let saves = SaveRecorder(context)
        let (one, same) = (Vault(code: "A", owner: "Ann", place: 1), Vault(code: "A", owner: "Ben", place: 2))
        context.insert(one)
        context.insert(same)
        try context.save()
        let id = one.persistentModelID
        #expect(same.persistentModelID == id && same.modelContext === context)
        #expect(context.lastUpdatedInsteadOfInserted.isEmpty && context.lastReplaced.isEmpty)
        #expect(saves.identifiers(.insertedIdentifiers) == [id] && saves.identifiers(.updatedIdentifiers) == [])
        let (two, three) = (Vault(code: "B", owner: "Ben", place: 3), Vault(code: "B", owner: "Cleo", place: 4))
        context.insert(two)
        context.insert(three)
        try context.save()
        #expect(try vaults(context) == ["B Cleo"])
        #expect([two, three].map(\.persistentModelID) == [id, id] && one.code == "B")
        #expect(context.lastUpdatedInsteadOfInserted == [id] && context.lastReplaced.isEmpty)
    }

    /// Complaint 6: a constraint over several properties.
    @Test func valuesAreUniqueTogether() throws {
        let context = try vaultContext()
        context.insert(Vault(code: "A", owner: "Ann", shelf: 1, place: 1))
        context.insert(Vault(code: "B", owner: "Ben", shelf: 1, place: 2))
        try context.save()
        context.insert(Vault(code: "C", owner: "Cleo", shelf: 1, place: 2))
        try context.save()
        #expect(try vaults(context) == ["A Ann", "C Cleo"])
    }
}
