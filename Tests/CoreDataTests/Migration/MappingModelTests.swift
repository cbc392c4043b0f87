import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Mapping models as files have them, and as they are inferred.
@Suite struct MappingModelTests {
    private func model(_ entities: EntityElement...) throws -> NSManagedObjectModel {
        var document = ModelDocument()
        document.entities = entities
        return try NSManagedObjectModel(document: document)
    }

    @Test("T6: inferred mappings have Apple's names and expressions")
    func inferredMappings() throws {
        let old = try model(
            entity("Book", attribute("title"), toOne("shelf", "Shelf", inverse: "books")),
            entity("Loan", attribute("day")), entity("Shelf", toMany("books", "Book", inverse: "shelf")),
            entity("Tag", attribute("name")))
        let new = try model(
            entity("Author", attribute("name")),
            entity(
                "Book", attribute("name").with { $0.renamingIdentifier = "title" },
                toOne("shelf", "Shelf", inverse: "books")),
            entity("Shelf", toMany("books", "Book", inverse: "shelf")), entity("Tag", attribute("name")))
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        #expect(
            mapping.entityMappingsByName.keys.sorted() == [
                "IEM_Add_Author", "IEM_Copy_Shelf", "IEM_Copy_Tag", "IEM_Remove_Loan", "IEM_Transform_Book",
            ])
        let book = try #require(mapping.entityMappingsByName["IEM_Transform_Book"])
        #expect(book.mappingType == .transformEntityMappingType)
        #expect(book.sourceEntityVersionHash == old.entityVersionHashesByName["Book"])
        #expect(book.attributeMappings?.map(\.name) == ["name"])
        let relationship = try #require(book.relationshipMappings?.first?.valueExpression)
        #expect(relationship.function == "destinationInstancesForEntityMappingNamed:sourceInstances:")
        #expect(relationship.arguments?.first?.constantValue as? String == "IEM_Copy_Shelf")
        let impossible = try model(entity("Book", attribute("title", .integer16)))
        let error = try #require(throws: CocoaError.self) {
            _ = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: impossible)
        }
        #expect(error.code == .inferredMappingModel)
        #expect((error.userInfo["reason"] as? String)?.contains("Book.title changes its type") == true)
    }

    @Test(
        "A compiled mapping model of Apple's is read",
        .enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func archivesAreRead() throws {
        let mapping = try NSMappingModel.load(contentsOf: Fixtures.url("sample-model/V2toV3.cdm"))
        #expect(
            mapping.entityMappings.map(\.name)
                == ["CarToCar", "LuxuryCarToLuxuryCar", "PersonToPerson", "SportCarToSportCar", "Maker"])
        let car = try #require(mapping.entityMappingsByName["CarToCar"])
        #expect(car.mappingType == .customEntityMappingType)
        #expect(car.entityMigrationPolicyClassName == "REPLACE_AT_RUNTIME.V2to3MakerPolicy")
        #expect(car.sourceEntityVersionHash?.count == 32)
        #expect(
            car.attributeMappings?.compactMap { $0.valueExpression?.description } == [
                "$source.markedForDeletionAsOf", "$source.model", "$source.numberPlate",
            ])
        #expect(mapping.entityMappingsByName["PersonToPerson"]?.mappingType == .copyEntityMappingType)
        let folder = Fixtures.url("sample-model/SampleModel.momd")
        let models = try NSManagedObjectModel.versionNames(at: folder).map {
            try NSManagedObjectModel.load(contentsOf: folder, version: $0).entityVersionHashesByName
        }
        #expect(models.contains { new in models.contains { mapping.fits($0, new) } })
    }

    /// What Xcode's compiler made of the source is beside it.
    @Test(
        "The source of a mapping model means what Apple's compiler makes of it",
        .enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func sourcesAreCompiledAsByApple() throws {
        let source = try MappingModelDocument.read(contentsOf: Fixtures.url("sample-model/V2toV3.xcmappingmodel"))
        let compiled = try MappingModelDocument.read(contentsOf: Fixtures.url("sample-model/V2toV3.cdm"))
        #expect(source.entities.map(\.name) == compiled.entities.map(\.name))
        for (a, b) in zip(source.entities, compiled.entities) { #expect(a == b, "\(a.name)") }
    }

    @Test(
        "Every mapping model of the fixtures can be read",
        .enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)),
        arguments: [
            "grocery-dude/Model2toModel3", "grocery-dude/Model3toModel4", "grocery-dude/Model7toModel8",
            "sample-model/V2toV3",
            "unclouded-notes/UnCloudNotesMappingModel_v2_to_v3", "unclouded-notes/UnCloudNotesMappingModel_v3_to_v4",
        ])
    func sourcesAreRead(path: String) throws {
        let mapping = try NSMappingModel.load(contentsOf: Fixtures.url(path + ".xcmappingmodel"))
        #expect(!mapping.entityMappings.isEmpty)
        for entity in mapping.entityMappings {
            #expect((entity.sourceEntityName == nil) == (entity.sourceEntityVersionHash == nil), "\(entity)")
            #expect((entity.destinationEntityName == nil) == (entity.destinationEntityVersionHash == nil), "\(entity)")
        }
    }

    @Test func brokenFilesAreErrors() throws {
        let folder = try Fixtures.temporaryFolder()
        let file = folder.appendingPathComponent("Broken.cdm")
        #expect(throws: CocoaError.self) { _ = try NSMappingModel.load(contentsOf: file) }
        try Data([1, 2, 3]).write(to: file)
        #expect(throws: CocoaError.self) { _ = try NSMappingModel.load(contentsOf: file) }
        #expect(NSMappingModel(contentsOf: file) == nil)
    }
}
