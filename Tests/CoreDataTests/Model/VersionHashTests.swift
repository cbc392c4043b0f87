import Foundation
import TestSupport
import Testing

@testable import CoreData

/// store-format §10
@Suite struct VersionHashTests {
    /// Hashes that Apple computed for entities of the same description.
    static let apple = [
        "Item_Photo": "e69f2fdcffde56b3e54e39b6da4890ecbc708caed1800945c1596c34358192a5",
        "Location": "461bb6b66b8c4611746a9e3c8070c28dc4e8f162e29340574a5cf81c36fce0f5",
        "LocationAtHome": "ae99004ebe27e60e8fcd32fd8b8e63ccc7c35c119d22053c0e8c57396dc491ea",
        "LocationAtShop": "b654338a643a0a5d80947fa18e5f7c6ac73ea9d373c822cb51022181d3ccbb30",
        "Unit": "222029111a609802ce8d344f076cc2b31c94d9ac7b3cf9290422740340a9f0ed",
    ]

    @Test func aModelInCodeHasApplesHashes() {
        let hashes = GroceryModel.make().entityVersionHashesByName
        #expect(hashes.count == 6)
        for (name, hash) in Self.apple { #expect(hashes[name]?.hexadecimal == hash, "\(name)") }
    }

    @Test func freezingDoesNotChangeHashes() throws {
        let model = GroceryModel.make()
        let before = model.entityVersionHashesByName
        let checksum = model.versionChecksum
        try model.freeze()
        #expect(model.entityVersionHashesByName == before)
        #expect(model.versionChecksum == checksum)
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func aModelInCodeHasTheHashesOfItsSource() throws {
        let source = try NSManagedObjectModel.load(
            contentsOf: Fixtures.url("grocery-dude/Model.xcdatamodeld"), version: "Model 8")
        let code = GroceryModel.make()
        #expect(code.entityVersionHashesByName == source.entityVersionHashesByName)
        #expect(code.versionChecksum == source.versionChecksum)
        for (name, entity) in code.entitiesByName {
            let other = try #require(source.entitiesByName[name])
            #expect(entity.propertiesByName.mapValues(\.versionHash) == other.propertiesByName.mapValues(\.versionHash))
        }
    }

    @Test func anEntityInNoModelHasItsHash() {
        let location = GroceryModel.entity("Location")
        location.isAbstract = true
        location.properties = [GroceryModel.attribute("summary", .string)]
        #expect(location.versionHash.hexadecimal == Self.apple["Location"])
    }

    /// T11
    @Test func whatDoesNotReachTheRowsDoesNotCount() throws {
        let model = GroceryModel.make()
        let before = model.versionChecksum
        let unit = try #require(model.entitiesByName["Unit"])
        let name = try #require(unit.attributesByName["name"])
        unit.managedObjectClassName = "Measure"
        unit.userInfo = ["key": "value"]
        unit.renamingIdentifier = "OldUnit"
        unit.indexes = [
            NSFetchIndexDescription(
                name: "byName", elements: [NSFetchIndexElementDescription(property: name, collationType: .binary)])
        ]
        name.defaultValue = "kg"
        name.renamingIdentifier = "oldName"
        unit.relationshipsByName["items"]?.deleteRule = .cascadeDeleteRule
        #expect(model.versionChecksum == before)
    }

    @Test func whatReachesTheRowsCounts() throws {
        let changes: [(NSEntityDescription, NSAttributeDescription) -> Void] = [
            { entity, _ in entity.versionHashModifier = "2" },
            { entity, _ in entity.uniquenessConstraints = [["name"]] },
            { entity, _ in entity.name = "Measure" },
            { _, name in name.isOptional = false },
            { _, name in name.type = .integer16 },
            { _, name in name.versionHashModifier = "2" },
            { _, name in name.preservesValueInHistoryOnDeletion = true },
            { entity, _ in entity.relationshipsByName["items"]?.isOrdered = true },
            { entity, _ in entity.relationshipsByName["items"]?.maxCount = 5 },
        ]
        for (position, change) in changes.enumerated() {
            let model = GroceryModel.make()
            let before = model.versionChecksum
            let unit = try #require(model.entitiesByName["Unit"])
            change(unit, try #require(unit.attributesByName["name"]))
            #expect(model.versionChecksum != before, "change \(position)")
        }
    }

    /// T1
    @Test func compatibilityIsEqualityOfTheConfigurationsHashes() throws {
        let model = GroceryModel.make()
        let byName = model.entitiesByName
        model.setEntities([try #require(byName["Unit"])], forConfigurationName: "Units")
        let all: [String: Any] = ["NSStoreModelVersionHashes": model.entityVersionHashesByName]
        let units: [String: Any] = [
            "NSStoreModelVersionHashes": NSDictionary(dictionary: ["Unit": try #require(byName["Unit"]).versionHash])
        ]
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: all))
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: units))
        #expect(model.isConfiguration(withName: "Units", compatibleWithStoreMetadata: units))
        #expect(!model.isConfiguration(withName: "Units", compatibleWithStoreMetadata: all))
        #expect(!model.isConfiguration(withName: "Nothing", compatibleWithStoreMetadata: all))
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
    }
}
