import CoreData
import Foundation
import Testing

/// What a migration makes of composite attributes that an object does not have (U3, T3).
@Suite struct CompositeMigrationTests {
    private static func attribute(
        _ name: String, _ type: NSAttributeType, optional: Bool, default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, optional)
        attribute.defaultValue = value
        return attribute
    }

    /// A person with an optional address, which has a street and, in the newer version, a code with a default.
    private static func model(isNewer: Bool) -> NSManagedObjectModel {
        let address = NSCompositeAttributeDescription()
        (address.name, address.isOptional) = ("address", true)
        address.elements = [attribute("street", .stringAttributeType, optional: false)]
        if isNewer { address.elements.append(attribute("zip", .integer32AttributeType, optional: true, default: 99)) }
        let person = NSEntityDescription()
        person.name = "Person"
        person.properties = [attribute("name", .stringAttributeType, optional: true), address]
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    /// A new element's default is for the objects that have the composite: the others still have none, and can be saved.
    @Test func aNewElementMakesNoComposite() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("composites-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func story(isNewer: Bool, _ body: (NSManagedObjectContext) throws -> Void) throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(isNewer: isNewer))
            let store = try coordinator.addPersistentStore(
                type: .sqlite, at: folder.appendingPathComponent("People.sqlite"),
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                ])
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait { try body(context) }
            try coordinator.remove(store)
        }
        try story(isNewer: false) { context in
            for (name, street) in [("a", "Elm Street"), ("b", nil)] {
                let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                person.setValue(name, forKey: "name")
                person.setValue(street.map { ["street": $0] }, forKey: "address")
            }
            try context.save()
        }
        try story(isNewer: true) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let people = try context.fetch(request)
            try #require(people.count == 2)
            let address = people[0].value(forKey: "address") as? [String: Any]
            #expect(address?["street"] as? String == "Elm Street" && address?["zip"] as? Int == 99)
            #expect(people[1].value(forKey: "address") == nil)
            people[1].setValue("c", forKey: "name")
            try context.save()
            request.predicate = NSPredicate(format: "address == nil")
            #expect(try context.count(for: request) == 1)
        }
    }
}
