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

    @Test("A mapping model that nobody inferred is none that was, also an empty one")
    func emptyMappingModelsAreNotInferred() throws {
        let empty = NSMappingModel()
        #expect(!empty.isInferred && !empty.isAsInferred)
        let old = try model(entity("Book", attribute("title")))
        let new = try model(entity("Book", attribute("title"), attribute("isbn")))
        let inferred = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        #expect(inferred.isAsInferred)
        inferred.entityMappings = []
        #expect(inferred.isInferred && !inferred.isAsInferred)
    }

    @Test(
        "What is written of a mapping model is read as it was, and has the classes that Apple's archives have",
        .enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)),
        arguments: [
            "grocery-dude/Model2toModel3.xcmappingmodel", "grocery-dude/Model3toModel4.xcmappingmodel",
            "grocery-dude/Model7toModel8.xcmappingmodel", "sample-model/V2toV3.xcmappingmodel",
            "sample-model/V2toV3.cdm", "unclouded-notes/UnCloudNotesMappingModel_v2_to_v3.xcmappingmodel",
            "unclouded-notes/UnCloudNotesMappingModel_v3_to_v4.xcmappingmodel",
        ])
    func archivesAreWritten(path: String) throws {
        let document = try MappingModelDocument.read(contentsOf: Fixtures.url(path))
        #expect(try MappingModelDocument.document(fromArchive: document.archive()) == document)
        let file = try Fixtures.temporaryFolder().appendingPathComponent("Written.cdm")
        try NSMappingModel.load(contentsOf: Fixtures.url(path)).write(to: file)
        #expect(try MappingModelDocument.read(contentsOf: file) == document)
        guard path.hasSuffix("V2toV3.cdm") else { return }
        let apple = try KeyedArchiveReader(Data(contentsOf: Fixtures.url(path)))
        #expect(try KeyedArchiveReader(Data(contentsOf: file)).classNames == apple.classNames)
    }

    @Test(
        "Whatever expression a mapping has is read back",
        arguments: [
            "$source.title", "$source.author.name", "\"fixed\"", "7", "nil", "$source.#in", "uppercase($source.title)",
            "TERNARY($source.pages > 500 AND $source.title LIKE \"A*\", YES, NO)", "$source.pages * 2 + 1",
            "FUNCTION($entityPolicy, \"titleOf:and:\", $source, $source.title)",
            "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"A\", $source.books)",
            "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Book\", \"pages > 5\"), $manager.sourceContext, NO)",
            "SUBQUERY($source.books, $b, $b.pages > 5).@count", "{1, $source.pages}",
        ])
    func expressionsAreWritten(format: String) throws {
        let mapping = NSMappingModel()
        let entity = NSEntityMapping()
        let property = NSPropertyMapping()
        property.name = "value"
        property.valueExpression = CoreData.NSExpression(format: format)
        entity.name = "Book"
        entity.attributeMappings = [property]
        entity.relationshipMappings = []
        mapping.entityMappings = [entity]
        let file = try Fixtures.temporaryFolder().appendingPathComponent("Written.cdm")
        try mapping.write(to: file)
        let read = try NSMappingModel.load(contentsOf: file)
        let value = try #require(read.entityMappings.first?.attributeMappings?.first?.valueExpression)
        #expect(value.node == property.valueExpression?.node, "\(value)")
    }

    @Test func expressionsWithCodeAreRefused() throws {
        let mapping = NSMappingModel()
        let entity = NSEntityMapping()
        let property = NSPropertyMapping()
        property.name = "value"
        property.valueExpression = CoreData.NSExpression(block: { _, _, _ in 1 }, arguments: nil)
        entity.name = "BookToBook"
        entity.attributeMappings = [property]
        mapping.entityMappings = [entity]
        let file = try Fixtures.temporaryFolder().appendingPathComponent("Written.cdm")
        let error = try #require(throws: CocoaError.self) { try mapping.write(to: file) }
        #expect(error.localizedDescription.contains("'BookToBook'") && error.localizedDescription.contains("'value'"))
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test("A mapping model is written as .cdm only: the source has copies of both models")
    func noSourceIsWritten() throws {
        let mapping = NSMappingModel()
        mapping.entityMappings = []
        let file = try Fixtures.temporaryFolder().appendingPathComponent("Written.xcmappingmodel")
        let error = try #require(throws: CocoaError.self) { try mapping.write(to: file) }
        #expect(error.code == .fileWriteInvalidFileName)
        #expect(error.localizedDescription.contains(".cdm"), "\(error.localizedDescription)")
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test("A source without copies of its models has those that its paths lead to")
    func sourcesAreCompiledWithTheModelsBesideThem() throws {
        let folder = try Fixtures.temporaryFolder()
        func write(_ text: String, _ path: String) throws {
            let url = folder.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: url, atomically: true, encoding: .utf8)
        }
        for (name, attribute) in [("Shop", "title"), ("Shop 2", "name")] {
            try write(
                """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Book">
                <attribute name="\(attribute)" optional="YES" attributeType="String"/></entity></model>
                """, "Shop.xcdatamodeld/\(name).xcdatamodel/contents")
        }
        func source(_ entity: String) -> String {
            """
            <?xml version="1.0" standalone="yes"?>
            <database><databaseInfo><version>134481920</version><UUID>U</UUID></databaseInfo>
            <object type="XDDEVMAPPINGMODEL" id="z102">
            <attribute name="sourcemodelpath" type="string">App/Shop.xcdatamodeld/Shop.xcdatamodel</attribute>
            <attribute name="destinationmodelpath" type="string">App/Shop.xcdatamodeld/Shop 2.xcdatamodel</attribute>
            </object>
            <object type="XDDEVENTITYMAPPING" id="z103">
            <attribute name="sourcename" type="string">\(entity)</attribute>
            <attribute name="destinationname" type="string">Book</attribute>
            <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z104"></relationship>
            </object>
            <object type="XDDEVATTRIBUTEMAPPING" id="z104"><attribute name="name" type="string">name</attribute></object>
            </database>
            """
        }
        try write(source("Book"), "Maps/Shop1to2.xcmappingmodel/xcmapping.xml")
        let file = folder.appendingPathComponent("Maps/Shop1to2.xcmappingmodel")
        let entity = try #require(try MappingModelDocument.read(contentsOf: file).entities.first)
        #expect(entity.name == "BookToBook" && entity.type == 5)
        let old = try model(TestSupport.entity("Book", attribute("title")))
        let new = try model(TestSupport.entity("Book", attribute("name")))
        #expect(entity.sourceHash == old.entityVersionHashesByName["Book"])
        #expect(entity.destinationHash == new.entityVersionHashesByName["Book"])
        try write(source("Tome"), "Maps/Shop1to2.xcmappingmodel/xcmapping.xml")
        let failure = try #require(throws: ModelFailure.self) { try MappingModelDocument.read(contentsOf: file) }
        #expect(failure.diagnostics.rendered.contains("'Tome'"))
        try FileManager.default.removeItem(at: folder.appendingPathComponent("Shop.xcdatamodeld"))
        #expect(throws: ModelFailure.self) { try MappingModelDocument.read(contentsOf: file) }
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
