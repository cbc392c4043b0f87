import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

@Suite struct ModelCompilerTests {
    // store-format §2: roots without regard to case, each followed by its subentities
    @Test func entitiesAreNumberedAsAppleNumbersThem() throws {
        let compiled = try ModelCompiler.compile(
            model(
                entity("zebra", parent: "Mammal"), entity("Mammal", parent: "animal", abstract: true),
                entity("animal", abstract: true), entity("Ape", parent: "Mammal"), entity("Zoo"),
                entity("bird", parent: "animal"), entity("Aviary"), entity("animal_Diet")))
        #expect(
            compiled.entities.map(\.name) == [
                "animal", "bird", "Mammal", "Ape", "zebra", "animal_Diet", "Aviary", "Zoo",
            ])
        #expect(compiled.entities.map(\.root) == [0, 0, 0, 0, 0, 5, 6, 7])
        #expect(compiled.entities[0].subtree == [0, 1, 2, 3, 4])
        #expect(compiled.entities[2].subtree == [2, 3, 4])
        #expect(compiled.entities.map(\.parent) == [nil, 0, 0, 2, 2, nil, nil, nil])
        #expect(compiled.ordinalByName["Ape"] == 3)
    }

    @Test func slotsAreTheParentsFirstThenOwnByName() throws {
        let compiled = try ModelCompiler.compile(
            model(
                entity("Writer", attribute("name"), attribute("Zip"), attribute("age", .integer16)),
                entity("Author", parent: "Writer", attribute("alias"), attribute("Award")),
                entity("Poet", parent: "Author", attribute("metre"))))
        let poet = try #require(compiled.entity(named: "Poet"))
        #expect(poet.properties.map(\.name) == ["Zip", "age", "name", "Award", "alias", "metre"])
        #expect(poet.properties.map(\.slot) == [0, 1, 2, 3, 4, 5])
        #expect(poet.properties.map(\.declaringEntity) == [0, 0, 0, 1, 1, 2])
        #expect(poet.slotByName["alias"] == 4)
    }

    @Test func relationshipsKnowDestinationAndInverse() throws {
        let compiled = try ModelCompiler.compile(
            model(
                entity("Book", toOne("author", "Author", inverse: "books"), attribute("title")),
                entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
                entity("Novel", parent: "Book")))
        let author = try #require(compiled.entity(named: "Novel")?.property(named: "author")?.relationship)
        #expect(author.destination == 0)
        #expect(author.inverseSlot == 0)
        #expect(!author.isToMany)
        let books = try #require(compiled.entity(named: "Author")?.property(named: "books")?.relationship)
        #expect(books.destination == 1)
        #expect(books.inverseSlot == 0)
        #expect(books.isToMany)
    }

    @Test func unboundedCountsOfOldModelsBecomeZero() throws {
        var many = toMany("books", "Book", inverse: "author")
        if case .relationship(var relationship) = many.kind {
            relationship.maxCount = -1
            many.kind = .relationship(relationship)
        }
        let compiled = try ModelCompiler.compile(
            model(entity("Author", many), entity("Book", toOne("author", "Author", inverse: "books"))))
        #expect(compiled.entities[0].properties[0].relationship?.maxCount == 0)
    }

    @Test func configurationsAreOrdinals() throws {
        let document = model(entity("Loan"), entity("Book"), entity("Author")).with {
            var catalogue = ConfigurationElement(name: "Catalogue")
            catalogue.entityNames = ["Book", "Author", "Book"]
            $0.configurations = [catalogue]
        }
        let compiled = try ModelCompiler.compile(document)
        #expect(compiled.configurations == ["Catalogue": [0, 1]])
        #expect(compiled.entities(inConfiguration: "Catalogue")?.map(\.name) == ["Author", "Book"])
        #expect(compiled.entities(inConfiguration: "None") == nil)
    }

    @Test func constraintsAndIndexesAreSlots() throws {
        let book = entity("Book", attribute("title"), attribute("isbn"), toOne("author", "Author")).with {
            $0.uniquenessConstraints = [["title", "author"], ["isbn"]]
            var index = FetchIndexElement(name: "byTitle")
            index.elements = [.init(propertyName: "title"), .init(expression: "length(title)")]
            index.elements[0].isAscending = false
            index.predicate = "title != nil"
            $0.fetchIndexes = [index]
        }
        let compiled = try ModelCompiler.compile(model(book, entity("Author")))
        let entity = try #require(compiled.entity(named: "Book"))
        #expect(entity.uniquenessConstraints == [[2, 0], [1]])
        let index = try #require(entity.fetchIndexes.first)
        #expect(index.elements.map(\.slot) == [2, nil])
        #expect(index.elements.map(\.expression) == [nil, "length(title)"])
        #expect(index.elements.map(\.isAscending) == [false, true])
        #expect(index.predicate == "title != nil")
    }

    @Test func compositeAttributesKeepTheirElements() throws {
        var point = CompositeElement(name: "Point")
        point.properties = [attribute("x", .double, default: "0.5"), attribute("label")]
        var place = attribute("place", .composite)
        if case .attribute(var attribute) = place.kind {
            attribute.compositeName = "Point"
            place.kind = .attribute(attribute)
        }
        let compiled = try ModelCompiler.compile(
            model(entity("Library", place, attribute("name"))).with { $0.composites = [point] })
        let library = compiled.entities[0]
        #expect(library.properties.map(\.name) == ["name", "place", "place.label", "place.x"])
        #expect(library.properties.map(\.composite) == [nil, nil, 1, 1])
        #expect(library.namesInModel == ["name", "place"])
        #expect(library.property(named: "place")?.attribute?.elements == [2, 3])
        #expect(library.property(named: "place")?.isTransient == true && library.properties[1].isStored)
        #expect(library.property(named: "place.x")?.attribute?.defaultValue == .double(0.5))
        #expect(library.property(named: "place.x")?.elementName == "x")
        #expect(library.rowLayout.columnOfSlot == [0, -1, 1, 2])
        let found = try #require(library.property(at: ["place", "label", "length"]))
        #expect(found.property.name == "place.label" && Array(found.rest) == ["length"])
    }

    @Test func warningsDoNotStopCompiling() throws {
        let document = model(entity("Book", toOne("author", "Author")), entity("Author"))
        #expect(ModelCompiler.diagnose(document).map(\.severity) == [.warning])
        #expect(try ModelCompiler.compile(document).entities.count == 2)
    }

    /// As models made in code have it; the copy is the same slot, and the hash is that without the copy.
    @Test func aCopyOfAnInheritedPropertyAddsNothing() throws {
        let book = entity("Book", attribute("title"), toOne("author", "Author", inverse: "books"))
        let author = entity("Author", toMany("books", "Book", inverse: "author"))
        let copying = entity(
            "Novel", parent: "Book", attribute("genre"), attribute("title"), toOne("author", "Author", inverse: "books")
        )
        let plain = entity("Novel", parent: "Book", attribute("genre"))
        let a = try ModelCompiler.compile(model(author, book, copying))
        let b = try ModelCompiler.compile(model(author, book, plain))
        #expect(describe(a) == describe(b))
    }

    @Test func anEmptyModelCompiles() throws {
        #expect(try ModelCompiler.compile(ModelDocument()).entities.isEmpty)
    }
}
