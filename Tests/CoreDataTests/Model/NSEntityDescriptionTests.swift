import Foundation
import Testing

@testable import CoreData

@Suite struct NSEntityDescriptionTests {
    @Test func defaultsAreApples() {
        let entity = NSEntityDescription()
        #expect(entity.name == nil && entity.managedObjectClassName == "NSManagedObject")
        #expect(!entity.isAbstract && entity.properties.isEmpty && entity.renamingIdentifier == nil)
        entity.name = "Book"
        #expect(entity.renamingIdentifier == "Book")
        entity.managedObjectClassName = "Library.Book"
        entity.managedObjectClassName = nil
        #expect(entity.managedObjectClassName == "NSManagedObject")
    }

    @Test func propertiesIncludeInheritedOnesOnce() throws {
        let model = GroceryModel.make()
        let home = try #require(model.entitiesByName["LocationAtHome"])
        #expect(home.properties.map(\.name) == ["summary", "storeIn", "items"])
        #expect(Set(home.attributesByName.keys) == ["summary", "storeIn"])
        #expect(Array(home.relationshipsByName.keys) == ["items"])
        #expect(home.map(\.name) == home.properties.map(\.name))
        #expect(home.superentity?.name == "Location")
        #expect(home.superentity?.subentitiesByName["LocationAtHome"] === home)
    }

    @Test func addingToInheritedPropertiesAddsToTheEntityOnly() throws {
        let model = GroceryModel.make()
        let home = try #require(model.entitiesByName["LocationAtHome"])
        home.properties += [GroceryModel.attribute("room", .string)]
        #expect(home.properties.map(\.name) == ["summary", "storeIn", "items", "room"])
        #expect(home.superentity?.properties.map(\.name) == ["summary"])
    }

    @Test func kinshipGoesUpwards() throws {
        let byName = GroceryModel.make().entitiesByName
        let home = try #require(byName["LocationAtHome"])
        let shop = try #require(byName["LocationAtShop"])
        let location = try #require(byName["Location"])
        #expect(home.isKindOf(entity: home) && home.isKindOf(entity: location))
        #expect(!location.isKindOf(entity: home) && !home.isKindOf(entity: shop))
        let other = try #require(GroceryModel.make().entitiesByName["Location"])
        #expect(home.isKindOf(entity: other))
    }

    @Test func relationshipsAreFoundByDestination() throws {
        let byName = GroceryModel.make().entitiesByName
        let item = try #require(byName["Item"])
        let unit = try #require(byName["Unit"])
        #expect(item.relationships(forDestination: unit).map(\.name) == ["unit"])
        #expect(unit.relationships(forDestination: unit).isEmpty)
    }

    @Test func constraintsTakeDescriptionsAndGiveNames() throws {
        let unit = try #require(GroceryModel.make().entitiesByName["Unit"])
        unit.uniquenessConstraints = [[unit.propertiesByName["name"]!], ["name", "items"]]
        #expect(unit.uniquenessConstraints as? [[String]] == [["name"], ["name", "items"]])
    }

    @Test func circularOrDoubleInheritanceIsRefused() {
        let a = GroceryModel.entity("A")
        let b = GroceryModel.entity("B")
        let c = GroceryModel.entity("C")
        a.subentities = [b]
        #expect(b.refusalMessage(subentity: a) != nil)
        #expect(a.refusalMessage(subentity: a) != nil)
        #expect(c.refusalMessage(subentity: b) != nil)
        #expect(a.refusalMessage(subentity: c) == nil)
        a.subentities = []
        #expect(b.superentity == nil && c.refusalMessage(subentity: b) == nil)
    }

    @Test func aPropertyBelongsToOneEntity() {
        let a = GroceryModel.entity("A")
        let b = GroceryModel.entity("B")
        let name = GroceryModel.attribute("name", .string)
        a.properties = [name]
        #expect(b.refusalMessage(property: name)?.contains("Use a copy") == true)
        a.properties = []
        #expect(b.refusalMessage(property: name) == nil)
        #expect(b.refusalMessage(property: NSExpressionDescription()) != nil)
    }

    @Test func anEntityBelongsToOneModel() {
        let model = GroceryModel.make()
        let other = NSManagedObjectModel()
        #expect(other.refusalMessage(entity: model.entities[0])?.hasPrefix("Can't use an entity in two models") == true)
        #expect(model.refusalMessage(entity: model.entities[0]) == nil)
    }

    @Test func namesOfMembersAreReserved() {
        for name in ["description", "hash", "objectID", "entity", "isDeleted"] {
            #expect(ModelMutation.refusalMessage(propertyName: name) != nil, "\(name)")
        }
        #expect(ModelMutation.refusalMessage(propertyName: "title") == nil)
    }

    @Test func anIndexDoesNotMixKinds() {
        let x = NSFetchIndexElementDescription(property: GroceryModel.attribute("x", .double), collationType: .rTree)
        let y = NSFetchIndexElementDescription(property: GroceryModel.attribute("y", .double), collationType: .binary)
        #expect(NSFetchIndexDescription.refusalMessage(elements: [x, y], in: "Place.xy") != nil)
        #expect(NSFetchIndexDescription.refusalMessage(elements: [x], in: "Place.xy") == nil)
        #expect(NSFetchIndexDescription.refusalMessage(elements: [], in: "Place.xy") == nil)
    }
}
