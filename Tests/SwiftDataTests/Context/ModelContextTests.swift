import CoreData
import Foundation
import SwiftData
import TestSupport
import Testing

@Suite struct ModelContextTests {
    /// C1.
    @Test @MainActor func onlyTheMainContextSavesByItself() throws {
        let (container, context) = try kitchen()
        #expect(!context.autosaveEnabled && container.mainContext.autosaveEnabled)
        #expect(container.mainContext === container.mainContext)
    }

    /// C2, complaint 15: the main context saves after the turn that changed something.
    @Test @MainActor func theMainContextSavesAfterATurn() async throws {
        let (container, _) = try kitchen()
        let context = container.mainContext
        context.insert(Dish(name: "Soup"))
        #expect(context.hasChanges)
        try await Polling.suspend(until: "the save") { !context.hasChanges }
    }

    /// Complaint 15: a failure is told, and the changes stay.
    @Test @MainActor func aFailedAutosaveIsTold() async throws {
        let (container, other) = try kitchen()
        let context = container.mainContext
        var told: [any Error] = []
        context.autosaveFailureHandler = { told.append($0) }
        let dish = Dish(name: "Soup")
        context.insert(dish)
        let step = DishStep(text: "Boil")
        other.insert(step)
        dish.steps = [step]
        try await Polling.suspend(until: "the failure") { !told.isEmpty }
        #expect(told.first as? SwiftDataError == .missingModelContext && context.hasChanges)
        context.rollback()
    }

