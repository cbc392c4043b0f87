import Foundation
import Synchronization
import Testing

@testable import CoreData

/// The class of an entity's objects is found wherever it is in the program (A10).
@Suite struct ManagedObjectClassesTests {
    private static func model(_ classes: [String: String]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = classes.sorted { $0.key < $1.key }.map { name, className in
            let entity = NSEntityDescription()
            entity.name = name
            entity.managedObjectClassName = className
            entity.properties = [Library.attribute("name", .stringAttributeType)]
            return entity
        }
        return model
    }

    private func type(of entity: String, in context: NSManagedObjectContext) -> NSManagedObject.Type {
        Swift.type(of: NSEntityDescription.insertNewObject(forEntityName: entity, into: context))
    }

    @Test func aClassThatNobodyMentionedIsFoundByItsBareName() throws {
        let stack = try LibraryStack(
            model: Self.model([
                "A": "NobodyMentionsThisClass", "B": ".NobodyMentionsThisEither",
                "C": "WrongModule.NobodyMentionsItsModule",
                "D": "NobodyMentionsThisHiddenClass", "E": "NobodyMentionsThisInnerClass",
            ]))
        stack.story { context in
            for (entity, name) in [
                ("A", "NobodyMentionsThisClass"), ("B", "NobodyMentionsThisEither"), ("C", "NobodyMentionsItsModule"),
                ("D", "NobodyMentionsThisHiddenClass"), ("E", "NobodyMentionsThisInnerClass"),
            ] {
                #expect("\(type(of: entity, in: context))" == name)
            }
        }
    }

    @Test func thePlainInitialiserMakesAnObjectOfTheEntitysClass() throws {
        let stack = try LibraryStack(model: Self.model(["A": "WithoutStorage", "C": "BelowWithoutStorage"]))
        try stack.story { context in
            func make(_ name: String) throws -> NSManagedObject {
                let entity = try #require(NSEntityDescription.entity(forEntityName: name, in: context))
                return NSManagedObject(entity: entity, insertInto: context)
            }
            let made = try #require(try make("A") as? WithoutStorage)
            #expect(made.value(forKey: "name") as? String == "awake" && Swift.type(of: made) == WithoutStorage.self)
            #expect(try make("C") is BelowWithoutStorage)
            for _ in 0..<100 { #expect(try make("A") is WithoutStorage) }
            try context.save()
            context.reset()
            #expect(try context.fetch(NSFetchRequest<WithoutStorage>(entityName: "A")).count == 101)
            let entity = try #require(NSEntityDescription.entity(forEntityName: "A", in: context))
            #expect(NSManagedObject(entity: entity, insertInto: nil) is WithoutStorage)
        }
    }

    @Test func thePlainInitialiserRefusesAClassWithStoredProperties() async {
        await #expect(processExitsWith: .failure) {
            let stack = try LibraryStack(model: Self.model(["B": "WithStorage"]))
            try stack.story { context in
                let entity = try #require(NSEntityDescription.entity(forEntityName: "B", in: context))
                _ = NSManagedObject(entity: entity, insertInto: context)
            }
        }
    }

    @Test func fetchedObjectsHaveTheClassToo() throws {
        let stack = try LibraryStack(model: Self.model(["A": "NobodyMentionsThisClass"]))
        try stack.story { context in
            _ = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
            try context.save()
            context.reset()
            let fetched = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "A"))
            #expect(fetched.map { "\(Swift.type(of: $0))" } == ["NobodyMentionsThisClass"])
        }
    }

    @Test func aClassIsLearntFromTheDesignatedInitialiser() throws {
        let classes = ManagedObjectClasses.shared
        let model = Self.model(["Learnt": "Elsewhere.GenericRecord"])
        let entity = try #require(model.entities.first)
        let before = classes.knowledge
        // No list has a generic class: only an object shows it.
        let record = GenericRecord<Int>(entity: entity, insertInto: nil)
        #expect(classes.knowledge > before && record.entity === entity)
        #expect(classes.find(named: "GenericRecord", entity: "Learnt") == GenericRecord<Int>.self)
        #expect(classes.find(named: "CoreDataTests.GenericRecord", entity: "Learnt") == GenericRecord<Int>.self)
    }

    @Test func aClaimByAnotherModuleIsTheClasss() throws {
        let stack = try LibraryStack(model: Self.model(["C": "WrongModule.ClaimedByAnotherModule"]))
        stack.story { context in
            #expect(ClaimedByAnotherModule(context: context).entity.name == "C")
        }
    }

    @Test func whatIsNotThereIsWarnedOfOnce() throws {
        let warnings = Mutex<[String]>([])
        let classes = ManagedObjectClasses { text in warnings.withLock { $0.append(text) } }
        for _ in 0..<3 { #expect(classes.find(named: "NoSuchClass", entity: "A") == nil) }
        #expect(warnings.withLock { $0.count } == 1 && warnings.withLock { $0[0].contains("'NoSuchClass'") })
        #expect(classes.find(named: "NobodyMentionsThisClass", entity: "A") == NobodyMentionsThisClass.self)
        #expect(warnings.withLock { $0.count } == 1)
        #expect(classes.find(named: "WrongModule.NobodyMentionsThisClass", entity: "A") == NobodyMentionsThisClass.self)
        #expect(warnings.withLock { $0.last?.contains("CoreDataTests.NobodyMentionsThisClass is taken") } == true)
        _ = classes.find(named: "NobodyMentionsTheTwin", entity: "A")
        #expect(warnings.withLock { $0.last?.contains("Several classes") } == true)
        let stack = try LibraryStack(model: Self.model(["A": "NoSuchClass"]))
        stack.story { context in #expect(type(of: "A", in: context) == NSManagedObject.self) }
    }

    @Test func ofSeveralTheOneWithTheFullNameIsTaken() throws {
        let classes = ManagedObjectClasses.shared
        let full = "CoreDataTests.Twins.NobodyMentionsTheTwin"
        #expect(classes.find(named: full, entity: "A") == Twins.NobodyMentionsTheTwin.self)
    }
}

class NobodyMentionsThisClass: NSManagedObject {}
class WithoutStorage: NSManagedObject {
    override func awakeFromInsert() { setValue("awake", forKey: "name") }
}
class BelowWithoutStorage: WithoutStorage {}
class WithStorage: NSManagedObject {
    var note = "note"
}
class NobodyMentionsThisEither: NSManagedObject {}
class NobodyMentionsItsModule: NSManagedObject {}
class ClaimedByAnotherModule: NSManagedObject {}
private class NobodyMentionsThisHiddenClass: NSManagedObject {}

private enum Twins {
    class NobodyMentionsThisInnerClass: NSManagedObject {}
    class NobodyMentionsTheTwin: NSManagedObject {}
}

private enum OtherTwins {
    class NobodyMentionsTheTwin: NSManagedObject {}
}

private class GenericRecord<Value>: NSManagedObject {}
