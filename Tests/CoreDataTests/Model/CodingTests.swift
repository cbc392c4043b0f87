import Foundation
import Testing

@testable import CoreData

@Suite struct CodingTests {
    private func roundTrip<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data))
    }

    @Test func aModelComesBackEqual() throws {
        let model = GroceryModel.make()
        model.versionIdentifiers = ["8"]
        model.localizationDictionary = ["Entity/Unit": "Measure"]
        model.setEntities([try #require(model.entitiesByName["Unit"])], forConfigurationName: "Units")
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        request.fetchLimit = 3
        model.setFetchRequestTemplate(request, forName: "Some")
        for entity in model { entity.userInfo = [:] }
        let copy = try roundTrip(model)
        #expect(copy == model)
        #expect(copy.versionChecksum == model.versionChecksum)
        #expect(copy.entitiesByName["Unit"]?.relationshipsByName["items"]?.destinationEntity?.name == "Item")
        try copy.freeze()
    }

    @Test func anEntityComesBackAndFindsItsParentInAModel() throws {
        let model = GroceryModel.make()
        let home = try roundTrip(try #require(model.entitiesByName["LocationAtHome"]))
        #expect(home.name == "LocationAtHome" && home.properties.map(\.name) == ["storeIn", "items"])
        let location = try roundTrip(try #require(model.entitiesByName["Location"]))
        let other = NSManagedObjectModel()
        other.entities = [home, location]
        #expect(home.superentity === location)
    }

    @Test func anAttributeComesBackEqual() throws {
        let values: [(NSAttributeDescription.AttributeType, Any?)] = [
            (.string, "x"), (.integer64, 5), (.boolean, true), (.double, 1.5), (.float, Float(0.25)),
            (.decimal, NSDecimalNumber(string: "12.30")), (.date, Date(timeIntervalSinceReferenceDate: 5)),
            (.binaryData, Data([1, 2])), (.uuid, UUID()), (.uri, URL(string: "https://example.org/a")), (.string, nil),
        ]
        for (type, value) in values {
            let attribute = GroceryModel.attribute("value", type, default: value)
            attribute.userInfo = ["a": "b"]
            attribute.isOptional = false
            #expect(try roundTrip(attribute) == attribute, "\(type)")
        }
    }

    @Test func aRelationshipComesBackWithTheNamesOfItsOtherEnd() throws {
        let unit = try #require(GroceryModel.make().entitiesByName["Unit"]?.relationshipsByName["items"])
        let copy = try roundTrip(unit)
        #expect(copy.givenDestinationName == "Item" && copy.givenInverseName == "unit")
        #expect(copy.deleteRule == .denyDeleteRule && copy.isToMany)
    }

    /// They are no members of objects.
    @Test func elementsOfCompositesCanHaveNamesOfMembersOfObjects() throws {
        let element = NSAttributeDescription()
        element.setElementName("description")
        element.attributeType = .stringAttributeType
        let composite = NSCompositeAttributeDescription()
        composite.name = "note"
        composite.userInfo = [:]
        composite.elements = [element]
        let read = try roundTrip(composite)
        #expect(read == composite)
        #expect(read.elements.map(\.name) == ["description"])
    }

    @Test func compositesAndIndexesComeBackEqual() throws {
        let composite = NSCompositeAttributeDescription()
        composite.name = "place"
        composite.userInfo = [:]
        composite.elements = [GroceryModel.attribute("x", .double), GroceryModel.attribute("y", .double)]
        #expect(try roundTrip(composite) == composite)
        let index = NSFetchIndexDescription(
            name: "byX",
            elements: [
                NSFetchIndexElementDescription(property: composite.elements[0], collationType: .binary)
            ])
        index.elements[0].isAscending = false
        #expect(try roundTrip(index) == index)
        #expect(try roundTrip(index.elements[0]) == index.elements[0])
    }
}
