import CoreDataModel
import Foundation
import Testing

@testable import CoreData

@Suite struct FreezingTests {
    @Test func everyDescriptionKnowsItsPlace() throws {
        let model = GroceryModel.make()
        let compiled = try model.freeze()
        #expect(model.entityDescriptions.map(\.name) == compiled.entities.map(\.name))
        for (ordinal, entity) in model.entityDescriptions.enumerated() {
            #expect(entity.ordinal == ordinal)
            #expect(entity.compiledEntity === compiled.entities[ordinal])
            #expect(entity.propertyDescriptions.map(\.name) == compiled.entities[ordinal].properties.map(\.name))
            #expect(entity.propertyDescriptions.map(\.slot) == Array(entity.propertyDescriptions.indices))
        }
    }

    @Test func inheritedPropertiesAreTheParentsOwn() throws {
        let model = GroceryModel.make()
        try model.freeze()
        let home = try #require(model.entitiesByName["LocationAtHome"])
        let location = try #require(model.entitiesByName["Location"])
        #expect(home.propertyDescriptions.first === location.propertyDescriptions.first)
        #expect(home.attributesByName["summary"]?.entity === location)
    }

    @Test func freezingTwiceCompilesOnce() throws {
        let model = GroceryModel.make()
        #expect(model.compiledModel == nil)
        let first = try model.freeze()
        #expect(try model.freeze() === first)
        #expect(model.compiledModel === first)
    }

    @Test func manyThreadsMayFreezeAtOnce() throws {
        nonisolated(unsafe) let model = GroceryModel.make()
        nonisolated(unsafe) let results = UnsafeMutablePointer<ObjectIdentifier?>.allocate(capacity: 16)
        results.initialize(repeating: nil, count: 16)
        defer { results.deallocate() }
        DispatchQueue.concurrentPerform(iterations: 16) { position in
            results[position] = (try? model.freeze()).map(ObjectIdentifier.init)
        }
        let first = try ObjectIdentifier(model.freeze())
        for position in 0..<16 { #expect(results[position] == first) }
    }

    @Test func aModelInUseRefusesChanges() throws {
        let model = GroceryModel.make()
        try model.freeze()
        let unit = try #require(model.entitiesByName["Unit"])
        let name = try #require(unit.attributesByName["name"])
        #expect(model.isFrozen && unit.isFrozen && name.isFrozen)
        let message = ModelMutation.refusalMessage(
            isFrozen: name.isFrozen, changing: "isOptional", of: name.qualifiedName)
        #expect(message?.hasPrefix("isOptional of Unit.name cannot be changed") == true)
        #expect(message?.contains("model.copy()") == true)
    }

    @Test func aModelInUseStopsTheProgramThatChangesIt() async {
        await #expect(processExitsWith: .failure) {
            let entity = NSEntityDescription()
            entity.name = "Book"
            let model = NSManagedObjectModel()
            model.entities = [entity]
            try model.freeze()
            entity.isAbstract = true
        }
    }

    @Test func indexesAndElementsAreFrozenToo() throws {
        let model = GroceryModel.make()
        let unit = try #require(model.entitiesByName["Unit"])
        let element = NSFetchIndexElementDescription(
            property: try #require(unit.propertiesByName["name"]), collationType: .binary)
        let index = NSFetchIndexDescription(name: "byName", elements: [element])
        unit.indexes = [index]
        let compiled = try model.freeze()
        #expect(index.isFrozen && element.isFrozen)
        #expect(compiled.entity(named: "Unit")?.fetchIndexes.map(\.name) == ["byName"])
    }

    @Test func anInvalidModelThrowsEveryProblemAndStaysMutable() throws {
        let book = GroceryModel.entity("Book")
        let author = NSRelationshipDescription()
        author.name = "author"
        author.maxCount = 1
        let pages = GroceryModel.attribute("pages", .integer16, default: "many")
        book.properties = [author, pages]
        let model = NSManagedObjectModel()
        model.entities = [book]
        let error = #expect(throws: CocoaError.self) { try model.freeze() }
        #expect(error?.errorCode == 134060)
        let text = try #require(error?.userInfo[NSLocalizedDescriptionKey] as? String)
        #expect(text.contains("author") && text.contains("pages"))
        #expect(!model.isFrozen)
        book.properties = []
        try model.freeze()
        #expect(model.isFrozen)
    }

    @Test func compositeElementsAreFrozenInTheirOrder() throws {
        let composite = NSCompositeAttributeDescription()
        composite.name = "place"
        let longitude = GroceryModel.attribute("longitude", .double)
        let latitude = GroceryModel.attribute("latitude", .double)
        composite.elements = [longitude, latitude]
        let entity = GroceryModel.entity("City")
        entity.properties = [composite]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let compiled = try model.freeze()
        let elements = compiled.entities[0].properties[0].attribute?.elements ?? []
        #expect(composite.elements.map(\.slot) == [0, 1])
        // What is compiled stands by name.
        #expect(elements.map { compiled.entities[0].properties[$0].name } == ["place.latitude", "place.longitude"])
        #expect(longitude.isFrozen && longitude.qualifiedName == "City.place.longitude")
    }
}
