import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// What Apple's tools have accepted is not refused: it stays in the document, and is left out of the compiled model as far
/// as need be.
@Suite struct AcceptedModelTests {
    /// A model with everything that a compiled form may have and our compiler would not let pass.
    private var strange: ModelDocument {
        var index = FetchIndexElement(name: "byBooks")
        index.elements = [.init(propertyName: "books")]
        var missing = FetchIndexElement(name: "byNothing")
        missing.elements = [.init(propertyName: "nothing")]
        var mixed = FetchIndexElement(name: "mixed")
        mixed.elements = [.init(propertyName: "title"), .init(propertyName: "pages")]
        mixed.elements[1].isRTree = true
        var twice = FetchIndexElement(name: "byTitle")
        twice.elements = [.init(propertyName: "title")]
        var document = model(
            entity(
                "Shelf", attribute("title"), attribute("pages", .integer16, default: "70000"),
                attribute("isDeleted", .boolean), attribute("two words"), attribute("id", .objectID),
                attribute("place", .composite), derived("total", .integer64, " "), toMany("books", "Shelf"),
                toOne("lost", nil), toOne("gone", "Nowhere"), toOne("half", "Shelf", inverse: "books"),
                toOne("many", "Shelf").with {
                    guard case .relationship(var relationship) = $0.kind else { return }
                    relationship.minCount = 7
                    relationship.maxCount = 3
                    $0.kind = .relationship(relationship)
                }
            ).with {
                $0.fetchIndexes = [index, missing, mixed, twice, twice]
                $0.compoundIndexes = [["title", "books"]]
                $0.uniquenessConstraints = [["title"], ["books"], ["title", "nothing"], []]
            })
        var configuration = ConfigurationElement(name: "Main")
        configuration.entityNames = ["Shelf", "Nowhere"]
        document.configurations = [configuration]
        var request = FetchRequestElement(name: "all")
        request.entityName = "Nowhere"
        document.fetchRequests = [request]
        return document
    }

    @Test(arguments: [ModelDocument.Origin.compiled, .cached])
    func nothingOfItIsRefused(origin: ModelDocument.Origin) throws {
        let document = strange.with { $0.origin = origin }
        let compiled = try ModelCompiler.compile(document)
        let shelf = try #require(compiled.entity(named: "Shelf"))
        #expect(shelf.properties.count == document.entities[0].properties.count)
        // Without what no store can have, and what is in no column: a composite, which has no elements here.
        #expect(Set(shelf.properties.filter(\.isTransient).map(\.name)) == ["gone", "id", "lost", "place"])
        #expect(shelf.property(named: "half")?.relationship?.inverseSlot == nil)
        #expect(shelf.property(named: "pages")?.attribute?.defaultValue == .null)
        #expect(shelf.uniquenessConstraints == [[try #require(shelf.slotByName["title"])]])
        #expect(compiled.configurations == ["Main": [0]])
    }

    @Test func aSourceWithItIsRefused() {
        #expect(throws: ModelFailure.self) { try ModelCompiler.compile(strange) }
    }

    @Test func eachPartIsWarnedOf() {
        let findings = ModelCompiler.diagnose(strange.with { $0.origin = .compiled }).filter { $0.severity != .note }
        #expect(findings.allSatisfy { $0.severity == .warning })
        for part in [
            "'byBooks'", "'nothing'", "mixes", "two indexes named 'byTitle'", "compound index", "Shelf.isDeleted",
            "'two words'", "Shelf.id", "Shelf.place", "Shelf.total", "Shelf.lost", "'Nowhere'", "Shelf.half",
            "70000", "unique by (books)", "uniqueness constraint on nothing", "minimum count of 7",
            "fetch request 'all'", "configuration 'Main'",
        ] {
            #expect(findings.contains { $0.message.contains(part) }, "\(part)")
        }
    }

    @Test func itStaysInTheDocument() throws {
        let document = strange.with { $0.origin = .compiled }
        let first = try ModelArchive.document(fromArchive: ModelArchive.archive(document))
        let second = try ModelArchive.document(fromArchive: ModelArchive.archive(first))
        #expect(first == second)
        #expect(first.entities[0].fetchIndexes == document.entities[0].fetchIndexes)
        #expect(first.entities[0].uniquenessConstraints == document.entities[0].uniquenessConstraints)
        #expect(first.entities[0].properties.count == document.entities[0].properties.count)
        let cached = try ModelArchive.document(fromModelCache: ModelArchive.modelCache(for: first))
        #expect(cached.origin == .cached)
        #expect(
            cached.entities[0].fetchIndexes.map(\.name).suffix(6) == [
                "byBooks", "byNothing", "mixed", "byTitle", "byTitle", "title_books",
            ])
        _ = try ModelCompiler.compile(cached)
    }

    /// Without these there is no model.
    @Test(arguments: [
        model(entity("Book"), entity("Book")), model(entity("Book", parent: "Item")),
        model(entity("Book", parent: "Novel"), entity("Novel", parent: "Book")), model(entity("")),
    ])
    func whatIsNoModelIsRefusedFromEverywhere(document: ModelDocument) {
        #expect(throws: ModelFailure.self) { try ModelCompiler.compile(document.with { $0.origin = .compiled }) }
    }
}
