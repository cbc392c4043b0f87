import CoreData
import CoreDataToolkit
import Foundation
import TestSupport
import Testing

/// Test data for attributes in which SwiftData keeps enumerations: one case each, of those that there are.
@Suite struct EnumerationValuesTests {
    private static func attribute(
        _ name: String, _ type: NSAttributeType, default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.defaultValue = value
        return attribute
    }

    private static func composite(
        _ name: String, _ elements: [NSAttributeDescription], isEnumeration: Bool = true, rawValues: String? = nil
    ) -> NSCompositeAttributeDescription {
        let composite = NSCompositeAttributeDescription()
        composite.name = name
        composite.elements = elements
        composite.isOptional = false
        if isEnumeration { composite.userInfo = ["EnumType": NSNumber(value: true)] }
        if let rawValues { composite.userInfo?["rawValues"] = rawValues }
        return composite
    }

    private static func stack(_ attributes: NSAttributeDescription...) async throws -> CoreDataStack {
        let entity = NSEntityDescription()
        entity.name = "Drink"
        entity.properties = attributes
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return try await CoreDataStack.setUp(model: model, storeURL: nil, options: .server)
    }

    /// The values of an attribute: their elements by name, as texts.
    private static func values(_ stack: CoreDataStack, _ attribute: String) async throws -> Set<[String: String]> {
        try await stack.inView { context in
            let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Drink"))
            return Set(
                objects.compactMap { $0.value(forKey: attribute) as? [String: Any] }
                    .map { $0.mapValues { "\($0)" } })
        }
    }

    @Test func oneCaseIsChosen() async throws {
        let stack = try await Self.stack(
            Self.composite(
                "ice", ["none", "cubed", "crushed"].map { Self.attribute($0, .stringAttributeType) }))
        try await TestDataGenerator(stack, seed: 4).generate(["Drink": 60])
        let cases = [["none": "none"], ["cubed": "cubed"], ["crushed": "crushed"]]
        #expect(try await Self.values(stack, "ice") == Set(cases))
        #expect(try await stack.count("Drink") == 60)
    }

    @Test func rawValuesAreThoseThatTheModelTells() async throws {
        let stack = try await Self.stack(
            Self.composite(
                "glass", [Self.attribute("glass", .stringAttributeType)], rawValues: #"["coupe","high/ball"]"#),
            Self.composite("size", [Self.attribute("size", .integer64AttributeType)], rawValues: "[3,-5]"),
            Self.composite("unit", [Self.attribute("unit", .stringAttributeType, default: "oz")]))
        try await TestDataGenerator(stack, seed: 4).generate(["Drink": 60])
        #expect(try await Self.values(stack, "glass") == [["glass": "coupe"], ["glass": "high/ball"]])
        #expect(try await Self.values(stack, "size") == [["size": "3"], ["size": "-5"]])
        #expect(try await Self.values(stack, "unit") == [["unit": "oz"]])
    }

    /// Enumerations in a struct, too.
    @Test func otherRawValuesAreThoseOfTheObjectsThatThereAre() async throws {
        let stack = try await Self.stack(
            Self.composite("glass", [Self.attribute("glass", .stringAttributeType)]),
            Self.composite(
                "place",
                [
                    Self.attribute("street", .stringAttributeType),
                    Self.composite("kind", [Self.attribute("kind", .integer16AttributeType)]),
                ], isEnumeration: false))
        let error = await #expect(throws: ToolkitError.self) {
            try await TestDataGenerator(stack, seed: 4).generate(["Drink": 5])
        }
        #expect(
            error?.message
                == "Drink.glass: neither the model nor an object of the store tells a raw value of its enumeration; "
                + #"save an object first, or give values["Drink.glass"]."#)
        await stack.inView { context in
            for (glass, kind) in [("coupe", 1), ("flute", 2), ("coupe", 2)] {
                let drink = NSEntityDescription.insertNewObject(forEntityName: "Drink", into: context)
                drink.setValue(["glass": glass], forKey: "glass")
                drink.setValue(["street": "Elm", "kind": ["kind": kind]] as [String: Any], forKey: "place")
            }
        }
        try await stack.save()
        try await TestDataGenerator(stack, seed: 4).generate(["Drink": 60])
        #expect(try await Self.values(stack, "glass") == [["glass": "coupe"], ["glass": "flute"]])
        let kinds = try await stack.inView { context in
            let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Drink"))
            return Set(objects.compactMap { $0.value(forKeyPath: "place.kind.kind") as? Int })
        }
        #expect(kinds == [1, 2])
    }

    /// Of arrays of enumerations SwiftData makes JSON, of arrays of texts archives.
    @Test func jsonAndArchivesAreThoseOfTheObjectsThatThereAre() async throws {
        let tags = Self.attribute("tags", .transformableAttributeType)
        tags.valueTransformerName = "NSSecureUnarchiveFromData"
        let stack = try await Self.stack(
            Self.attribute("steps", .binaryDataAttributeType), Self.attribute("photo", .binaryDataAttributeType), tags)
        let photo = Data([1, 2, 3])
        await stack.inView { context in
            for (step, tag) in [("stir", "sour"), ("shake", "sweet")] {
                let drink = NSEntityDescription.insertNewObject(forEntityName: "Drink", into: context)
                drink.setValue(Data("[\"\(step)\"]".utf8), forKey: "steps")
                drink.setValue(photo, forKey: "photo")
                drink.setValue([tag], forKey: "tags")
            }
        }
        try await stack.save()
        try await TestDataGenerator(stack, seed: 4).generate(["Drink": 40])
        let found = try await stack.inView { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Drink")).map { drink in
                (
                    steps: (drink.value(forKey: "steps") as? Data).map { String(decoding: $0, as: UTF8.self) },
                    photo: drink.value(forKey: "photo") as? Data,
                    tags: (drink.value(forKey: "tags") as? NSArray)?.compactMap { $0 as? String }
                        ?? drink.value(forKey: "tags") as? [String]
                )
            }
        }
        #expect(Set(found.compactMap(\.steps)) == ["[\"stir\"]", "[\"shake\"]"])
        #expect(Set(found.compactMap(\.tags)) == [["sour"], ["sweet"]])
        #expect(Set(found.compactMap(\.photo)).count > 5, "other bytes are made up")
    }

    @Test func bytesWhoseDefaultIsJSONStayJSON() async throws {
        let steps = Self.attribute("steps", .binaryDataAttributeType, default: Data("[]".utf8))
        steps.isOptional = false
        let stack = try await Self.stack(steps)
        try await TestDataGenerator(stack, seed: 4).generate(["Drink": 3])
        let values = try await stack.inView { context in
            let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Drink"))
            return objects.map { $0.value(forKey: "steps") as? Data }
        }
        #expect(values == Array(repeating: Data("[]".utf8), count: 3))
    }
}
