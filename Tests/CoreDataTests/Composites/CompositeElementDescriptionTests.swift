import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Where the API takes descriptions of properties, it takes those of the elements of composite attributes, too.
@Suite struct CompositeElementDescriptionTests {
    /// A shop whose address has a city, as the shop has itself.
    private static func model(
        _ change: (NSEntityDescription, NSCompositeAttributeDescription) -> Void
    ) -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let geo = NSCompositeAttributeDescription()
        (geo.name, geo.isOptional, geo.elements) = ("geo", true, [attribute("x", .doubleAttributeType)])
        let address = NSCompositeAttributeDescription()
        (address.name, address.isOptional) = ("address", true)
        address.elements = [attribute("city", .stringAttributeType), attribute("zip", .integer32AttributeType), geo]
        let shop = NSEntityDescription()
        shop.name = "Shop"
        shop.properties = [attribute("city", .stringAttributeType), address]
        change(shop, address)
        let model = NSManagedObjectModel()
        model.entities = [shop]
        return model
    }

    private static func index(_ name: String, _ property: NSPropertyDescription) -> NSFetchIndexDescription {
        NSFetchIndexDescription(
            name: name, elements: [NSFetchIndexElementDescription(property: property, collationType: .binary)])
    }

    /// The parts of an SQLite store that begin with that, as the store has them.
    private func statements(_ stack: FileStack, _ prefix: String) throws -> [String] {
        let database = try SQLStore.makeDatabase(DatabaseOptions(path: stack.url.path))
        defer { database.close() }
        return try database.read { connection in
            try connection.rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").compactMap {
                guard case .text(let text) = $0[0], text.contains(prefix) else { return nil }
                return text
            }.sorted()
        }
    }

    /// The shop's own city is in `ZCITY1`, that of its address in `ZCITY`.
    @Test(arguments: [false, true]) func indexesTakeElements(ofCopy isCopy: Bool) throws {
        var model = Self.model { shop, address in
            let path = NSAttributeDescription()
            path.name = "address.zip"
            shop.indexes = [
                Self.index("byCity", address.elements[0]), Self.index("byPath", path),
                Self.index("byX", (address.elements[2] as? NSCompositeAttributeDescription)?.elements[0] ?? path),
            ]
        }
        if isCopy { model = try #require(model.copy() as? NSManagedObjectModel) }
        let shop = try #require(model.entitiesByName["Shop"])
        let elements = shop.indexes.flatMap(\.elements)
        #expect(elements.map(\.propertyName) == ["address.city", "address.zip", "address.geo.x"])
        let address = try #require(shop.propertiesByName["address"] as? NSCompositeAttributeDescription)
        #expect(elements[0].property === address.elements[0] && elements[1].property === address.elements[1])
        let indexes = try statements(FileStack(.sqlite, model: model), "INDEX Z_Shop_")
        try #require(indexes.count == 3)
        #expect(indexes[0].contains("byCity") && indexes[0].contains("(ZCITY "))
        #expect(indexes[1].contains("byPath") && indexes[1].contains("(ZZIP "))
        #expect(indexes[2].contains("byX") && indexes[2].contains("(ZX "))
    }

    @Test func constraintsTakeElements() throws {
        let model = Self.model { shop, address in shop.uniquenessConstraints = [[address.elements[0]]] }
        #expect(model.entitiesByName["Shop"]?.uniquenessConstraints as? [[String]] == [["address.city"]])
        let stack = try FileStack(.sqlite, model: model)
        #expect(try statements(stack, "UNIQUE").contains { $0.contains("(ZCITY ") })
    }

    @Test func requestsTakeElements() throws {
        let model = Self.model { _, _ in }
        let stack = try FileStack(.sqlite, model: model)
        let address = try #require(
            model.entitiesByName["Shop"]?.propertiesByName["address"] as? NSCompositeAttributeDescription)
        try stack.story { context in
            for zip in [1, 2] {
                let shop = NSEntityDescription.insertNewObject(forEntityName: "Shop", into: context)
                shop.setValue("Bergen", forKey: "city")
                shop.setValue(["city": "Oslo", "zip": zip], forKey: "address")
            }
            try context.save()
            let update = NSBatchUpdateRequest(entityName: "Shop")
            update.propertiesToUpdate = [address.elements[0]: "Voss"]
            try context.execute(update)
            let request = NSFetchRequest<NSDictionary>(entityName: "Shop")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [address.elements[0]]
            request.propertiesToGroupBy = [address.elements[0]]
            #expect(try context.fetch(request).map { $0["address.city"] as? String } == ["Voss"])
            let objects = NSFetchRequest<NSManagedObject>(entityName: "Shop")
            objects.propertiesToFetch = [address.elements[0]]
            #expect(try context.fetch(objects).map { $0.value(forKey: "city") as? String } == ["Bergen", "Bergen"])
        }
    }
}
