import CoreData
import Foundation
import SwiftData
import Testing

@Suite struct InsertingTests {
    /// B2: the root of a graph brings all that it leads to.
    @Test func insertingTheRootInsertsTheGraph() throws {
        let (_, context) = try kitchen()
        let dish = Dish(name: "Soup")
        let step = DishStep(text: "Boil")
        dish.steps = [step]
        context.insert(dish)
        #expect(context.insertedModelsArray.count == 2)
        #expect(step.modelContext === context)
        try context.save()
        #expect(context.insertedModelsArray.isEmpty && !context.hasChanges)
    }

    /// B3, complaint 18: the order of insertions does not matter, nor how often a model is inserted.
    @Test(arguments: [[0, 1], [1, 0], [0, 1, 0, 1], [1, 1, 0]]) func insertionIsIdempotent(order: [Int]) throws {
        let (_, context) = try kitchen()
        let dish = Dish(name: "Soup")
        let step = DishStep(text: "Boil")
        dish.steps.append(step)
        for index in order { if index == 0 { context.insert(dish) } else { context.insert(step) } }
        try context.save()
        #expect(dish.steps.map(\.text) == ["Boil"])
        #expect(step.dish === dish)
        #expect(
            try context.managedObjectContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "DishStep")) == 1)
    }

    /// B4: before it is inserted a model is a plain object, and both sides of a relationship show.
    @Test func aModelWorksBeforeItIsInserted() throws {
        let dish = Dish(name: "Soup", servings: 4)
        dish.note = "hot"
        #expect(DishGuest(name: "Ada").name == "Ada")
        dish.season = .winter
        let step = DishStep(text: "Boil")
        step.dish = dish
        #expect(dish.name == "Soup" && dish.servings == 4 && dish.note == "hot" && dish.season == .winter)
        #expect(dish.steps.map(\.text) == ["Boil"])
        dish.steps = []
        #expect(step.dish == nil)
        #expect(dish.modelContext == nil && !dish.hasChanges && !dish.isDeleted)
    }

    /// B4: what leads to a model of a context comes into that context, and the other side shows it.
    @Test func settingARelationshipToAModelOfAContextInsertsTheOther() throws {
        let (_, context) = try kitchen()
        let dish = Dish(name: "Soup")
        context.insert(dish)
        let step = DishStep(text: "Boil")
        step.dish = dish
        let second = DishStep(text: "Serve")
        dish.steps.append(second)
        #expect(step.modelContext === context && second.modelContext === context)
        #expect(dish.steps.map(\.text) == ["Boil", "Serve"])
        #expect(second.dish === dish)
    }

    /// B4, complaint 18: a model that was made with another one shows on the other side once it is inserted.
    @Test func aModelMadeWithItsOwnerIsAMemberOnceInserted() throws {
        let (_, context) = try kitchen()
        let dish = Dish(name: "Soup")
        let step = DishStep(text: "Boil", dish: dish)
        context.insert(step)
        #expect(dish.modelContext === context)
        #expect(dish.steps.map(\.text) == ["Boil"])
    }

    /// B5: models of two contexts are not related; the save says so until the changes are taken back.
    @Test func modelsOfTwoContextsAreAnErrorOfTheSave() throws {
        let (container, context) = try kitchen()
        let other = ModelContext(container)
        let dish = Dish(name: "Soup")
        let step = DishStep(text: "Boil")
        context.insert(dish)
        other.insert(step)
        dish.steps.append(step)
        #expect(dish.steps.isEmpty)
        #expect(throws: SwiftDataError.missingModelContext) { try context.save() }
        #expect(throws: SwiftDataError.missingModelContext) { try context.save() }
        context.rollback()
        try context.save()
    }

    /// B8, complaint 14: members come in the order in which they were added, and so they do after a new fetch.
    @Test func membersKeepTheirOrder() throws {
        let (container, context) = try kitchen()
        let dish = Dish(name: "Soup")
        context.insert(dish)
        let texts = (0..<20).map { "step \($0)" }
        for text in texts { dish.steps.append(DishStep(text: text)) }
        try context.save()
        #expect(dish.steps.map(\.text) == texts)
        let again = try #require(ModelContext(container).model(for: dish.persistentModelID) as? Dish)
        #expect(again.steps.map(\.text) == texts)
    }

    /// B9: what leads nowhere though it has to lead somewhere reads as a model of no context.
    @Test func aDestinationThatIsGoneReadsAsAModelOfNoContext() throws {
        let (_, context) = try kitchen()
        let guest = DishGuest(name: "Ada")
        context.insert(guest)
        let store = try #require(guest.persistentModelID.storeIdentifier)
        let id = try PersistentIdentifier.identifier(for: store, entityName: "DishOrder", primaryKey: "p99")
        let order = try #require(context.model(for: id) as? DishOrder)
        #expect(order.guest.modelContext == nil)
        #expect(order.guest.name == "")
    }

    /// Complaint 17: many to many needs no annotation to keep its members. Complaint 19: a relationship without another side saves.
    @Test func manyToManyAndOneWayRelationshipsAreSaved() throws {
        let (container, context) = try kitchen()
        let dishes = [Dish(name: "Soup"), Dish(name: "Stew")]
        let label = DishLabel(title: "hot")
        for dish in dishes { dish.labels.append(label) }
        let order = DishOrder(number: 1, guest: DishGuest(name: "Ada"))
        order.item = dishes[1]
        context.insert(order)
        context.insert(dishes[0])
        try context.save()
        let other = ModelContext(container)
        let found = try #require(other.model(for: label.persistentModelID) as? DishLabel)
        #expect(Set(found.dishes.map(\.name)) == ["Soup", "Stew"])
        let again = try #require(other.model(for: order.persistentModelID) as? DishOrder)
        #expect(again.item?.name == "Stew" && again.guest.name == "Ada")
    }

    /// B11: cascade.
    @Test func deletingCascades() throws {
        let (_, context) = try kitchen()
        let dish = Dish(name: "Soup")
        let step = DishStep(text: "Boil")
        dish.steps = [step]
        context.insert(dish)
        try context.save()
        context.delete(dish)
        context.processPendingChanges()
        #expect(step.isDeleted)
        try context.save()
        #expect(step.modelContext == nil && !step.isDeleted)
    }

    /// B13, complaint 21: who gains a member counts as changed, and is told of by the save.
    @Test func anOwnerThatGainsAMemberIsUpdated() throws {
        let (_, context) = try kitchen()
        let dish = Dish(name: "Soup")
        context.insert(dish)
        try context.save()
        dish.steps.append(DishStep(text: "Boil"))
        #expect(context.changedModelsArray.map(\.persistentModelID) == [dish.persistentModelID])
        let saves = SaveRecorder(context)
        try context.save()
        #expect(saves.identifiers(.updatedIdentifiers) == [dish.persistentModelID])
    }

    /// B14: a value that is set again counts as a change, and nothing is written for it.
    @Test func theSameValueAgainIsAChange() throws {
        let (_, context) = try kitchen()
        let dish = Dish(name: "Soup")
        context.insert(dish)
        try context.save()
        dish.name = "Soup"
        #expect(dish.hasChanges && context.hasChanges)
        try context.save()
        #expect(!dish.hasChanges)
    }

    /// F5: a transient property has its default again in a context that fetches the row. F8: values with a form of their own come back.
    @Test func transientValuesAreNotStored() throws {
        let (container, context) = try kitchen()
        let dish = Dish(name: "Soup")
        dish.isSelected = true
        dish.season = .winter
        context.insert(dish)
        try context.save()
        #expect(dish.isSelected)
        let again = try #require(ModelContext(container).model(for: dish.persistentModelID) as? Dish)
        #expect(!again.isSelected && again.season == .winter && again.name == "Soup")
    }

    /// One model object for each row in a context, also by way of relationships.
    @Test func thereIsOneModelForEachRow() throws {
        let (_, context) = try kitchen()
        let dish = Dish(name: "Soup")
        let step = DishStep(text: "Boil")
        dish.steps = [step]
        context.insert(dish)
        try context.save()
        #expect(step.dish === dish && dish.steps[0] === step)
        #expect(context.model(for: dish.persistentModelID) === dish)
        let registered: Dish? = context.registeredModel(for: dish.persistentModelID)
        #expect(registered === dish)
    }

    /// Values by key path, as programs do it that write the accessors themselves.
    @Test func keyPathsReadAndWrite() throws {
        let (_, context) = try kitchen()
        let dish = Dish(name: "Soup")
        for _ in 0..<2 {
            dish.setValue(forKey: \.name, to: "Stew")
            dish.setValue(forKey: \.servings, to: 3)
            #expect(dish.getValue(forKey: \.name) == "Stew" && dish.servings == 3)
            context.insert(dish)
            dish.name = "Soup"
        }
        dish.setValue(forKey: \.steps, to: [DishStep(text: "Boil")])
        #expect(dish.steps.map(\.text) == ["Boil"])
    }
}
