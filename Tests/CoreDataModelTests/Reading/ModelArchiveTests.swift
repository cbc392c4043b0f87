import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// Everything of a compiled model in lines, so that two models can be compared and differences read.
func describe(_ model: CompiledModel, indexes: Bool = true) -> [String] {
    var lines = ["identifiers \(model.versionIdentifiers)"]
    for (name, ordinals) in model.configurations.sorted(by: { $0.key < $1.key }) {
        lines.append("configuration \(name) \(ordinals)")
    }
    for entity in model.entities {
        lines.append(
            "\(entity.ordinal) \(entity.name) class \(entity.className ?? "-") abstract \(entity.isAbstract) parent "
                + "\(entity.parent ?? -1) root \(entity.root) subtree \(entity.subtree) unique \(entity.uniquenessConstraints) "
                + "hash \(entity.versionHash.hex)")
        for property in entity.properties { lines.append("  \(property.slot) \(describe(property))") }
        if indexes {
            for index in entity.fetchIndexes {
                lines.append("  index \(index.name) \(index.elements) where \(index.predicate ?? "-")")
            }
        }
        lines.append("  columns \(entity.rowLayout.columns.map { "\($0.role) \($0.kind)" })")
    }
    return lines
}

private func describe(_ property: CompiledProperty) -> String {
    let common =
        "\(property.name) of \(property.declaringEntity) optional \(property.isOptional) transient \(property.isTransient)"
    switch property.kind {
    case .fetched: return common + " fetched"
    case .attribute(let a):
        return common + " \(a.type) default \(a.defaultValue) transformer \(a.valueTransformerName ?? "-") class "
            + "\(a.valueClassName ?? "-") external \(a.allowsExternalBinaryDataStorage) kept "
            + "\(a.preservesValueInHistoryOnDeletion) derived \(a.derivationExpression ?? "-") where "
            + "\(a.derivationFilter ?? "-") elements \(a.elements)"
    case .relationship(let r):
        return common + " → \(r.destination) inverse \(r.inverseSlot ?? -1) \(r.minCount)...\(r.maxCount) "
            + "\(r.deleteRule) ordered \(r.isOrdered)"
    }
}

