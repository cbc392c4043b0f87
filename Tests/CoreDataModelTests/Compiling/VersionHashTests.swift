import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

private func hash(_ name: String, _ document: ModelDocument) throws -> String {
    try #require(try ModelCompiler.compile(document).entity(named: name)).versionHash.hex
}

// store-format §10
@Suite struct VersionHashTests {
    @Test(arguments: [
        (entity("D"), "8cd4ae7da223953050b55b0ee9e4d3830f3b35138a0e1b6cc5f6e6b1e52d1314"),
        (
            entity("Location", abstract: true, attribute("summary")),
            "461bb6b66b8c4611746a9e3c8070c28dc4e8f162e29340574a5cf81c36fce0f5"
        ),
        (
            entity("Writer", abstract: true, attribute("age", .integer16, optional: false)),
            "d54efab5d39cb3f59df8018db5e4cb2912ced49ca0fdebb029a326cd70847b25"
        ),
        (
            entity("WABlackListItem", attribute("jid", optional: false)),
            "b54037a7ef644ae5878923e769ac33f762451b565b5f5958a974392d928a26b2"
        ),
    ])
    func hashesOfSingleEntitiesEqualApples(_ element: EntityElement, _ expected: String) throws {
        #expect(try hash(element.name, model(element)) == expected)
    }

    @Test func hashesOfRelatedEntitiesEqualApples() throws {
        let document = model(
            entity(
                "A", toOne("inverseObject", "A", inverse: "relatedObjects"),
                toMany("relatedObjects", "A", inverse: "inverseObject")),
            entity("B", parent: "A"))
        #expect(try hash("A", document) == "2d40dcf39f5b79918c6754bd3746ff77a3751950348f9e139dc180e4af2bbbac")
        #expect(try hash("B", document) == "374caa4dc5c244213e6eff18cec3392ae5dd5493fc4cac79627c4efcd66244ef")
    }

    @Test func whatRunsWithoutMigrationDoesNotCount() throws {
        let plain = model(entity("Book", attribute("title")))
        let dressed = model(
            entity("Book", attribute("title", default: "Untitled").with { $0.renamingIdentifier = "name" }).with {
                $0.className = "CDBook"
                $0.userInfo = ["key": "value"]
                var index = FetchIndexElement(name: "byTitle")
                index.elements = [.init(propertyName: "title")]
                $0.fetchIndexes = [index]
            })
        #expect(try hash("Book", plain) == hash("Book", dressed))
    }

    @Test(arguments: [
        entity("Book", attribute("title", optional: false)),
        entity("Book", attribute("title", .uri)),
        entity("Book", attribute("titles")),
        entity("Book", abstract: true, attribute("title")),
        entity("Book", attribute("title").with { $0.versionHashModifier = "2" }),
        entity("Book", attribute("title")).with { $0.versionHashModifier = "2" },
        entity("Book", attribute("title")).with { $0.uniquenessConstraints = [["title"]] },
    ])
    func whatTheStoreDependsOnCounts(_ changed: EntityElement) throws {
        #expect(try hash("Book", model(entity("Book", attribute("title")))) != hash("Book", model(changed)))
    }

    @Test(arguments: [
        ("pages.@count", "count:(pages)"), ("count:(pages)", "count:(pages)"), ("chat.serverId", "chat.serverId"),
        ("pages.@sum.words", "sum:(pages.words)"), ("canonical:(name)", "canonical:(name)"), ("now()", "now()"),
    ])
    func derivationsAreHashedAsFunctions(_ written: String, _ hashed: String) {
        #expect(DerivationText.hashed(written) == hashed)
    }

    @Test(arguments: [
        ("count:(pages)", "pages.@count"), ("@sum:(pages.words)", "pages.@sum.words"),
        ("canonical:(name)", "canonical:(name)"), ("author.name", "author.name"), ("now()", "now()"),
    ])
    func derivationsAreWrittenAsKeyPaths(_ archived: String, _ written: String) {
        #expect(DerivationText.written(archived) == written)
    }

    @Test func aKnownHashWinsOnlyWithComposites() throws {
        let known = Data(repeating: 7, count: 32)
        var place = attribute("place", .composite)
        if case .attribute(var attribute) = place.kind {
            attribute.elements = [TestSupport.attribute("x", .double)]
            place.kind = .attribute(attribute)
        }
        let composite = entity("Library", place).with { $0.knownVersionHash = known }
        #expect(try hash("Library", model(composite)) == known.hex)
        #expect(try hash("Library", model(entity("Library", place))) != known.hex)
        let plain = entity("Library", attribute("name"))
        #expect(try hash("Library", model(plain.with { $0.knownVersionHash = known })) == hash("Library", model(plain)))
    }

    @Test func checksumAndDigestDependOnTheEntitiesAndNotOnTheirOrder() throws {
        let entities = try ModelCompiler.compile(model(entity("Book"), entity("Author"))).entities
        let checksum = CompiledModel.versionChecksum(entities: entities)
        #expect(checksum == CompiledModel.versionChecksum(entities: entities.reversed()))
        #expect(checksum != CompiledModel.versionChecksum(entities: [entities[0]]))
        #expect(Data(base64Encoded: checksum)?.count == 32)
        #expect(Data(base64Encoded: CompiledModel.versionHashesDigest(entities: entities))?.count == 64)
    }
}

/// Entities and the hashes that Apple computed for them, one pair a line.
@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct AppleVersionHashTests {
    struct Line: Decodable {
        var entity: String
        var hash: String
        var xml: String
        /// The ancestors, nearest first.
        var super_xml: [String]
    }

    static let lines: [Line] = {
        guard Fixtures.isAvailable,
            let text = try? String(contentsOf: Fixtures.url("version-hashes.jsonl"), encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").compactMap { try? JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }()

    @Test func everyLineIsReproduced() throws {
        #expect(Self.lines.count == 72)
        for line in Self.lines {
            let xml = "<model>" + line.xml + line.super_xml.joined() + "</model>"
            let document = ContentsReader.document(from: Data(xml.utf8), file: nil)
            #expect(document.diagnostics.isEmpty)
            #expect(try Self.hash(document.entities[...]).hex == line.hash, "\(line.entity)")
        }
    }

    /// The hash of the first of a chain of entities. Code may declare in an entity what its parent has too, which
    /// ``ModelCompiler`` refuses; so the chain is put together here.
    private static func hash(_ chain: ArraySlice<EntityElement>) throws -> Data {
        let entity = try #require(chain.first)
        var properties: [String: (property: PropertyElement, declaredIn: String)] = [:]
        for entity in chain.reversed() {
            for property in entity.properties { properties[property.name] = (property, entity.name) }
        }
        return VersionHash.entity(
            entity, properties: Array(properties.values),
            superentityHash: chain.count > 1 ? try hash(chain.dropFirst()) : nil)
    }
}
