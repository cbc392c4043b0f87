import CoreData
import Foundation
import Testing

/// The ways to make objects, in generic code and in classes with initialisers of their own; see
/// docs/decisions/required-initialiser.md.
@Suite struct InitialiserTests {
    /// As repositories in apps have it.
    private struct Shelf<Element: NSManagedObject> {
        let context: NSManagedObjectContext
        func make() -> Element { Element(context: context) }
        func makeWithType(_ type: Element.Type) -> Element { type.init(context: context) }
    }

    private class Plant: NSManagedObject {
        var label = "plant"
    }

    private class Tree: Plant {
        /// Of its own, without `required`.
        convenience init(context: NSManagedObjectContext) {
            self.init(entity: InitialiserTests.entity("Tree", in: context), insertInto: context)
            label = "tree"
        }

        convenience init(label: String, in context: NSManagedObjectContext) {
            self.init(context: context)
            self.label = label
        }
    }

    private final class Oak: Tree {
        let acorns: Int

        required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
            acorns = 7
            super.init(entity: entity, insertInto: context)
        }

        /// A designated initialiser of its own.
        init(acorns: Int, in context: NSManagedObjectContext) {
            self.acorns = acorns
            super.init(entity: InitialiserTests.entity("Oak", in: context), insertInto: context)
        }
    }

    private final class Fern: Plant {
        required convenience init<Context: NSManagedObjectContext>(context: Context) {
            self.init(entity: InitialiserTests.entity("Fern", in: context), insertInto: context)
            label = "fern"
        }
    }

    private final class Moss: Plant {
        nonisolated(unsafe) static var asked = 0  // Safe because one test uses it.

        override class func entity() -> NSEntityDescription {
            asked += 1
            return NSManagedObjectModel.mossModel.entitiesByName["Lichen"] ?? NSEntityDescription()
        }
    }

    private static func entity(_ name: String, in context: NSManagedObjectContext) -> NSEntityDescription {
        NSEntityDescription.entity(forEntityName: name, in: context) ?? NSEntityDescription()
    }

    private static func model() -> NSManagedObjectModel {
        let classes: [NSManagedObject.Type] = [Plant.self, Tree.self, Oak.self, Fern.self]
        let entities = zip(["Plant", "Tree", "Oak", "Fern"], classes).map { name, type in
            let entity = Library.entity(name, nil)
            entity.managedObjectClassName = String(reflecting: type)
            entity.properties = [Library.attribute("name", .stringAttributeType)]
            return entity
        }
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    @Test func genericCodeMakesObjectsByTheirContext() throws {
        let stack = try LibraryStack(model: Self.model())
        stack.story { context in
            let plant: Plant = Shelf(context: context).make()
            #expect(type(of: plant) == Plant.self && plant.entity.name == "Plant" && plant.isInserted)
            let oak = Shelf<Oak>(context: context).make()
            #expect(oak.acorns == 7 && oak.entity.name == "Oak")
            let type: Plant.Type = Oak.self
            #expect(type.init(context: context) is Oak)
            #expect(Shelf<Plant>(context: context).makeWithType(Oak.self).entity.name == "Oak")
            let anyType: NSManagedObject.Type = Tree.self
            #expect(anyType.init(context: context).entity.name == "Tree")
            #expect(Shelf<Fern>(context: context).make().label == "fern")
            #expect([context].map(Plant.init(context:)).first?.entity.name == "Plant")
        }
    }

    @Test func classesHaveInitialisersOfTheirOwn() throws {
        let stack = try LibraryStack(model: Self.model())
        stack.story { context in
            #expect(Tree(context: context).label == "tree" && Tree(label: "ash", in: context).label == "ash")
            #expect(Oak(acorns: 3, in: context).acorns == 3 && Oak(context: context).label == "tree")
            #expect(Fern(context: context).label == "fern" && Plant(context: context).label == "plant")
        }
    }

    @Test func anOverriddenEntityIsTheClasss() throws {
        let stack = try LibraryStack(model: NSManagedObjectModel.mossModel)
        try stack.story { context in
            Moss.asked = 0
            let moss = Moss(context: context)
            #expect(moss.entity.name == "Lichen" && Moss.asked == 1)
            let request: NSFetchRequest<any NSFetchRequestResult> = Moss.fetchRequest()
            #expect(request.entityName == "Lichen" && request.entity === Moss.entity())
            let generic = Shelf<Moss>(context: context).make()
            #expect(generic.entity.name == "Lichen")
            try context.save()
            #expect(try context.count(for: request) == 2)
        }
    }

    @Test func whatApplesClassesHaveIsThere() {
        let id = NSManagedObjectID()
        #expect(id.isEqual(id) && !id.isEqual(NSManagedObjectID()) && id.persistentStore == nil)
        let coordinator = NSPersistentStoreCoordinator()
        #expect(coordinator.persistentStores.isEmpty && coordinator.managedObjectModel.entities.isEmpty)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.performAndWait {
            #expect(throws: CocoaError.self) { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")) }
            #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
        }
        #expect(NSManagedObject().managedObjectContext == nil && NSManagedObject().changedValues().isEmpty)
        #expect(NSFetchIndexDescription().elements.isEmpty && NSFetchIndexElementDescription().property == nil)
        #expect(NSPersistentContainer().persistentStoreCoordinator.persistentStores.isEmpty)
        let others: [NSObject] = [
            NSEntityDescription(), NSAttributeDescription(), NSRelationshipDescription(),
            NSFetchedPropertyDescription(),
            NSExpressionDescription(), NSDerivedAttributeDescription(), NSCompositeAttributeDescription(),
            NSPropertyDescription(), NSManagedObjectModel(), NSFetchRequest<NSManagedObject>(),
            NSPersistentStoreRequest(),
            NSPersistentStoreDescription(), ValueTransformer(),
        ]
        #expect(others.allSatisfy { !$0.description.isEmpty })
    }

    @Test func anIDOfNobodysIsAStandIn() {
        final class MockID: NSManagedObjectID, @unchecked Sendable {
            let number: Int

            init(number: Int) {
                self.number = number
                super.init()
            }
        }
        #expect(MockID(number: 3).number == 3 && MockID(number: 3) != MockID(number: 3))
    }
}

extension NSManagedObjectModel {
    /// An entity whose class says which it is, as its name does not.
    // Safe because it is in use, and frozen.
    nonisolated(unsafe) fileprivate static let mossModel: NSManagedObjectModel = {
        let entity = Library.entity("Lichen", nil)
        entity.properties = [Library.attribute("name", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }()
}
