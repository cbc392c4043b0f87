import Foundation
import Testing

@testable import CoreData

@Suite struct CopyingTests {
    @Test func aModelsCopyIsDeepAndEqual() throws {
        let model = GroceryModel.make()
        model.versionIdentifiers = ["8"]
        model.localizationDictionary = ["Entity/Unit": "Measure"]
        model.setEntities([try #require(model.entitiesByName["Unit"])], forConfigurationName: "Units")
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        request.fetchLimit = 3
        model.setFetchRequestTemplate(request, forName: "Some")
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(copy == model && copy.hash == model.hash)
        #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName)
        #expect(copy.configurations == ["Units"])
        #expect(copy.fetchRequestTemplate(forName: "Some")?.entity === copy.entitiesByName["Item"])
        for (name, entity) in copy.entitiesByName {
            let original = try #require(model.entitiesByName[name])
            #expect(entity !== original && entity.managedObjectModel === copy)
            #expect(entity.superentity?.managedObjectModel ?? copy === copy)
            for relationship in entity.relationshipsByName.values {
                #expect(relationship.destinationEntity?.managedObjectModel === copy)
                #expect(relationship.inverseRelationship?.entity.managedObjectModel === copy)
                #expect(relationship.inverseRelationship?.inverseRelationship === relationship)
            }
        }
    }

    @Test func aCopyOfAModelInUseCanBeChanged() throws {
        let model = GroceryModel.make()
        try model.freeze()
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        let unit = try #require(copy.entitiesByName["Unit"])
        unit.name = "Measure"
        unit.attributesByName["name"]?.isOptional = false
        #expect(copy != model)
        #expect(copy.entitiesByName["Item"]?.relationshipsByName["unit"]?.destinationEntity === unit)
        try copy.freeze()
        #expect(copy.compiledModel?.entity(named: "Measure") != nil)
        #expect(model.compiledModel?.entity(named: "Unit") != nil)
    }

    @Test func aCopiedIndexFollowsTheCopiedProperty() throws {
        let model = GroceryModel.make()
        let unit = try #require(model.entitiesByName["Unit"])
        let name = try #require(unit.attributesByName["name"])
        unit.indexes = [
            NSFetchIndexDescription(
                name: "byName", elements: [NSFetchIndexElementDescription(property: name, collationType: .binary)])
        ]
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        let copiedUnit = try #require(copy.entitiesByName["Unit"])
        copiedUnit.attributesByName["name"]?.name = "title"
        #expect(copiedUnit.indexes[0].elements[0].propertyName == "title")
        #expect(unit.indexes[0].elements[0].property === name)
        try copy.freeze()
    }

    /// The way in which applications rename classes: copies of all entities in a new model.
    @Test func copiedEntitiesFindEachOtherInANewModel() throws {
        let model = GroceryModel.make()
        let renamed = NSManagedObjectModel()
        renamed.entities = try model.entities.map { try #require($0.copy() as? NSEntityDescription) }
        #expect(renamed.entityVersionHashesByName == model.entityVersionHashesByName)
        let location = try #require(renamed.entitiesByName["Location"])
        #expect(location.subentities.allSatisfy { $0.managedObjectModel === renamed })
        #expect(renamed.entitiesByName["LocationAtHome"]?.superentity === location)
        try renamed.freeze()
    }

    /// The same, where the application puts the subentities right itself.
    @Test func subentitiesOfCopiesCanBeSetByName() throws {
        let model = GroceryModel.make()
        let copies = try model.entities.map { try #require($0.copy() as? NSEntityDescription) }
        for copy in copies {
            copy.subentities = copy.subentities.compactMap { sub in copies.first { $0.name == sub.name } }
        }
        let renamed = NSManagedObjectModel()
        renamed.entities = copies
        #expect(renamed.entityVersionHashesByName == model.entityVersionHashesByName)
    }

    @Test func aPropertysCopyIsEqualUntilChanged() throws {
        let name = GroceryModel.attribute("name", .string, default: "x")
        name.userInfo = ["unit": "kg"]
        let copy = try #require(name.copy() as? NSAttributeDescription)
        #expect(copy == name && copy.hash == name.hash && copy !== name)
        let changes: [(NSAttributeDescription) -> Void] = [
            { $0.isOptional = false }, { $0.type = .uuid }, { $0.defaultValue = "y" }, { $0.userInfo = nil },
            { $0.renamingIdentifier = "z" }, { $0.valueTransformerName = "T" }, { $0.isTransient = true },
            { $0.allowsExternalBinaryDataStorage = true }, { $0.allowsCloudEncryption = true },
        ]
        for (position, change) in changes.enumerated() {
            let changed = try #require(name.copy() as? NSAttributeDescription)
            change(changed)
            #expect(changed != name, "change \(position)")
        }
        #expect(NSPropertyDescription() != NSAttributeDescription())
    }

    @Test func compositesAndFetchedPropertiesAreCopiedDeeply() throws {
        let composite = NSCompositeAttributeDescription()
        composite.name = "place"
        composite.elements = [GroceryModel.attribute("x", .double)]
        let copy = try #require(composite.copy() as? NSCompositeAttributeDescription)
        #expect(copy == composite)
        #expect(copy.elements[0] !== composite.elements[0])
        let fetched = NSFetchedPropertyDescription()
        fetched.name = "others"
        fetched.fetchRequest = NSFetchRequest(entityName: "Item")
        let other = try #require(fetched.copy() as? NSFetchedPropertyDescription)
        #expect(other == fetched && other.isTransient)
        #expect(other.fetchRequest !== fetched.fetchRequest && other.fetchRequest?.entityName == "Item")
    }

    @Test func modelsInTwoOrdersAreEqual() {
        let a = GroceryModel.make()
        let b = GroceryModel.make()
        b.entities = b.entities.reversed()
        #expect(a == b && a.hash == b.hash)
        b.entitiesByName["Item"]?.attributesByName["name"]?.defaultValue = "Old Item"
        #expect(a != b)
    }
}