// store-format §12
@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct ModelArchiveTests {
    /// Apple's compiler made the second of the first.
    @Test(arguments: ["SampleModel", "SampleModel2", "SampleModel3"])
    func sourceAndCompiledModelAreEqual(version: String) throws {
        let source = try ModelReader.read(contentsOf: Fixtures.url("sample-model/SampleModel.xcdatamodeld"))
        let compiled = try ModelReader.read(contentsOf: Fixtures.url("sample-model/SampleModel.momd"))
        #expect(source.currentName == compiled.currentName)
        let archived = try #require(compiled[version])
        let a = try ModelCompiler.compile(#require(source[version]))
        let b = try ModelCompiler.compile(archived)
        // Apple's compiler does not copy the class of a transformable attribute.
        let withoutClasses = describe(a).map { $0.replacingOccurrences(of: " class Color ", with: " class - ") }
        #expect(withoutClasses.difference(from: describe(b)).map(\.self) == [])
        // What the compiler marks for single-property indexes is what the source implies.
        for (first, second) in zip(a.entities, b.entities) {
            #expect(first.fetchIndexes.map(\.name) == second.fetchIndexes.map(\.name))
            let element = try #require(archived.entities.first { $0.name == second.name })
            for property in element.properties where property.isIndexed {
                #expect(first.fetchIndexes.contains { $0.elements.map(\.slot) == [second.slotByName[property.name]] })
            }
        }
    }

    @Test func versionsOfACompiledModelKnowTheirHashes() throws {
        let model = try ModelReader.read(contentsOf: Fixtures.url("sample-model/SampleModel.momd"))
        #expect(model.name == "SampleModel")
        #expect(model.versions.map(\.name) == ["SampleModel", "SampleModel2", "SampleModel3"])
        for version in model.versions {
            for entity in try ModelCompiler.compile(version.document).entities {
                let element = try #require(version.document.entities.first { $0.name == entity.name })
                #expect(element.knownVersionHash == entity.versionHash, "\(version.name).\(entity.name)")
            }
        }
    }

    @Test func aCompiledModelOf2011IsRead() throws {
        let model = try ModelReader.read(contentsOf: Fixtures.url("twitter-seed/RestKitCoreData.momd"))
        let document = try #require(model.current)
        #expect(document.diagnostics.isEmpty)
        #expect(document.entities.map(\.name) == ["RKSearchWord", "RKSearchableManagedObject"])
        let word = try #require(document.entities[0].properties.last)
        #expect(word.name == "word" && word.isIndexed && word.isOptional)
        for entity in try ModelCompiler.compile(document).entities {
            let element = try #require(document.entities.first { $0.name == entity.name })
            #expect(element.knownVersionHash == entity.versionHash)
        }
    }

    @Test func anOptimisedModelIsReadFromItsCopy() throws {
        let model = try ModelReader.read(contentsOf: Fixtures.url("sample-model/SampleModel.momd/SampleModel.omo"))
        #expect(model.current?.entities.map(\.name) == ["Car", "ExpensiveSportCar", "Person", "SportCar"])
    }

    // store-format §11: every cached model gives the hashes, digest and checksum that its store has
    @Test(arguments: [
        "grocery-dude/DefaultData-5-entities.sqlite", "sample-model/SampleModel_V1.sqlite",
        "sample-model/SampleModel_V2.sqlite", "sample-model-2/SampleModel2_V2.sqlite", "bookmarks/Bookmarks_V1.sqlite",
        "bookmarks/Bookmarks_V2.sqlite", "bookmarks/Bookmarks_V4.sqlite",
    ])
    func cachedModelsGiveTheHashesOfTheirStores(path: String) throws {
        let store = try StoreContent(store: path)
        let document = try ModelArchive.document(fromModelCache: #require(store.modelCache))
        let model = try ModelCompiler.compile(document)
        #expect(!store.versionHashes.isEmpty)
        #expect(
            Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, $0.versionHash) }) == store.versionHashes)
        #expect((store.versionHashesDigest == nil) == (path == "grocery-dude/DefaultData-5-entities.sqlite"))
        let newest = ["sample-model-2/SampleModel2_V2.sqlite", "bookmarks/Bookmarks_V4.sqlite"]
        #expect((store.versionChecksum != nil) == newest.contains(path))
        if let digest = store.versionHashesDigest {
            #expect(CompiledModel.versionHashesDigest(entities: model.entities) == digest)
        }
        if let checksum = store.versionChecksum {
            #expect(CompiledModel.versionChecksum(entities: model.entities) == checksum)
        }
    }

    @Test func aCachedModelMadeInCodeIsReadWhole() throws {
        let store = try StoreContent(store: "sample-model-2/SampleModel2_V2.sqlite")
        let document = try ModelArchive.document(fromModelCache: #require(store.modelCache))
        #expect(document.entities.map(\.name) == ["Author", "Book", "Feedback", "GraphicNovel", "Page", "Writer"])
        // Copies of what it inherits are not the entity's own.
        let novel = document.entities[3]
        #expect(novel.parentName == "Book")
        #expect(novel.properties.map(\.name) == ["isBlackAndWhite"])
        let book = document.entities[1]
        #expect(book.uniquenessConstraints == [["uniqueID"]])
        func attribute(_ name: String) -> AttributeElement? {
            guard case .attribute(let attribute)? = book.properties.first(where: { $0.name == name })?.kind else {
                return nil
            }
            return attribute
        }
        #expect(attribute("pagesCount")?.derivationExpression == "pages.@count")
        #expect(attribute("frontCover")?.valueTransformerName == "CoverTransformer")
        #expect(attribute("frontCover")?.customClassName == "Cover")
        #expect(attribute("frontCover")?.defaultValue == .null)
        #expect(book.properties.first { $0.name == "frontCover" }?.renamingIdentifier == "cover")
        #expect(
            attribute("title")?.validations == [
                ValidationElement(
                    predicate: "length >= 3 AND length <= 50",
                    warning: "Title must have a length between 3 and 50 chars."),
                ValidationElement(predicate: "SELF CONTAINS \"title\"", warning: "Title must contain 'title'."),
            ])
        #expect(
            document.diagnostics.map(\.message) == [
                "the default of attribute 'Book.frontCover' is of class 'CoreDataPlus_Tests.Cover' and is left out"
            ])
        #expect(document.configurations.map(\.name) == ["SampleConfigurationV2Part1", "SampleConfigurationV2Part2"])
        #expect(
            document.configurations.map(\.entityNames) == [
                ["Author", "Book", "Feedback", "Page", "Writer"], ["Feedback"],
            ])
        guard
            case .fetched(let request)? = document.entities[0].properties.first(where: { $0.name == "favFeedbacks" })?
                .kind
        else {
            Issue.record("no fetched property")
            return
        }
        #expect(request.entityName == "Feedback")
        #expect(
            request.predicate
                == "authorAlias == $FETCH_SOURCE.alias AND comment CONTAINS[c] $FETCHED_PROPERTY.userInfo.search")
    }

    @Test func requestsOfACachedModelAreRead() throws {
        let store = try StoreContent(store: "grocery-dude/DefaultData-5-entities.sqlite")
        let document = try ModelArchive.document(fromModelCache: #require(store.modelCache))
        #expect(
            document.fetchRequests.map { "\($0.name) \($0.entityName ?? "-") \($0.predicate ?? "-")" } == [
                "ShoppingList Item listed == 1",
                "UnknownLocationAtHome LocationAtHome storeIn == \"..Unknown Location..\"",
                "UnknownLocationAtShop LocationAtShop aisle == \"..Unknown Location..\"",
            ])
        #expect(document.fetchRequests.allSatisfy { $0.flags == 30 })
        // What a subentity lists by proxy is not its own.
        #expect(document.entities.first { $0.name == "LocationAtShop" }?.properties.map(\.name) == ["aisle", "items"])
        let item = try #require(document.entities.first { $0.name == "Item" })
        func value(_ name: String) -> Value? {
            guard case .attribute(let attribute)? = item.properties.first(where: { $0.name == name })?.kind else {
                return nil
            }
            return attribute.defaultValue
        }
        #expect(value("name") == .string("New Item"))
        #expect(value("quantity") == .double(1))
        #expect(value("listed") == .integer(1))
        #expect(value("colletced") == .integer(0))
    }

    @Test func somethingElseIsRefused() throws {
        let data = try Data(contentsOf: Fixtures.url("sample-model/V2toV3.cdm"))
        #expect(
            throws: ModelFailure(diagnostics: [Diagnostic(.error, "the archive holds NSMappingModel, not a model")])
        ) {
            try ModelArchive.document(fromArchive: data)
        }
        #expect(throws: ModelFailure.self) { try ModelArchive.document(fromModelCache: Data("nonsense".utf8)) }
        #expect(throws: ModelFailure.self) { try ModelArchive.document(fromModelCache: Data()) }
    }
}

