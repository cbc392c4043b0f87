import CoreData
import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreDataCLI

/// Models that `convert --to swift` wrote, compiled into the tests.
@Suite struct DeclaredModelTests {
    private static let generated = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("DeclaredLibrary.swift")

    @Test func theFileInTheseTestsIsWhatIsWritten() throws {
        let scratch = try Scratch()
        let versions = try ModelFile.versions(at: LibrarySource.write(to: scratch))
        #expect(try ModelSwiftWriter.text(of: versions) == String(contentsOf: Self.generated, encoding: .utf8))
    }

    @Test(arguments: ["Library", "Library 2"])
    func aDeclaredVersionIsTheModelThatItWasMadeOf(version: String) throws {
        let scratch = try Scratch()
        let path = try LibrarySource.write(to: scratch)
        let source = try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: path), version: version)
        let make = try #require(LibraryModel.versions[version])
        let declared = try make()
        #expect(declared.entityVersionHashesByName == source.entityVersionHashesByName)
        #expect(declared.isEqual(source))
        #expect(LibraryModel.currentVersion == "Library 2")
    }

    @Test func whatSwiftCannotSayIsAnError() throws {
        var attribute = AttributeElement(type: .transformable)
        attribute.defaultValue = .integer(5)
        var derived = AttributeElement(type: .string)
        derived.derivationExpression = "lowercase:(name)"
        derived.defaultValue = .string("x")
        var entity = EntityElement(name: "Book")
        entity.properties = [
            PropertyElement(name: "data", kind: .attribute(attribute)),
            PropertyElement(name: "low", kind: .attribute(derived)),
            PropertyElement(name: "id", kind: .attribute(AttributeElement(type: .objectID))),
        ]
        var document = ModelDocument()
        document.entities = [entity]
        let versions = ModelVersions(name: "M", versions: [.init(name: "M", document: document)], currentName: "M")
        let failure = try #require(throws: ModelFailure.self) { try ModelSwiftWriter.text(of: versions) }
        #expect(
            failure.diagnostics.map(\.message) == [
                "attribute 'Book.data' has a default of type Transformable, which a model in Swift cannot say",
                "attribute 'Book.low' is derived and has a default, which a model in Swift cannot say",
                "attribute 'Book.id' is of type ObjectID, which a model in Swift cannot say",
            ])
    }

    @Test func namesOfTypeAndFunctionsAreIdentifiers() {
        func names(_ model: String, _ versions: [String]) -> DeclarationNames {
            DeclarationNames(
                ModelVersions(
                    name: model, versions: versions.map { .init(name: $0, document: ModelDocument()) },
                    currentName: versions[0]))
        }
        let shop = names("my shop", ["my shop", "2", "class", "versions", "My-shop"])
        #expect(shop.type == "MyShopModel")
        #expect(shop.functions["my shop"] == "myShop" && shop.functions["2"] == "version2")
        #expect(shop.functions["class"] == "`class`" && shop.functions["versions"] == "versionsModel")
        #expect(shop.functions["My-shop"] == "myShopModel")
        #expect(names("BookModel", ["é"]).type == "BookModel")
    }
}
