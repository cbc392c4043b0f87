import CoreData
import CoreDataToolkit
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct TestDataGeneratorTests {
    /// All that items are, in words.
    private static func told(_ stack: CoreDataStack) async throws -> [String] {
        try await stack.inView { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
            return try context.fetch(request).map { item in
                ["name", "quantity", "listed", "unit.name", "locationAtHome.storedIn"]
                    .map { "\(item.value(forKeyPath: $0) ?? "-")" }.joined(separator: "|")
                    + "|\((item.value(forKey: "thumbnail") as? Data)?.base64EncodedString() ?? "-")"
            }
        }
    }

    private static let counts = ["Item": 120, "Unit": 7, "LocationAtHome": 5, "LocationAtShop": 4, "Item_Photo": 30]

    @Test func theSameSeedMakesTheSameData() async throws {
        var runs: [[String]] = []
        for (seed, batch) in [(7, 500), (7, 13), (8, 500)] as [(UInt64, Int)] {
            let stack = try await CoreDataStack.setUp(model: Grocery.model(), storeURL: nil, options: .server)
            var generator = TestDataGenerator(stack, seed: seed)
            generator.batchSize = batch
            let summary = try await generator.generate(Self.counts)
            #expect(summary.objects == Self.counts && summary.links > 150)
            runs.append(try await Self.told(stack))
        }
        #expect(runs[0] == runs[1])
        #expect(runs[0] != runs[2])
        #expect(runs[0].count == 120 && Set(runs[0]).count > 100)
    }

    @Test func relationshipsKeepToTheirCounts() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        var generator = TestDataGenerator(stack, seed: 3)
        generator.relationshipCounts = ["Unit.items": 2...5]
        try await generator.generate(["Item": 100, "Unit": 10])
        #expect(try await stack.count("Unit", "items.@count < 2 || items.@count > 5") == 0)
        #expect(try await stack.count("Item", "unit != nil") >= 20)
        let few = await #expect(throws: ToolkitError.self) { try await generator.generate(["Item": 5, "Unit": 10]) }
        #expect(few?.message.contains("Unit.items needs 2 members for each of 10") == true)
        generator.relationshipCounts = ["Unit.item": 0...1]
        await #expect(throws: ToolkitError.self) { try await generator.generate(["Item": 1]) }
        generator.relationshipCounts = [:]
        let abstract = await #expect(throws: ToolkitError.self) { try await generator.generate(["Location": 1]) }
        #expect(abstract?.message.contains("LocationAtHome, LocationAtShop") == true)
    }

    /// Constraints, validation and relationships that must lead somewhere, also to one another.
    private static func strictModel(isCircle: Bool = false) -> NSManagedObjectModel {
        let (owner, pet, book) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (owner.name, pet.name, book.name) = ("Owner", "Pet", "Book")
        func attribute(_ name: String, _ type: NSAttributeType, _ formats: String...) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = false
            attribute.setValidationPredicates(
                formats.map { NSPredicate(format: $0) }, withValidationWarnings: formats.map { $0 })
            return attribute
        }
        func relationship(_ name: String, _ to: NSEntityDescription, least: Int, most: Int) -> NSRelationshipDescription
        {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = to
            (relationship.minCount, relationship.maxCount) = (least, most)
            relationship.isOptional = least == 0
            return relationship
        }
        let pets = relationship("pets", pet, least: isCircle ? 1 : 0, most: 3)
        let keeper = relationship("keeper", owner, least: 1, most: 1)
        (pets.inverseRelationship, keeper.inverseRelationship) = (keeper, pets)
        let readers = relationship("readers", owner, least: 1, most: 2)
        let books = relationship("books", book, least: 0, most: 0)
        (readers.inverseRelationship, books.inverseRelationship) = (books, readers)
        owner.properties = [
            attribute("email", .stringAttributeType),
            attribute("age", .integer16AttributeType, "SELF >= 18", "SELF <= 30"),
            pets, books,
        ]
        owner.uniquenessConstraints = [["email"]]
        pet.properties = [
            attribute("name", .stringAttributeType, "length >= 3", "length <= 8"),
            attribute("born", .dateAttributeType), keeper,
        ]
        book.properties = [
            attribute("rating", .doubleAttributeType, "SELF BETWEEN {2, 3}"),
            attribute("kind", .stringAttributeType, "SELF IN {'novel', 'poem'}"), readers,
        ]
        let model = NSManagedObjectModel()
        model.entities = [owner, pet, book]
        return model
    }

    @Test(arguments: [false, true])
    func whatTheModelForbidsIsNotMade(isCircle: Bool) async throws {
        let stack = try await CoreDataStack.setUp(
            model: Self.strictModel(isCircle: isCircle), storeURL: nil, options: .server)
        var generator = TestDataGenerator(stack, seed: 5)
        generator.batchSize = 20
        // Twice: unique values go on where they stood.
        for round in 1...2 {
            try await generator.generate(["Owner": 60, "Pet": 100, "Book": 50])
            #expect(try await stack.count("Owner") == 60 * round)
            #expect(Set(try await stack.texts("Owner", "email")).count == 60 * round)
        }
        #expect(try await stack.count("Owner", "age < 18 || age > 30 || pets.@count > 3") == 0)
        #expect(
            try await stack.count("Owner", "pets.@count == 0")
                == (isCircle ? 0 : stack.count("Owner", "pets.@count < 1")))
        #expect(try await stack.count("Book", "rating BETWEEN {2, 3} && kind IN {'novel', 'poem'}") == 100)
        #expect(try await stack.count("Book", "readers.@count < 1 || readers.@count > 2") == 0)
        #expect(try await stack.count("Pet", "keeper == nil") == 0)
        let many = await #expect(throws: ToolkitError.self) { try await generator.generate(["Owner": 10, "Pet": 31]) }
        #expect(many?.message.contains("takes 3 members") == true)
        let none = await #expect(throws: ToolkitError.self) { try await generator.generate(["Book": 1]) }
        #expect(none?.message.contains("Book.readers needs 1 members") == true)
    }

    @Test func valuesOfTheUsersOwnAreTaken() async throws {
        let stack = try await CoreDataStack.setUp(model: Grocery.model(), storeURL: nil, options: .server)
        var generator = TestDataGenerator(stack)
        generator.values = ["Unit.name": { "unit \($0)" }]
        try await generator.generate(["Unit": 3])
        #expect(try await stack.texts("Unit", "name") == ["unit 0", "unit 1", "unit 2"])
        generator.values = ["Unit.nme": { $0 }]
        await #expect(throws: ToolkitError.self) { try await generator.generate(["Unit": 1]) }
    }

    @Test func aRunThatIsCancelledKeepsItsBatches() async throws {
        let stack = try await CoreDataStack.setUp(model: Grocery.model(), storeURL: nil, options: .server)
        var generator = TestDataGenerator(stack)
        generator.batchSize = 50
        let begun = AsyncStream<Void>.makeStream()
        let running = Mutex<Task<Void, any Error>?>(nil)
        let task = Task { [generator] in
            for await _ in begun.stream { break }
            try await generator.generate(["Unit": 1000]) { _ in running.withLock { $0?.cancel() } }
        }
        running.withLock { $0 = task }
        begun.continuation.yield()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await stack.count("Unit") == 50)
    }

    private static func model(_ path: String) -> NSManagedObjectModel? {
        guard let model = NSManagedObjectModel(contentsOf: Fixtures.url(path)), !model.entities.isEmpty else {
            return nil
        }
        for entity in model.entities { entity.managedObjectClassName = nil }
        return (try? NSPersistentStoreCoordinator(validating: model)) == nil ? nil : model
    }

    /// The fixtures' models that a store can be made for.
    private static let fillable = Fixtures.models.filter { model($0) != nil }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func mostModelsOfTheFixturesAreFilled() {
        #expect(Self.fillable.count > Fixtures.models.count / 2, "\(Fixtures.models.count)")
    }

    /// Pictures in the fixtures' models, and whatever else they have.
    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"), arguments: fillable)
    func everyModelOfTheFixturesCanBeFilled(path: String) async throws {
        let model = try #require(Self.model(path))
        let stack = try await CoreDataStack.setUp(model: model, storeURL: nil, options: .server)
        let names = model.entities.filter { !$0.isAbstract }.compactMap(\.name)
        let counts = Dictionary(uniqueKeysWithValues: names.map { ($0, 12) })
        do {
            let summary = try await TestDataGenerator(stack).generate(counts)
            #expect(summary.objects == counts)
        } catch let error as ToolkitError {
            // What nothing can be made up for is told by its name.
            #expect(error.message.contains("give values["), "\(error.message)")
        }
    }
}
