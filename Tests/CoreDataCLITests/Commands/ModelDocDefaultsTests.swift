import CoreData
import Foundation
import TestSupport
import Testing

/// `coredata model doc` shows the defaults of a model as SwiftData derives it from a class, as `coredata query` shows values.
@Suite struct ModelDocDefaultsTests {
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
        _ name: String, _ elements: [NSAttributeDescription], isEnumeration: Bool = false
    ) -> NSCompositeAttributeDescription {
        let composite = NSCompositeAttributeDescription()
        composite.name = name
        composite.elements = elements
        if isEnumeration { composite.userInfo = ["EnumType": NSNumber(value: true)] }
        composite.isOptional = true
        return composite
    }

    /// The page of an empty store whose one entity has that attribute.
    private func page(_ attribute: NSAttributeDescription) throws -> CommandRun {
        let scratch = try Scratch()
        let entity = NSEntityDescription()
        entity.name = "Drink"
        entity.properties = [Self.attribute("name", .stringAttributeType), attribute]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let path = scratch.path("drinks.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path))
        try coordinator.remove(store)
        return try CommandRun.coredata("model", "doc", path)
    }

    @Test(
        arguments: [
            (attribute: "glass", cell: "<code>coupe</code>"),
            ("ice", "<code>crushed</code>"),
            ("place", "<code>floors: [1,2], number: 7, street: Elm</code>"),
            ("steps", "<code>[&quot;Stir&quot;,{&quot;for&quot;:1.50}]</code>"),
            ("photo", "3 bytes"),
        ])
    func defaultsAreReadable(attribute: String, cell: String) throws {
        let attributes = [
            Self.composite(
                "glass", [Self.attribute("glass", .stringAttributeType, default: "coupe")], isEnumeration: true),
            Self.composite(
                "ice",
                [
                    Self.attribute("cubed", .stringAttributeType),
                    Self.attribute("crushed", .stringAttributeType, default: "crushed"),
                ], isEnumeration: true),
            Self.composite(
                "place",
                [
                    Self.attribute("street", .stringAttributeType, default: "Elm"),
                    Self.attribute("number", .integer16AttributeType, default: 7),
                    Self.attribute("floors", .binaryDataAttributeType, default: Data("[1,2]".utf8)),
                    Self.attribute("flat", .stringAttributeType),
                ]),
            Self.attribute(
                "steps", .binaryDataAttributeType, default: Data(#"["Stir",{"for":1.50}]"#.utf8)),
            Self.attribute("photo", .binaryDataAttributeType, default: Data([1, 2, 3])),
        ]
        let run = try page(#require(attributes.first { $0.name == attribute }))
        #expect(run.output.contains("<td>\(cell)</td>"), "\(run.error)\(run.output)")
    }

    @Test func aCompositeWithoutDefaultsHasNoDefault() throws {
        let run = try page(Self.composite("place", [Self.attribute("street", .stringAttributeType)]))
        #expect(run.output.contains("Composite of <code>street</code>"), "\(run.error)")
        #expect(!run.output.contains("<th scope=\"col\">Default</th>"))
    }
}
