import CoreData
import Foundation
import SwiftData
import Testing

/// What a context offers beside inserting, fetching and saving (1.9).
@Suite struct ContextInterfaceTests {
    @Test func theAuthorIsThatOfTheEditingState() throws {
        let (container, context) = try kitchen()
        #expect(context.author == nil && context.editingState.author == nil)
        context.author = "app"
        #expect(context.editingState.author == "app")
        #expect(context.editingState.id == context.editingState.id)
        let other = ModelContext(container)
        #expect(other.editingState.id != context.editingState.id)
        other.editingState = context.editingState
        #expect(other.author == "app" && other.editingState.id == context.editingState.id)
        other.insert(Dish(name: "Soup"))
        try other.save()
        #expect(try other.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).map(\.author) == ["app"])
        #expect(context == context && context != other && context.container == other.container)
    }

    /// D8: of the class that is asked for, and without reading anything.
    @Test func registeredModels() throws {
        let (container, context) = try kitchen()
        let dish = Dish(name: "Soup")
        context.insert(dish)
        try context.save()
        let id = dish.persistentModelID
        let found: Dish? = context.registeredModel(for: id)
        #expect(found === dish)
        let none: DishStep? = context.registeredModel(for: id)
        #expect(none == nil)
        let unread: Dish? = ModelContext(container).registeredModel(for: id)
        #expect(unread == nil)
    }

    /// C4, C9: the undo manager itself undoes what was done since the last event, and a rollback empties it.
    @Test func theUndoManagerUndoesAndRedoes() throws {
        let (_, context) = try kitchen()
        let manager = UndoManager()
        let (dish, other) = (Dish(name: "Soup"), Dish(name: "Stew"))
        context.insert(dish)
        context.insert(other)
        try context.save()
        context.undoManager = manager
        dish.name = "Broth"
        context.delete(other)
        context.processPendingChanges()
        manager.undo()
        #expect(dish.name == "Soup" && !other.isDeleted && other.modelContext === context)
        manager.redo()
        #expect(dish.name == "Broth" && other.isDeleted)
        context.rollback()
        #expect(!manager.canUndo && !manager.canRedo && dish.name == "Soup" && !other.isDeleted)
    }

    private func areSame(_ models: [any PersistentModel], _ others: [any PersistentModel]) -> Bool {
        models.count == others.count && zip(models, others).allSatisfy { $0 === $1 }
    }

    /// The arrays have models of all classes, in the order of the changes.
    @Test func theArraysHaveAllClasses() throws {
        let (_, context) = try kitchen()
        let (dish, label) = (Dish(name: "Soup"), DishLabel(title: "hot"))
        context.insert(label)
        context.insert(dish)
        #expect(areSame(context.insertedModelsArray, [label, dish]))
        try context.save()
        dish.servings = 3
        label.rank = 1
        #expect(areSame(context.changedModelsArray, [dish, label]))
        context.delete(dish)
        #expect(areSame(context.deletedModelsArray, [dish]) && areSame(context.changedModelsArray, [label]))
    }

    /// A change in an observer of willSave is saved, too.
    @Test func changesOfWillSaveAreSaved() throws {
        let (container, context) = try kitchen()
        let dish = Dish(name: "Soup")
        context.insert(dish)
        nonisolated(unsafe) let unsafe = dish
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.willSave, object: context, queue: nil
        ) { note in
            #expect(note.userInfo == nil)
            unsafe.servings = 9
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.save()
        #expect(!context.hasChanges)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Dish>()).map(\.servings) == [9])
    }
}
