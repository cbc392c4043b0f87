import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// Lines of the difference; `!` marks those that need no migration.
private func lines(_ old: ModelDocument, _ new: ModelDocument) throws -> [String] {
    let difference = try ModelDifference(from: ModelCompiler.compile(old), to: ModelCompiler.compile(new))
    return difference.added.map { "+ \($0)" } + difference.removed.map { "- \($0)" }
        + difference.changes.map { ($0.needsMigration ? "" : "! ") + $0.line }
}

private func attributeElement(_ change: (inout AttributeElement) -> Void) -> PropertyElement {
    var element = AttributeElement(type: .string)
    change(&element)
    return PropertyElement(name: "x", kind: .attribute(element))
}

private func relationshipElement(_ change: (inout RelationshipElement) -> Void) -> PropertyElement {
    var element = RelationshipElement()
    element.destinationName = "Book"
    change(&element)
    return PropertyElement(name: "x", kind: .relationship(element))
}

@Suite struct ModelDifferenceTests {
    @Test func equalModelsHaveNone() throws {
        let document = model(entity("Book", attribute("title"), toOne("next", "Book")))
        let difference = try ModelDifference(from: ModelCompiler.compile(document), to: ModelCompiler.compile(document))
        #expect(difference.isEmpty && !difference.needsMigration && difference.lines.isEmpty)
    }

    @Test func entitiesAndPropertiesAreAddedAndRemoved() throws {
        let old = model(entity("Book", attribute("title"), attribute("pages", .integer16)), entity("Loan"))
        let new = model(
            entity("Book", attribute("title"), attribute("isbn", optional: false), toMany("authors", "Author")),
            entity("Author"))
        #expect(
            try lines(old, new) == [
                "+ Author", "- Loan", "Book: relationship 'authors' was added (to-many Author, optional)",
                "Book: attribute 'isbn' was added (String, required)", "Book: attribute 'pages' was removed",
            ])
    }

    @Test(
        arguments: [
            (attribute("x", .integer16), attribute("x", .string), ["Book.x: type Integer 16 → String"]),
            (attribute("x"), attribute("x", optional: false), ["Book.x: optional → required"]),
            (attribute("x"), attribute("x").with { $0.isTransient = true }, ["Book.x: stored → transient"]),
            (
                attribute("x", .integer16), attribute("x", .integer32, optional: false),
                ["Book.x: optional → required", "Book.x: type Integer 16 → Integer 32"]
            ),
            (attribute("x"), attribute("x", default: "a"), ["! Book.x: default was added"]),
            (attribute("x", default: "a"), attribute("x", default: "b"), ["! Book.x: default was changed"]),
            (attribute("x"), toOne("x", "Book"), ["Book.x: attribute → relationship"]),
            (attribute("x"), derived("x", .string, "title"), ["Book.x: derived from nothing → title"]),
            (
                attributeElement { $0.type = .binaryData },
                attributeElement {
                    $0.type = .binaryData
                    $0.allowsExternalBinaryDataStorage = true
                },
                ["Book.x: internal storage → external storage"]
            ),
            (
                attributeElement { _ in }, attributeElement { $0.preservesValueInHistoryOnDeletion = true },
                ["Book.x: not kept in history → kept in history"]
            ),
            (
                attributeElement { $0.type = .transformable },
                attributeElement {
                    $0.type = .transformable
                    $0.valueTransformerName = "T"
                },
                ["! Book.x: value transformer none → T"]
            ),
            (
                attributeElement {
                    $0.type = .composite
                    $0.elements = [attribute("a", .double)]
                },
                attributeElement {
                    $0.type = .composite
                    $0.elements = [attribute("b", .double, optional: false)]
                },
                ["Book.x: elements a Double optional → b Double"]
            ),
            (
                relationshipElement { _ in }, relationshipElement { $0.maxCount = 1 }, ["Book.x: to-many → to-one"]
            ),
            (
                relationshipElement { _ in },
                relationshipElement {
                    $0.maxCount = 5
                    $0.minCount = 2
                    $0.isOrdered = true
                },
                [
                    "Book.x: minimum count 0 → 2", "Book.x: maximum count unlimited → 5", "Book.x: unordered → ordered",
                ]
            ),
            (
                relationshipElement { _ in }, relationshipElement { $0.destinationName = "Shelf" },
                ["Book.x: destination Book → Shelf"]
            ),
            (
                relationshipElement { _ in }, relationshipElement { $0.deleteRule = .cascade },
                ["! Book.x: delete rule Nullify → Cascade"]
            ),
            (
                attribute("x"), attribute("x").with { $0.versionHashModifier = "2" },
                ["Book: version hash modifier was changed"]
            ),
            (
                attribute("x").with { $0.isTransient = true }, attribute("x", .date).with { $0.isTransient = true },
                ["! Book.x: type String → Date"]
            ),
        ] as [(PropertyElement, PropertyElement, [String])])
    func changesOfPropertiesAreTold(_ old: PropertyElement, _ new: PropertyElement, _ expected: [String]) throws {
        func document(_ property: PropertyElement) -> ModelDocument {
            model(entity("Book", attribute("title"), property), entity("Shelf"))
        }
        #expect(try lines(document(old), document(new)) == expected)
    }

    @Test func changesOfEntitiesAreTold() throws {
        let old = model(entity("Book", attribute("title")), entity("Item"))
        let new = model(
            entity("Book", parent: "Item", abstract: true, attribute("title")).with {
                $0.className = "CDBook"
                $0.uniquenessConstraints = [["title"]]
                var index = FetchIndexElement(name: "byTitle")
                index.elements = [.init(propertyName: "title")]
                $0.fetchIndexes = [index]
            }, entity("Item"))
        #expect(
            try lines(old, new) == [
                "Book: concrete → abstract", "Book: parent none → Item", "! Book: class none → CDBook",
                "Book: unique by nothing → (title)", "! Book: indexes none → byTitle(title)",
            ])
    }

    @Test func inheritedChangesAreToldOnce() throws {
        func document(_ type: AttributeType) -> ModelDocument {
            model(
                entity("Item", attribute("code", type)), entity("Book", parent: "Item"), entity("Map", parent: "Item"))
        }
        #expect(
            try lines(document(.string), document(.uuid)) == [
                "Book: inherits changes", "Item.code: type String → UUID", "Map: inherits changes",
            ])
    }

    @Test func inverseIsNamed() throws {
        let old = model(
            entity("Book", toOne("author", "Author", inverse: "books")),
            entity("Author", toMany("books", "Book", inverse: "author")))
        let new = model(
            entity("Book", toOne("author", "Author", inverse: "works")),
            entity("Author", toMany("works", "Book", inverse: "author")))
        #expect(
            try lines(old, new) == [
                "Author: relationship 'books' was removed",
                "Author: relationship 'works' was added (to-many Book, optional)",
                "Book.author: inverse books → works",
            ])
    }

    @Test func storesAreComparedByHash() throws {
        let old = try ModelCompiler.compile(model(entity("Book", attribute("title")), entity("Loan"), entity("Shelf")))
        let new = try ModelCompiler.compile(
            model(entity("Book", attribute("name")), entity("Author"), entity("Shelf"), entity("Loan")))
        let hashes = Dictionary(uniqueKeysWithValues: old.entities.map { ($0.name, $0.versionHash) })
        let entities = new.entities.filter { $0.name != "Loan" }
        let difference = ModelDifference.entities(hashes: hashes, model: new, entities: entities)
        #expect(difference.missing == ["Loan"])
        #expect(difference.added == ["Author"])
        #expect(difference.changed == ["Book"])
        var more = hashes
        more["Ghost"] = Data()
        #expect(
            ModelDifference.lines(hashes: more, model: new, entities: entities) == [
                "Ghost: is in the store but not in the model",
                "Loan: is in the store but not in the model's configuration",
                "Author: is in the model but not in the store", "Book: has changed since the store was written",
            ])
        let same = ModelDifference.entities(hashes: hashes, model: old, entities: old.entities)
        #expect(same.missing.isEmpty && same.added.isEmpty && same.changed.isEmpty)
    }
}

