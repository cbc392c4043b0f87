import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Migrations of objects whose composite attribute is nil, and of objects that have it, when the composite gets new elements (U3, T3).
@Suite struct CompositeMigrationTests {
    /// How a store becomes one of the newer version.
    enum Way: CaseIterable {
        /// As the store is opened.
        case automatic
        /// Object by object, with the inferred mapping model, one that copies `address` as a whole, and one without attribute mappings.
        case inferred, whole, byName
    }

    static let types: [NSPersistentStore.StoreType] = [.sqlite, .xml, .binary]

    private let folder: URL

    init() throws { folder = try Fixtures.temporaryFolder() }

    /// A person with an optional address. The newer version's address has a code with a default, and a place whose elements have defaults.
    private static func document(isNewer: Bool) -> ModelDocument {
        var elements = [attribute("street", optional: false)]
        if isNewer {
            elements.append(attribute("zip", .integer32, default: "99"))
            elements.append(composite("geo", attribute("x", .double, default: "1.5")))
        }
        let address = composite("address").with {
            guard case .attribute(var attribute) = $0.kind else { return }
            attribute.elements = elements
            $0.kind = .attribute(attribute)
        }
        return model(entity("Person", attribute("name"), address))
    }

    /// Both versions as a program has them, in one folder, in which stores that keep no model find theirs.
    private func versions(_ old: ModelDocument, _ new: ModelDocument) throws -> [NSManagedObjectModel] {
        let url = folder.appendingPathComponent("People.momd")
        let versions = [("People", old), ("People 2", new)].map { ModelVersions.Version(name: $0.0, document: $0.1) }
        try ModelCompilation(
            of: ModelVersions(name: "People", versions: versions, currentName: "People 2"), isFolder: true
        ).write(to: url)
        return try versions.map { try NSManagedObjectModel.load(contentsOf: url, version: $0.name) }
    }

    private func story<R>(
        _ type: NSPersistentStore.StoreType, _ url: URL, _ model: NSManagedObjectModel,
        _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            type: type, at: url,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let result = try context.performAndWait { try body(context) }
        try coordinator.remove(store)
        return result
    }

    private func fill(_ type: NSPersistentStore.StoreType, _ url: URL, _ model: NSManagedObjectModel) throws {
        try story(type, url, model) { context in
            for (name, street) in [("a", "Elm Street"), ("b", nil)] {
                let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                person.setValue(name, forKey: "name")
                person.setValue(street.map { ["street": $0] }, forKey: "address")
            }
            try context.save()
        }
    }

    private func migrate(
        _ way: Way, _ type: NSPersistentStore.StoreType, from url: URL, _ models: [NSManagedObjectModel]
    ) throws -> URL {
        guard way != .automatic else { return url }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: models[0], destinationModel: models[1])
        let person = try #require(mapping.entityMappings.first { $0.destinationEntityName == "Person" })
        switch way {
        case .automatic, .inferred: break
        case .byName: person.attributeMappings = nil
        case .whole:
            person.attributeMappings = ["name", "address"].map { name in
                let property = NSPropertyMapping()
                property.name = name
                property.valueExpression = CoreData.NSExpression(format: "$source.\(name)")
                return property
            }
        }
        let new = folder.appendingPathComponent("New.store")
        let manager = NSMigrationManager(sourceModel: models[0], destinationModel: models[1])
        manager.usesStoreSpecificMigrationManager = false
        try manager.migrateStore(from: url, type: type, mapping: mapping, to: new, type: type)
        return new
    }

    @Test("The default of a new element is for objects that have the composite", arguments: types, Way.allCases)
    func aNewElementMakesNoComposite(type: NSPersistentStore.StoreType, way: Way) throws {
        let models = try versions(Self.document(isNewer: false), Self.document(isNewer: true))
        let url = folder.appendingPathComponent("People.store")
        try fill(type, url, models[0])
        try story(type, migrate(way, type, from: url, models), models[1]) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let people = try context.fetch(request)
            try #require(people.count == 2)
            let address = people[0].value(forKey: "address") as? [String: Any]
            #expect(address?["street"] as? String == "Elm Street")
            #expect(address?["zip"] as? Int == 99)
            #expect((address?["geo"] as? [String: Any])?["x"] as? Double == 1.5)
            #expect(people[1].value(forKey: "address") == nil)
            people[1].setValue("c", forKey: "name")
            try context.save()
            request.predicate = NSPredicate(format: "address == nil")
            #expect(try context.count(for: request) == 1)
        }
    }

    /// An element that becomes required gets its default where the composite exists, even if it is the only element.
    @Test(arguments: types)
    func anElementThatBecomesRequiredMakesNoComposite(type: NSPersistentStore.StoreType) throws {
        func document(isNewer: Bool) -> ModelDocument {
            let zip = attribute("zip", .integer32, default: isNewer ? "99" : nil, optional: !isNewer)
            return model(entity("Person", attribute("name"), composite("address", zip)))
        }
        let models = try versions(document(isNewer: false), document(isNewer: true))
        let url = folder.appendingPathComponent("People.store")
        try story(type, url, models[0]) { context in
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue("a", forKey: "name")
            try context.save()
        }
        try story(type, url, models[1]) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            let person = try #require(try context.fetch(request).first)
            #expect(person.value(forKey: "address") == nil)
            person.setValue("b", forKey: "name")
            try context.save()
        }
    }

    /// The inferred mapping model names elements, so that a composite that loses one can be migrated object by object.
    @Test(arguments: types) func aCompositeLosesAnElement(type: NSPersistentStore.StoreType) throws {
        let models = try versions(Self.document(isNewer: true), Self.document(isNewer: false))
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: models[0], destinationModel: models[1])
        #expect(mapping.entityMappings.first?.attributeMappings?.map(\.name) == ["address.street", "name"])
        let url = folder.appendingPathComponent("People.store")
        try story(type, url, models[0]) { context in
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue(["street": "Elm Street", "zip": 7], forKey: "address")
            try context.save()
        }
        let new = try migrate(.inferred, type, from: url, models)
        let address = try story(type, new, models[1]) { context in
            let person = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first
            return person?.value(forKey: "address") as? [String: String]
        }
        #expect(address == ["street": "Elm Street"])
    }
}
