import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

private func inference(_ old: ModelDocument, _ new: ModelDocument) throws -> MappingInference {
    MappingInference(
        ModelPairing(
            old: .init(try ModelCompiler.compile(old), document: old),
            new: .init(try ModelCompiler.compile(new), document: new)))
}

extension PropertyElement {
    fileprivate func renamed(from name: String) -> PropertyElement { with { $0.renamingIdentifier = name } }

    fileprivate var required: PropertyElement { with { $0.isOptional = false } }
}

extension EntityElement {
    fileprivate func renamed(from name: String) -> EntityElement { with { $0.renamingIdentifier = name } }
}

@Suite struct MappingInferenceTests {
    @Test(
        arguments: [
            // Semantics T3: what can be inferred.
            (model(entity("A", attribute("x"))), model(entity("A", attribute("x"), attribute("y")), entity("B")), []),
            (model(entity("A", attribute("x")), entity("B")), model(entity("A")), []),
            (model(entity("A", attribute("x").required)), model(entity("A", attribute("x"))), []),
            (model(entity("A", attribute("x"))), model(entity("A", attribute("x", default: "a").required)), []),
            (model(entity("A", toOne("x", "A"))), model(entity("A", toMany("x", "A"))), []),
            (model(entity("A", toMany("x", "A"))), model(entity("A", toMany("x", "A", ordered: true))), []),
            (
                model(entity("A", attribute("x").required)),
                model(entity("A", attribute("y").required.renamed(from: "x"))), []
            ),
            (model(entity("A"), entity("B")), model(entity("A"), entity("B"), entity("P")), []),
            // A new parent, and a property that moves to it.
            (
                model(entity("A", attribute("x").required)),
                model(entity("P", attribute("x").required), entity("A", parent: "P")), []
            ),
            (
                model(entity("P"), entity("A", parent: "P", attribute("x"))),
                model(entity("P"), entity("A", attribute("x"))), []
            ),
            (model(entity("A", toOne("x", "A"))), model(entity("B", toOne("x", "B")).renamed(from: "A")), []),
            // What cannot.
            (model(entity("A", attribute("x"))), model(entity("A", attribute("x", .date))), ["A.x type-changed"]),
            (
                model(entity("A", attribute("x"))), model(entity("A", attribute("x").required)),
                ["A.x required-without-default"]
            ),
            (model(entity("A")), model(entity("A", attribute("x").required)), ["A.x required-without-default"]),
            (model(entity("A", toMany("x", "A"))), model(entity("A", toOne("x", "A"))), ["A.x to-many-to-one"]),
            (model(entity("A", attribute("x"))), model(entity("A", toOne("x", "A"))), ["A.x kind-changed"]),
            (
                model(entity("A", toOne("x", "A")), entity("B")), model(entity("A", toOne("x", "B")), entity("B")),
                ["A.x destination-changed"]
            ),
            (
                model(entity("A"), entity("B")),
                model(entity("P"), entity("A", parent: "P"), entity("B", parent: "P")), ["P hierarchies-merged"]
            ),
            (
                model(entity("A", attribute("x"), attribute("y"))),
                model(entity("A", attribute("x"), attribute("z").renamed(from: "x"))), ["A.x ambiguous"]
            ),
        ] as [(ModelDocument, ModelDocument, [String])])
    func obstacles(old: ModelDocument, new: ModelDocument, expected: [String]) throws {
        let found = try inference(old, new).obstacles.map { "\($0.subject) \($0.kind.rawValue)" }
        #expect(found == expected)
    }

    @Test func optionalRenamedToRequiredNeedsADefault() throws {
        let old = model(entity("A", attribute("x")))
        let new = model(entity("A", attribute("y").required.renamed(from: "x")))
        #expect(try inference(old, new).obstacles.map(\.message) == ["becomes required and has no default"])
    }

    @Test func whatAnEntityInheritsSinceThenIsNewToIt() throws {
        let old = model(entity("P", attribute("x").required), entity("A", attribute("y")), entity("B", parent: "P"))
        let parent = model(
            entity("Q", attribute("z").required), entity("P", attribute("x").required),
            entity("A", parent: "Q", attribute("y")), entity("B", parent: "P"))
        #expect(try inference(old, parent).obstacles.map(\.subject) == ["A.z"])
        // What the parent itself has news of is told there only.
        let both = model(
            entity("P", attribute("x").required, attribute("z").required), entity("A", attribute("y")),
            entity("B", parent: "P"))
        #expect(try inference(old, both).obstacles.map(\.subject) == ["P.z"])
    }