@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct FixtureDifferenceTests {
    private func difference(_ path: String, _ old: String, _ new: String) throws -> ModelDifference {
        let versions = try ModelReader.read(contentsOf: Fixtures.url(path))
        return try ModelDifference(
            from: ModelCompiler.compile(#require(versions[old])), to: ModelCompiler.compile(#require(versions[new])))
    }

    @Test func versionsOfARealModelAreTold() throws {
        let difference = try difference("sample-model/SampleModel.xcdatamodeld", "SampleModel2", "SampleModel3")
        #expect(
            difference.lines == [
                "Maker: entity was added",
                "Car: indexes byMakerAndNumberPlate(maker, numberPlate) → none",
                "Car: relationship 'createdBy' was added (to-one Maker, optional)",
                "Car: attribute 'maker' was removed",
                "Car: relationship 'previousOwners' was added (to-many Person, optional)",
                "LuxuryCar: inherits changes",
                "Person: relationship 'previousCars' was added (to-many Car, optional)",
                "SportCar: inherits changes",
            ])
    }

    @Test func hashModifiersOfARealModelAreTold() throws {
        let difference = try difference("bookmarks/BookmarksModel.xcdatamodeld", "BookmarksModel", "BookmarksModel 2")
        #expect(difference.needsMigration)
        #expect(difference.changes.map(\.text).contains("version hash modifier was changed"))
    }
}
