import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite struct NSManagedObjectModelTests {
    @Test func iterationGivesEntities() {
        let model = GroceryModel.make()
        var names: [String?] = []
        for entity in model { names.append(entity.name) }
        #expect(names == ["Item", "Item_Photo", "Location", "LocationAtHome", "LocationAtShop", "Unit"])
        #expect(NSFastEnumerationIterator(model).compactMap { ($0 as? NSEntityDescription)?.name } == names)
    }

    @Test func configurationsAreByName() throws {
        let model = GroceryModel.make()
        let unit = try #require(model.entitiesByName["Unit"])
        #expect(model.configurations.isEmpty)
        #expect(model.entities(forConfigurationName: nil)?.count == 6)
        #expect(model.entities(forConfigurationName: "Units") == nil)
        model.setEntities([unit], forConfigurationName: "Units")
        #expect(model.configurations == ["Units"])
        #expect(model.entities(forConfigurationName: "Units") == [unit])
        let compiled = try model.freeze()
        #expect(compiled.entities(inConfiguration: "Units")?.map(\.name) == ["Unit"])
    }

    @Test func templatesAreKeptByNameAndCopied() throws {
        let model = GroceryModel.make()
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        request.fetchLimit = 5
        model.setFetchRequestTemplate(request, forName: "Five")
        #expect(model.fetchRequestTemplate(forName: "Five") === request)
        #expect(Array(model.fetchRequestTemplatesByName.keys) == ["Five"])
        let made = try #require(model.fetchRequestFromTemplate(withName: "Five", substitutionVariables: [:]))
        #expect(made !== request && made.fetchLimit == 5)
        #expect(made.entity === model.entitiesByName["Item"])
        #expect(model.fetchRequestFromTemplate(withName: "Six", substitutionVariables: [:]) == nil)
        model.setFetchRequestTemplate(nil, forName: "Five")
        #expect(model.fetchRequestTemplate(forName: "Five") == nil)
    }

    @Test func removingAnEntityFreesIt() throws {
        let model = GroceryModel.make()
        let unit = try #require(model.entitiesByName["Unit"])
        model.entities.removeAll { $0 === unit }
        let other = NSManagedObjectModel()
        #expect(other.refusalMessage(entity: unit) == nil)
        other.entities = [unit]
        #expect(unit.managedObjectModel === other && model.entities.count == 5)
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func aFileGivesItsCurrentVersionOrTheOneNamed() throws {
        let file = Fixtures.url("grocery-dude/Model.xcdatamodeld")
        let eighth = try NSManagedObjectModel.load(contentsOf: file, version: "Model 8")
        #expect(eighth.entities.count == 6)
        let item = try #require(eighth.entitiesByName["Item"])
        #expect(item.managedObjectClassName == "Item")
        #expect(item.attributesByName["name"]?.defaultValue as? String == "New Item")
        #expect(item.attributesByName["listed"]?.defaultValue as? Bool == true)
        #expect(item.attributesByName["quantity"]?.defaultValue as? Float == 1)
        #expect(item.relationshipsByName["photo"]?.deleteRule == .cascadeDeleteRule)
        #expect(item.relationshipsByName["unit"]?.inverseRelationship?.name == "items")
        #expect(eighth.fetchRequestTemplate(forName: "ShoppingList")?.entity === item)
        #expect(eighth.versionIdentifiers == [""])
        #expect(NSManagedObjectModel(contentsOf: file) != nil)
        let checksums = try NSManagedObjectModel.versionChecksums(at: file)
        #expect(checksums.count == 8 && checksums["Model 8"] == eighth.versionChecksum)
    }

    @Test func aVersionIsReadWithoutTheOthers() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("opencoredata-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("Library.xcdatamodeld")
        for (name, contents) in [
            "Library": "<model><entity name=\"Book\"/></model>", "Library 2": "no model at all",
            "Library 3": "<model><entity name=\"Loan\"/></model>",
        ] {
            let version = file.appendingPathComponent(name + ".xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            try contents.write(to: version.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        }
        #expect(NSManagedObjectModel(contentsOf: file)?.entities.map(\.name) == ["Book"])
        let third = try NSManagedObjectModel.load(contentsOf: file, version: "Library 3")
        #expect(third.entities.map(\.name) == ["Loan"])
        #expect(try NSManagedObjectModel.versionNames(at: file) == ["Library", "Library 2", "Library 3"])
        let error = #expect(throws: CocoaError.self) {
            try NSManagedObjectModel.load(contentsOf: file, version: "Library 2")
        }
        #expect((error?.userInfo[NSLocalizedDescriptionKey] as? String)?.contains("Library 2.xcdatamodel") == true)
        let reference = NSManagedObjectModelReference(fileURL: file, versionChecksum: third.versionChecksum)
        #expect(try reference.resolve().entities.map(\.name) == ["Loan"])
    }

    @Test func aFileThatIsNotThereIsToldAbout() {
        let url = URL(fileURLWithPath: "/nowhere/Model.momd")
        #expect(NSManagedObjectModel(contentsOf: url) == nil)
        let error = #expect(throws: CocoaError.self) { try NSManagedObjectModel.load(contentsOf: url) }
        #expect(error?.errorCode == 134060)
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func aVersionThatIsNotThereIsToldAbout() throws {
        let file = Fixtures.url("grocery-dude/Model.xcdatamodeld")
        let error = #expect(throws: CocoaError.self) {
            try NSManagedObjectModel.load(contentsOf: file, version: "Model 9")
        }
        #expect((error?.userInfo[NSLocalizedDescriptionKey] as? String)?.contains("'Model 8'") == true)
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func everyModelOfTheFixturesLoadsAndKeepsItsHashesThroughDescriptions() throws {
        let folder = try #require(Fixtures.folder)
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
            .compactMap { $0 as? URL }.filter { ["xcdatamodel", "mom"].contains($0.pathExtension) }
        #expect(files.count > 20)
        for file in files {
            let model = try NSManagedObjectModel.load(contentsOf: file)
            let copy = try #require(model.copy() as? NSManagedObjectModel)
            #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName, "\(file.path)")
            #expect(copy == model, "\(file.path)")
            try copy.freeze()
            #expect(copy.versionChecksum == model.versionChecksum, "\(file.path)")
        }
    }

    @Test func aReferenceToAFileThatIsNotThereIsNotFound() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).momd")
        let reference = NSManagedObjectModelReference(fileURL: file, versionChecksum: "checksum")
        let error = #expect(throws: CocoaError.self) { try reference.resolve() }
        #expect(error?.errorCode == 134504)
        #expect(error?.localizedDescription.contains("there is no such file") == true)
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func aReferenceFindsTheVersionWithItsChecksum() throws {
        let file = Fixtures.url("grocery-dude/Model.xcdatamodeld")
        let third = try NSManagedObjectModel.load(contentsOf: file, version: "Model 3")
        let bundle = try #require(Bundle(url: file.deletingLastPathComponent()))
        let checksum = third.versionChecksum
        let references = [
            NSManagedObjectModelReference(model: third, versionChecksum: checksum),
            NSManagedObjectModelReference(fileURL: file, versionChecksum: checksum),
            NSManagedObjectModelReference(name: "Model 3", in: bundle, versionChecksum: checksum),
            NSManagedObjectModelReference(name: "Model", in: bundle, versionChecksum: checksum),
            NSManagedObjectModelReference(
                entityVersionHashes: third.entityVersionHashesByName, in: bundle, versionChecksum: checksum),
        ]
        for reference in references {
            #expect(reference.versionChecksum == checksum)
            #expect(try reference.resolve().versionChecksum == checksum)
            #expect(reference.resolvedModel === (try reference.resolve()))
        }
        let wrong = NSManagedObjectModelReference(name: "Model 4", in: bundle, versionChecksum: checksum)
        let error = #expect(throws: CocoaError.self) { try wrong.resolve() }
        #expect(error?.errorCode == 134504)
    }
}