    /// C2: a context that saves by itself does so before it goes.
    @Test func aContextThatGoesSaves() throws {
        let (container, _) = try kitchen()
        do {
            let context = ModelContext(container)
            context.autosaveEnabled = true
            context.insert(Dish(name: "Soup"))
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Dish")
        #expect(try ModelContext(container).managedObjectContext.count(for: request) == 1)
    }

    /// C3: a save without changes writes nothing, and tells nobody.
    @Test func aSaveWithoutChangesIsNone() throws {
        let (container, context) = try kitchen()
        context.insert(Dish(name: "Soup"))
        try context.save()
        let before = container.coordinator.currentPersistentHistoryToken(fromStores: nil)
        let saves = SaveRecorder(context)
        #expect(!context.hasChanges)
        try context.save()
        #expect(saves.names.isEmpty)
        #expect(container.coordinator.currentPersistentHistoryToken(fromStores: nil) == before)
    }

    /// C4: what was inserted leaves, what was deleted is there again, what was changed is as it was.
    @Test func rollbackTakesEverythingBack() throws {
        let (_, context) = try kitchen()
        let (kept, deleted) = (Dish(name: "Soup"), Dish(name: "Stew"))
        context.insert(kept)
        context.insert(deleted)
        try context.save()
        let new = Dish(name: "Pie")
        context.insert(new)
        kept.name = "Broth"
        context.delete(deleted)
        context.rollback()
        #expect(!context.hasChanges && new.modelContext == nil)
        #expect(kept.name == "Soup" && deleted.name == "Stew" && !deleted.isDeleted)
        #expect(deleted.modelContext === context)
    }

    private struct Refusal: Error {}

    /// C5: the changes of a block that throws stay, to be saved or rolled back.
    @Test func aTransactionSavesUnlessItsBlockThrows() throws {
        let (_, context) = try kitchen()
        try context.transaction { context.insert(Dish(name: "Soup")) }
        #expect(!context.hasChanges)
        #expect(throws: Refusal.self) {
            try context.transaction {
                context.insert(Dish(name: "Stew"))
                throw Refusal()
            }
        }
        #expect(context.insertedModelsArray.count == 1)
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Dish>()) == 1)
        context.rollback()
        #expect(!context.hasChanges)
    }

    /// C6, C7, complaint 1: what a deleted model says of itself, before and after the save; its last values stay readable.
    @Test func aDeletedModelKeepsItsLastValues() throws {
        let (_, context) = try kitchen()
        let dish = Dish(name: "Soup", servings: 5)
        dish.season = .winter
        context.insert(dish)
        try context.save()
        context.delete(dish)
        #expect(dish.isDeleted && dish.modelContext === context && context.deletedModelsArray.count == 1)
        try context.save()
        #expect(!dish.isDeleted && dish.modelContext == nil && context.deletedModelsArray.isEmpty)
        #expect(dish.name == "Soup" && dish.servings == 5 && dish.season == .winter)
        context.insert(dish)
        #expect(throws: SwiftDataError.missingModelContext) { try context.save() }
    }

    /// C6: one that was never saved is just discarded, and can be inserted again.
    @Test func deletingAnUnsavedModelDiscardsIt() throws {
        let (_, context) = try kitchen()
        let dish = Dish(name: "Soup")
        context.insert(dish)
        context.delete(dish)
        #expect(dish.modelContext == nil && !context.hasChanges && dish.name == "Soup")
        context.insert(dish)
        try context.save()
        #expect(dish.modelContext === context && dish.name == "Soup")
    }

    /// C8.
    @Test func aModelIsInOneListOnly() throws {
        let (_, context) = try kitchen()
        let (new, old) = (Dish(name: "Soup"), Dish(name: "Stew"))
        context.insert(old)
        try context.save()
        context.insert(new)
        new.name = "Broth"
        old.name = "Pie"
        #expect(context.changedModelsArray.count == 1 && context.insertedModelsArray.count == 1)
        context.delete(old)
        #expect(context.changedModelsArray.isEmpty && context.deletedModelsArray.count == 1)
    }

    /// C9.
    @Test func changesAreUndone() throws {
        let (_, context) = try kitchen()
        #expect(context.undoManager == nil)
        context.undoManager = UndoManager()
        let dish = Dish(name: "Soup")
        context.insert(dish)
        context.processPendingChanges()
        dish.name = "Broth"
        context.processPendingChanges()
        context.managedObjectContext.undo()
        #expect(dish.name == "Soup")
    }

    /// C10, complaint 36: a save that fails leaves all changes; rollback ends them, and the next save is none of theirs.
    @Test func aFailedSaveIsAtomic() throws {
        let (_, context) = try kitchen()
        context.uniquenessPolicy = .refuse
        context.insert(DishLabel(title: "hot"))
        try context.save()
        context.insert(DishLabel(title: "hot"))
        context.insert(Dish(name: "Soup"))
        #expect(throws: (any Error).self) { try context.save() }
        #expect(context.insertedModelsArray.count == 2)
        context.rollback()
        context.insert(Dish(name: "Stew"))
        try context.save()
    }

    /// C11, complaint 22: what a sibling saves shows in clean models; changed ones keep what was set.
    @Test func siblingSavesShow() throws {
        let (container, context) = try kitchen()
        let dish = Dish(name: "Soup")
        context.insert(dish)
        try context.save()
        let other = ModelContext(container)
        let same = try #require(other.model(for: dish.persistentModelID) as? Dish)
        #expect(same.name == "Soup")
        same.servings = 9
        dish.name = "Broth"
        dish.servings = 4
        try context.save()
        other.takeSiblingChanges()
        #expect(same.name == "Broth" && same.servings == 9)
        context.delete(dish)
        try context.save()
        other.takeSiblingChanges()
        // Complaint 1: its last values can be read.
        #expect(same.modelContext == nil && same.name == "Broth" && same.steps.isEmpty)
    }

    /// C12.
    @Test func savesAreToldByIdentifier() throws {
        let (_, context) = try kitchen()
        let saves = SaveRecorder(context)
        let (dish, other) = (Dish(name: "Soup"), Dish(name: "Stew"))
        context.insert(other)
        try context.save()
        context.insert(dish)
        other.name = "Pie"
        try context.save()
        #expect(
            saves.names == [ModelContext.willSave, ModelContext.didSave, ModelContext.willSave, ModelContext.didSave])
        #expect(saves.identifiers(.insertedIdentifiers) == [dish.persistentModelID])
        #expect(saves.identifiers(.updatedIdentifiers) == [other.persistentModelID])
        let info = try #require(saves.userInfos.last)
        #expect(info["inserted"] as? [PersistentIdentifier] == [dish.persistentModelID])
        #expect(info["insertedIdentifiers"] as? [PersistentIdentifier] == [dish.persistentModelID])
        context.delete(dish)
        try context.save()
        #expect(saves.identifiers(.deletedIdentifiers)?.count == 1)
    }

    /// A12, complaint 3: a model keeps its context, and that its container.
    @Test func modelsKeepTheirContainer() throws {
        func made() throws -> Dish {
            let (_, context) = try kitchen()
            let dish = Dish(name: "Soup")
            dish.steps = [DishStep(text: "Boil")]
            context.insert(dish)
            try context.save()
            return dish
        }
        let dish = try made()
        #expect(dish.steps.map(\.text) == ["Boil"])
        #expect(dish.modelContext != nil)
        dish.name = "Broth"
        try dish.modelContext?.save()
    }

    /// H3: a context without a queue may be used wherever it is, one thread at a time.
    @Test func aContextOfNobodyIsUsedAnywhere() async throws {
        let (container, _) = try kitchen()
        let count = try await Task.detached {
            let context = ModelContext(container)
            context.insert(Dish(name: "Soup"))
            await Task.yield()
            try context.save()
            return try context.managedObjectContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Dish"))
        }.value
        #expect(count == 1)
    }
}
