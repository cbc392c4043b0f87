import CoreDataModel
import TestSupport
import Testing

@testable import CoreDataStore

/// Which attributes tombstones keep, in the order of their columns.
@Suite struct HistoryLayoutTests {
    private static func kept(_ property: PropertyElement) -> PropertyElement {
        property.with {
            guard case .attribute(var attribute) = $0.kind else { return }
            attribute.preservesValueInHistoryOnDeletion = true
            $0.kind = .attribute(attribute)
        }
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let properties: [PropertyElement]
        let names: [String]
    }

    static let cases = [
        Case(
            testDescription: "attributes by name",
            properties: [kept(attribute("title")), attribute("pages"), kept(attribute("code"))],
            names: ["code", "title"]),
        Case(
            testDescription: "an element alone",
            properties: [kept(attribute("title")), composite("address", attribute("city"), kept(attribute("zip")))],
            names: ["address.zip", "title"]),
        Case(
            testDescription: "a composite, whose elements follow what is kept by itself",
            properties: [
                kept(attribute("title")),
                kept(
                    composite(
                        "address", attribute("city"), kept(attribute("zip")), composite("geo", attribute("x"))
                    )),
            ],
            names: ["address.zip", "title", "address.city", "address.geo.x"]),
        Case(
            testDescription: "a composite in another",
            properties: [composite("address", attribute("city"), kept(composite("geo", attribute("x"))))],
            names: ["address.geo.x"]),
        Case(
            testDescription: "what is transient is not kept",
            properties: [kept(composite("address", attribute("city"))).with { $0.isTransient = true }], names: []),
    ]

    @Test(arguments: cases) func tombstonesKeep(_ example: Case) throws {
        var shop = EntityElement(name: "Shop")
        shop.properties = example.properties
        let model = try ModelCompiler.compile(model(shop))
        let entity = try #require(model.entity(named: "Shop"))
        let names = HistoryLayout.tombstones(of: entity).map { entity.properties[$0].name }
        #expect(names == example.names)
        #expect(StoreCreation.tombstoneCount(model: model, entities: [entity.ordinal]) == example.names.count)
    }
}
