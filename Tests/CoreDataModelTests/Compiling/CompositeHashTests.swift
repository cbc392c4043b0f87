import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// The version hashes of entities with composite attributes (store-format §10).
@Suite struct CompositeHashTests {
    private static let people = model(
        entity(
            "Person", attribute("name"), composite("address", attribute("number", .integer16), attribute("city"))),
        entity("Child", parent: "Person", attribute("toy")), entity("Tag", attribute("name")))

    private func person(_ document: ModelDocument) throws -> CompiledEntity {
        try #require(try ModelCompiler.compile(document).entity(named: "Person"))
    }

    private func person(_ properties: PropertyElement...) throws -> String {
        var entity = EntityElement(name: "Person")
        entity.properties = properties
        return try person(model(entity)).versionHash.hex
    }

    @Test(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func everyEntityOfAStoreOfSwiftDataHasItsHash() throws {
        let model = try ModelCompiler.compile(CompositeVector.document())
        let vectors = try CompositeVector.all()
        #expect(vectors.count == 5)
        for vector in vectors { #expect(model.entity(named: vector.entity)?.versionHash.hex == vector.hash) }
    }

    @Test(arguments: [
        ("Person", "6d5be7fb73d90f74b06bb1250ae838b6563b6c302a85f09229fa63a11490a756"),
        ("Child", "e5955466852ea467653515ed103ddbcbaf5d3a227746a8f1afb4526cd847855d"),
        ("Tag", "8af6526e36708c0cbd976226fe73b4a713dcddba89563b86a6dd009e4ddd34b0"),
    ])
    func subentitiesHaveWhatTheyInherit(name: String, hash: String) throws {
        #expect(try ModelCompiler.compile(Self.people).entity(named: name)?.versionHash.hex == hash)
    }

    /// What earlier versions of this framework wrote; stores have it.
    @Test(
        arguments: [
            ("Person", "86314d7cba68ada1142ead4185b95f27413e79753fe55c112456e6364da36ab7"),
            ("Child", "e94ae68eb619df11b0a944d3636586cb52e778bce233017f39115eefd3a151fc"), ("Tag", nil),
        ] as [(String, String?)])
    func theFormerHashIsKnown(name: String, hash: String?) throws {
        let entity = try #require(try ModelCompiler.compile(Self.people).entity(named: name))
        #expect(entity.formerVersionHash?.hex == hash)
        #expect(entity.hasVersionHash(entity.versionHash) && !entity.hasVersionHash(Data()))
        if let former = entity.formerVersionHash { #expect(entity.hasVersionHash(former)) }
    }

    @Test func compositesInCompositesAreHashedAlike() throws {
        let shop = entity(
            "Shop",
            composite("place", composite("geo", attribute("y", .double), attribute("x", .double)), attribute("city")))
        #expect(
            try ModelCompiler.compile(model(shop)).entity(named: "Shop")?.versionHash.hex
                == Self.nestedHash)
    }

    private static let nestedHash = "c50352fc618cf1cfcacf40a5cb9041981b0972ecf7cc830df8fd0bc9667f4d1c"

    @Test func onlyTheElementsCount() throws {
        let (number, city) = (attribute("number", .integer16), attribute("city"))
        let hash = try person(composite("address", number, city))
        #expect(try person(composite("address", city, number)) == hash)
        #expect(try person(composite("home", number, city)) == hash)
        #expect(try person(composite("address", number, city).with { $0.isOptional = false }) == hash)
        #expect(try person(composite("address", number, city).with { $0.versionHashModifier = "2" }) == hash)
        #expect(
            try person(composite("address", number, city, attribute("note").with { $0.isTransient = true })) == hash)
        #expect(try person(composite("address", number, attribute("city", .uri))) != hash)
        #expect(try person(composite("address", number, city.with { $0.isOptional = false })) != hash)
        #expect(try person(composite("address", number, city, attribute("zip"))) != hash)
        #expect(try person(composite("address", number, city).with { $0.isTransient = true }) != hash)
    }

    /// The hash in a compiled model's folder counts, unless an earlier version of this framework wrote it.
    @Test func aFormerHashInAFileIsNotTakenForApples() throws {
        func known(_ hash: Data?) throws -> CompiledEntity {
            try person(Self.people.with { $0.entities[0].knownVersionHash = hash })
        }
        let plain = try known(nil)
        let former = try #require(plain.formerVersionHash)
        #expect(try known(former).versionHash == plain.versionHash)
        #expect(try known(former).formerVersionHash == former)
        let other = Data(repeating: 7, count: 32)
        #expect(try known(other).versionHash == other)
        #expect(try known(other).formerVersionHash == nil)
    }
}
