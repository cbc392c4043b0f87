import CoreData
import CoreDataToolkit
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct DeepCopierTests {
    private static let all = ["Item", "Unit", "LocationAtHome", "LocationAtShop"]

    @Test func theGroceriesAreCopiedWithWhatTheyLeadToAndTwiceIsTheSame() async throws {
        let grocery = try Grocery()
        let shipped = grocery.folder.appendingPathComponent("Shipped.sqlite")
        let source = try await grocery.makeFullStack(at: shipped)
        try await source.performImport { context in
            let item = try Self.item("Apples Cox", in: context)
            let photo = NSEntityDescription.insertNewObject(forEntityName: "Item_Photo", into: context)
            photo.setValue(Data(count: 200_000), forKey: "data")
            item.setValue(photo, forKey: "photo")
        }
        let told = Mutex<[Int]>([])
        let stack = try await grocery.makeStack()
        let copier = try DeepCopier(fromStoreAt: shipped, to: stack, unique: Grocery.unique)
        let first = try await copier.copy(Self.all) { progress in told.withLock { $0.append(progress.count) } }
        #expect(first.entities["Item"]?.created == 377 && first.entities["Item_Photo"]?.created == 1)
        #expect(told.withLock { $0 } == told.withLock { $0 }.sorted() && told.withLock { $0.count } > 3)
        for entity in Self.all {
            #expect(try await stack.count(entity) == source.count(entity), "\(entity)")
        }
        #expect(try await stack.count("Item", "unit.name == 'g' && locationAtShop != nil") == 57)
        #expect(try await stack.count("Item", "photo != nil && name == 'Apples Cox'") == 1)
        let size = try await stack.inView { context in
            (try Self.item("Apples Cox", in: context).value(forKeyPath: "photo.data") as? Data)?.count
        }
        #expect(size == 200_000)
        let second = try await copier.copy(Self.all)
        #expect(second.objects == first.objects && second.entities.isEmpty)
        #expect(try await stack.count("Item_Photo") == 1)
    }

    private static func item(_ name: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(context.fetch(request).first)
    }

    @Test func whatIsThereIsFoundAndBecomesAsInTheSource() async throws {
        let grocery = try Grocery()
        let shipped = grocery.folder.appendingPathComponent("Shipped.sqlite")
        let source = try await grocery.makeFullStack(at: shipped)
        let stack = try await grocery.makeStack()
        try await stack.performImport { context in
            let unit = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: context)
            unit.setValue("kg", forKey: "name")
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue("Apples Cox", forKey: "name")
            item.setValue(NSNumber(value: 9), forKey: "quantity")
            let own = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            own.setValue("My own", forKey: "name")
            own.setValue(unit, forKey: "unit")
        }
        let copier = try DeepCopier(fromStoreAt: shipped, to: stack, unique: Grocery.unique)
        // Units are no chosen entity: they are found, or made with their attributes.
        let summary = try await copier.copy(["Item"])
        #expect(summary.entities["Item"]?.created == 376 && summary.entities["Item"]?.updated == 1)
        #expect(summary.entities["Unit"]?.created == 19)
        #expect(try await stack.count("Item", "name == 'Apples Cox' && quantity == 1 && unit.name == 'kg'") == 1)
        #expect(try await stack.count("Item", "name == 'My own' && unit.name == 'kg'") == 1)
        #expect(try await stack.count("Item") == source.count("Item") + 1)
    }

    @Test func aCopyThatIsKilledIsMadeAgain() async throws {
        let grocery = try Grocery()
        let shipped = grocery.folder.appendingPathComponent("Shipped.sqlite")
        try await grocery.makeFullStack(at: shipped).removeStores()
        try await grocery.makeStack().removeStores()
        for batches in [1, 4, 9] {
            try Worker.runAndKill(afterLines: batches, "copy", grocery.storeURL.path, shipped.path)
        }
        #expect(try Worker.run("copy", grocery.storeURL.path, shipped.path) == 0)
        let stack = try await grocery.makeStack()
        #expect(try await stack.count("Item") == 377)
        #expect(try await stack.count("Unit") == 20)
        #expect(try await stack.count("Item", "unit.name == 'g'") == 57)
        let findings = try NSPersistentStoreCoordinator.verifyPersistentStore(at: grocery.storeURL).findings
        #expect(!findings.contains { $0.severity == .error })
    }

    /// Friends in a circle, an order that matters, and a many-to-many.
    private static func circleModel() -> NSManagedObjectModel {
        func attribute(_ name: String) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = .stringAttributeType
            attribute.isOptional = true
            return attribute
        }
        func relationship(
            _ name: String, _ to: NSEntityDescription, many: Bool, ordered: Bool = false
        )
            -> NSRelationshipDescription
        {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = to
            relationship.maxCount = many ? 0 : 1
            relationship.isOptional = true
            relationship.isOrdered = ordered
            return relationship
        }
        let (person, tag) = (NSEntityDescription(), NSEntityDescription())
        (person.name, tag.name) = ("Person", "Tag")
        let best = relationship("best", person, many: false)
        let bestOf = relationship("bestOf", person, many: true)
        let tags = relationship("tags", tag, many: true)
        let people = relationship("people", person, many: true)
        let queue = relationship("queue", person, many: true, ordered: true)
        let queuedBy = relationship("queuedBy", person, many: false)
        for (one, other) in [(best, bestOf), (tags, people), (queue, queuedBy)] {
            one.inverseRelationship = other
            other.inverseRelationship = one
        }
        person.properties = [attribute("name"), best, bestOf, tags, queue, queuedBy]
        tag.properties = [attribute("name"), people]
        let model = NSManagedObjectModel()
        model.entities = [person, tag]
        return model
    }

    @Test func circlesOrdersAndManyToManyAreCopied() async throws {
        let model = Self.circleModel()
        let source = try await CoreDataStack.setUp(model: model, storeURL: nil, options: .server)
        let unique = ["Person": ["name"], "Tag": ["name"]]
        try await source.performImport { context in
            let people = ["a", "b", "c", "d"].map { name in
                let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                person.setValue(name, forKey: "name")
                return person
            }
            for (index, person) in people.enumerated() { person.setValue(people[(index + 1) % 4], forKey: "best") }
            people[0].setValue(NSOrderedSet(array: [people[3], people[1], people[2]]), forKey: "queue")
            for name in ["x", "y"] {
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                tag.setValue(name, forKey: "name")
                tag.mutableSetValue(forKey: "people").addObjects(from: Array(people.prefix(3)))
            }
        }
        let stack = try await CoreDataStack.setUp(model: Self.circleModel(), storeURL: nil, options: .server)
        for _ in 0..<2 {
            var copier = try DeepCopier(from: source.coordinator, to: stack.coordinator, unique: unique)
            copier.batchSize = 1
            try await copier.copy()
            await stack.mergeNow()
            let told = try await stack.inView { context in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                return try context.fetch(request).map { person -> String in
                    let name = { (object: Any) in
                        ((object as? NSManagedObject)?.value(forKey: "name") as? String) ?? "-"
                    }
                    let queue = (person.value(forKey: "queue") as? NSOrderedSet)?.array.map(name).joined() ?? ""
                    let tags = (person.value(forKey: "tags") as? NSSet)?.allObjects.map(name).sorted().joined() ?? ""
                    return "\(name(person))>\(name(person.value(forKey: "best") as Any)) \(queue) \(tags)"
                }
            }
            #expect(told == ["a>b dbc xy", "b>c  xy", "c>d  xy", "d>a  "])
        }
    }

    @Test func whatCannotBeFoundAgainIsToldBeforeAnythingIsCopied() async throws {
        let grocery = try Grocery()
        let shipped = grocery.folder.appendingPathComponent("Shipped.sqlite")
        let source = try await grocery.makeFullStack(at: shipped)
        let stack = try await grocery.makeStack()
        let noUnit = try DeepCopier(fromStoreAt: shipped, to: stack, unique: ["Item": "name"])
        let error = await #expect(throws: ToolkitError.self) { try await noUnit.copy(["Item"]) }
        #expect(error?.message.contains("Item.locationAtHome leads to LocationAtHome") == true)
        var leaving = noUnit
        leaving.leavesOut = ["Item.locationAtHome", "Item.locationAtShop", "Item.unit"]
        try await leaving.copy(["Item"])
        #expect(try await stack.count("Item", "unit == nil") == 377)
        let entity = await #expect(throws: ToolkitError.self) { try await noUnit.copy(["Unit"]) }
        #expect(entity?.message.contains("Nothing tells the objects of Unit apart") == true)
        let missing = await #expect(throws: ToolkitError.self) { try await noUnit.copy(["Itm"]) }
        #expect(missing?.message.contains("did you mean 'Item'?") == true)
        // An object without a name stops the copy, or is counted.
        try await source.performImport { context in
            NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue(nil, forKey: "name")
        }
        var copier = try DeepCopier(fromStoreAt: shipped, to: stack, unique: Grocery.unique)
        let nameless = await #expect(throws: ToolkitError.self) { try await copier.copy(["Item"]) }
        #expect(nameless?.message.contains("has no value for name") == true)
        copier.skipsUnidentified = true
        #expect(try await copier.copy(["Item"]).skipped == 1)
    }
}
