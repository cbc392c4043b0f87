import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite struct MergingTests {
    private func model(_ names: [String]) -> NSManagedObjectModel {
        let model = GroceryModel.make()
        model.entities = model.entities.filter { names.contains($0.name ?? "") }
        return model
    }

    @Test func partsOfAModelMergeToTheWhole() throws {
        let whole = GroceryModel.make()
        let parts = [
            model(["Item", "Item_Photo", "Location"]), model(["Location", "LocationAtHome", "LocationAtShop"]),
            model(["Unit"]),
        ]
        let merged = try #require(NSManagedObjectModel(byMerging: parts))
        #expect(merged.entityVersionHashesByName == whole.entityVersionHashesByName)
        #expect(merged.entitiesByName["LocationAtHome"]?.superentity === merged.entitiesByName["Location"])
        #expect(merged.entitiesByName["Location"]?.subentities.count == 2)
        let unit = merged.entitiesByName["Item"]?.relationshipsByName["unit"]
        #expect(unit?.destinationEntity === merged.entitiesByName["Unit"])
        try merged.freeze()
        #expect(parts.allSatisfy { !$0.isFrozen })
    }

    @Test func differentEntitiesOfOneNameDoNotMerge() {
        let other = model(["Unit"])
        other.entities[0].attributesByName["name"]?.isOptional = false
        #expect(NSManagedObjectModel(byMerging: [GroceryModel.make(), other]) == nil)
        #expect(NSManagedObjectModel(byMerging: [GroceryModel.make(), model(["Unit"])]) != nil)
    }

    /// api.md §3: two different entities of one name are an error; here it names all of them and what differs.
    @Test func conflictsNameEntitiesAndProperties() throws {
        let other = model(["Unit", "Item_Photo"])
        other.entitiesByName["Unit"]?.attributesByName["name"]?.isOptional = false
        other.entitiesByName["Item_Photo"]?.versionHashModifier = "2"
        let error = try #require(throws: CocoaError.self) {
            try NSManagedObjectModel.merging([GroceryModel.make(), other])
        }
        #expect(error.code.rawValue == 134060)
        let text = error.localizedDescription
        #expect(text.contains("two different entities named 'Unit'; they differ in: name;"))
        #expect(text.contains("two different entities named 'Item_Photo'; they differ in parent, constraints"))
        #expect(try NSManagedObjectModel.merging([GroceryModel.make(), model(["Unit"])]).entities.count == 6)
    }

    @Test func configurationsTemplatesAndTextsMerge() throws {
        let a = model(["Unit"])
        let b = model(["Item_Photo"])
        for model in [a, b] {
            model.setEntities(model.entities, forConfigurationName: "Both")
            model.versionIdentifiers = [model.entities[0].name ?? ""]
            model.localizationDictionary = [
                "Entity/\(model.entities[0].name ?? "")": "x", "Same": model === a ? "a" : "b",
            ]
        }
        b.setFetchRequestTemplate(NSFetchRequest(entityName: "Item_Photo"), forName: "Photos")
        let merged = try #require(NSManagedObjectModel(byMerging: [a, b]))
        #expect(Set(merged.entities(forConfigurationName: "Both")?.map(\.name) ?? []) == ["Unit", "Item_Photo"])
        #expect(merged.versionIdentifiers == ["Unit", "Item_Photo"])
        #expect(merged.localizationDictionary == ["Entity/Unit": "x", "Entity/Item_Photo": "x", "Same": "a"])
        #expect(merged.fetchRequestTemplate(forName: "Photos")?.entity === merged.entitiesByName["Item_Photo"])
    }

    @Test func mergingNothingIsEmpty() {
        #expect(NSManagedObjectModel(byMerging: nil)?.entities.isEmpty == true)
        #expect(NSManagedObjectModel(byMerging: [])?.entities.isEmpty == true)
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func aStoresModelIsFoundAmongVersions() throws {
        let file = Fixtures.url("grocery-dude/Model.xcdatamodeld")
        let models = try NSManagedObjectModel.versionNames(at: file).map {
            try NSManagedObjectModel.load(contentsOf: file, version: $0)
        }
        #expect(models.count == 8)
        for model in models {
            let metadata: [String: Any] = ["NSStoreModelVersionHashes": model.entityVersionHashesByName]
            let found = try #require(NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata))
            #expect(found.entityVersionHashesByName == model.entityVersionHashesByName)
            #expect(found.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        }
        let unknown: [String: Any] = ["NSStoreModelVersionHashes": ["Nothing": Data(count: 32)]]
        #expect(NSManagedObjectModel(byMerging: models, forStoreMetadata: unknown) == nil)
        #expect(NSManagedObjectModel(byMerging: models, forStoreMetadata: [:]) == nil)
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func aBundlesModelsMerge() throws {
        let folder = try Fixtures.temporaryFolder()
        try FileManager.default.copyItem(
            at: Fixtures.url("browser-models/PrivacyStats.xcdatamodeld"),
            to: folder.appendingPathComponent("PrivacyStats.xcdatamodeld"))
        try FileManager.default.copyItem(
            at: Fixtures.url("browser-models/RemoteMessaging.xcdatamodeld"),
            to: folder.appendingPathComponent("RemoteMessaging.xcdatamodeld"))
        let bundle = try #require(Bundle(url: folder))
        #expect(
            ModelFiles.models(in: [bundle]).map(\.lastPathComponent)
                == ["PrivacyStats.xcdatamodeld", "RemoteMessaging.xcdatamodeld"])
        #expect(ModelFiles.model(named: "RemoteMessaging", in: [bundle]) != nil)
        let merged = try #require(NSManagedObjectModel.mergedModel(from: [bundle]))
        #expect(merged.entities.count > 1)
        let metadata: [String: Any] = ["NSStoreModelVersionHashes": merged.entityVersionHashesByName]
        let found = try #require(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata))
        #expect(found.versionChecksum == merged.versionChecksum)
    }
}