// store-format §14
@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct ElementsReaderTests {
    @Test(arguments: [
        ("core-data-books/CoreDataBooks.xcdatamodeld", "core-data-books/CoreDataBooks.CDBStore"),
        ("recipes/Recipes.xcdatamodeld", "recipes/Recipes.sqlite"),
        ("twitter-seed/RKTwitterCoreData.xcdatamodel", "twitter-seed/RKSeedDatabase.sqlite"),
    ])
    func oldModelsHaveTheHashesOfTheirStores(model path: String, store: String) throws {
        let versions = try ModelReader.read(contentsOf: Fixtures.url(path))
        let expected = try StoreContent(store: store).versionHashes
        #expect(!expected.isEmpty)
        let matching = try versions.versions.filter { version in
            let model = try ModelCompiler.compile(version.document)
            return Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, $0.versionHash) }) == expected
        }
        #expect(matching.count >= 1)
        #expect(versions.versions.allSatisfy { $0.document.diagnostics.isEmpty })
    }

    @Test func factsBecomeElements() throws {
        let document = try #require(
            try ModelReader.read(contentsOf: Fixtures.url("core-data-books/CoreDataBooks.xcdatamodeld")).current)
        let book = try #require(document.entities.first)
        #expect(book.name == "Book" && book.className == "Book" && !book.isAbstract)
        #expect(book.properties.map(\.name) == ["author", "copyright", "title"])
        #expect(book.properties.map(\.isOptional) == [false, true, false])
        guard case .attribute(let author) = book.properties[0].kind else {
            Issue.record("no attribute")
            return
        }
        #expect(author.type == .string && author.defaultValue == .string("Author"))
        #expect(author.validations == [ValidationElement(predicate: "length >= 1", warning: "1670")])
    }

    @Test func relationshipsOfOldModelsAreRead() throws {
        let versions = try ModelReader.read(contentsOf: Fixtures.url("recipes/Recipes.xcdatamodeld"))
        #expect(versions.versions.map(\.name) == ["Recipes", "Recipes 2"])
        let recipe = try #require(versions["Recipes 2"]?.entities.first { $0.name == "Recipe" })
        func relationship(_ name: String) -> RelationshipElement? {
            guard case .relationship(let found)? = recipe.properties.first(where: { $0.name == name })?.kind else {
                return nil
            }
            return found
        }
        let ingredients = try #require(relationship("ingredients"))
        #expect(ingredients.destinationName == "Ingredient" && ingredients.inverseName == "recipe")
        #expect(ingredients.maxCount == 0 && ingredients.deleteRule == .cascade)
        let image = try #require(relationship("image"))
        #expect(image.minCount == 1 && image.maxCount == 1)
    }
}