    @Test func aRenamingIdentifierThatNamesNothingIsACaution() throws {
        let old = model(entity("A", attribute("x")))
        let new = model(entity("A", attribute("x").renamed(from: "w")))
        #expect(
            try inference(old, new).cautions == [
                .init(subject: "A.x", message: "its renaming identifier 'w' names nothing in the older model")
            ])
    }

    @Test func whatOnlyGeneratorsAskIsComparedInSourcesOnly() throws {
        func source(_ text: String) -> ModelDocument {
            let entity = "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Double\" \(text)/></entity>"
            return ContentsReader.document(from: Data("<model>\n\(entity)\n</model>".utf8), file: "contents")
        }
        let (old, new) = (source(""), source("usesScalarValueType=\"YES\""))
        #expect(try ModelDifference(from: old, to: new).lines == ["A.x: object → scalar"])
        #expect(try ModelDifference(from: old.with { $0.sources = [:] }, to: new).isEmpty)
    }

    @Test func whatMayFailOnDataIsACaution() throws {
        let old = model(entity("A", attribute("x"), toOne("r", "A")))
        let new = model(
            entity("A", attribute("x"), toOne("r", "A").required, toOne("s", "A").required).with {
                $0.uniquenessConstraints = [["x"]]
                $0.isAbstract = true
            })
        let found = try inference(old, new)
        #expect(found.isPossible)
        #expect(found.cautions.map(\.subject) == ["A", "A", "A.r", "A.s"])
    }

    // MARK: Differences with documents

    @Test func renamedThingsAreToldAsSuch() throws {
        let old = model(entity("Book", attribute("title"), attribute("pages", .integer16)), entity("Loan"))
        let new = model(
            entity("Volume", attribute("name").renamed(from: "title"), attribute("pages", .integer32)).renamed(
                from: "Book"),
            entity("Loan"))
        let difference = try ModelDifference(from: old, to: new)
        #expect(difference.added.isEmpty && difference.removed.isEmpty && difference.needsMigration)
        #expect(
            difference.lines == [
                "Volume: was named 'Book'", "Volume.name: was named 'title'",
                "Volume: renaming identifier none → Book", "Volume.name: renaming identifier none → title",
                "Volume.pages: type Integer 16 → Integer 32",
            ])
    }

    @Test func whatOnlyDocumentsSayIsCompared() throws {
        let old = model(entity("A", attribute("x")))
        var new = old
        new.entities[0].userInfo = ["a": "b"]
        new.entities[0].properties[0] = attribute("x").with {
            $0.userInfo = ["k": "v"]
            guard case .attribute(var element) = $0.kind else { return }
            element.validations = [.init(predicate: "length >= 1", warning: "1670")]
            $0.kind = .attribute(element)
        }
        new.configurations = [ConfigurationElement(name: "C")]
        var request = FetchRequestElement(name: "all")
        request.entityName = "A"
        new.fetchRequests = [request]
        let difference = try ModelDifference(from: old, to: new)
        #expect(!difference.needsMigration)
        #expect(
            difference.lines == [
                "A: user info none → a=b", "A.x: user info none → k=v", "A.x: validation none → length >= 1",
                "configuration C: was added", "fetch request all: was added",
            ])
    }

    /// Hashes are equal exactly where nothing that needs a migration is told.
    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func consecutiveVersionsOfFixtures() throws {
        var count = 0
        for url in Fixtures.models.map(Fixtures.url) {
            let versions = try ModelReader.read(contentsOf: url).versions
            for (a, b) in zip(versions, versions.dropFirst()) {
                let difference = try ModelDifference(from: a.document, to: b.document)
                let sides = (try ModelCompiler.compile(a.document), try ModelCompiler.compile(b.document))
                let sameHashes =
                    zip(sides.0.entities, sides.1.entities).allSatisfy {
                        $0.name == $1.name && $0.versionHash == $1.versionHash
                    } && sides.0.entities.count == sides.1.entities.count
                #expect(difference.needsMigration == !sameHashes, "\(a.name) → \(b.name): \(difference.lines)")
                let inference = try inference(a.document, b.document)
                #expect(inference.isPossible, "\(a.name) → \(b.name): \(inference.obstacles)")
                count += 1
            }
        }
        #expect(count == 20)
    }
}
