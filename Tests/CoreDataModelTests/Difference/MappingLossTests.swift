import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

private func composite(_ name: String, _ elements: String...) -> PropertyElement {
    var composite = AttributeElement(type: .composite)
    composite.elements = elements.map { attribute($0) }
    return PropertyElement(name: name, kind: .attribute(composite)).with { $0.isOptional = true }
}

/// What a migration drops, by the names of the older model.
@Suite struct MappingLossTests {
    private static let shop = model(
        entity("Item", attribute("name"), attribute("price"), toOne("unit", "Unit", inverse: "items")),
        entity("Unit", attribute("name"), toMany("items", "Item", inverse: "unit", ordered: true)))

    @Test(
        arguments: [
            (shop, shop, []),
            (
                shop, model(entity("Item", attribute("name"), attribute("price"))),
                ["relationship Item.unit", "entity Unit"]
            ),
            (
                shop,
                model(
                    entity("Item", attribute("name"), toOne("unit", "Unit", inverse: "items")),
                    entity("Unit", attribute("name"), toMany("items", "Item", inverse: "unit"))),
                ["attribute Item.price", "order Unit.items"]
            ),
            (shop, model(entity("Author", attribute("name"))), ["entity Item", "entity Unit"]),
            // Renaming identifiers lose nothing.
            (
                model(entity("A", attribute("x"))),
                model(
                    entity("B", attribute("y").with { $0.renamingIdentifier = "x" })
                        .with { $0.renamingIdentifier = "A" }), []
            ),
            (model(entity("A", attribute("x"))), model(entity("B", attribute("x"))), ["entity A"]),
            // What stores do not keep is no loss.
            (
                model(
                    entity(
                        "A", attribute("x").with { $0.isTransient = true }, derived("n", .integer64, "bs.@count"),
                        toMany("bs", "A"))),
                model(entity("A", toMany("bs", "A"))), []
            ),
            (
                model(entity("A", attribute("x"))), model(entity("A", attribute("x").with { $0.isTransient = true })),
                ["attribute A.x"]
            ),
            // Hierarchies: an inherited property is told once, where it is declared; an abstract entity has no objects.
            (
                model(entity("P", attribute("x")), entity("C", parent: "P", attribute("y"))),
                model(entity("P"), entity("C", parent: "P", attribute("y"))), ["attribute P.x"]
            ),
            (
                model(entity("P", attribute("x")), entity("C", parent: "P")),
                model(entity("P"), entity("C", parent: "P", attribute("x"))), ["attribute P.x"]
            ),
            (
                model(entity("P", abstract: true, attribute("x")), entity("C", parent: "P")),
                model(entity("C", attribute("x"))), []
            ),
            (
                model(entity("P", abstract: true, attribute("x")), entity("C", parent: "P")), model(entity("C")),
                ["attribute C.x"]
            ),
            // Composite attributes.
            (
                model(entity("A", composite("place", "city", "street"))), model(entity("A")),
                ["attribute A.place"]
            ),
            (
                model(entity("A", composite("place", "city", "street"))),
                model(entity("A", composite("place", "city"))),
                ["attribute A.place.street"]
            ),
            (
                model(entity("A", composite("place", "city"))),
                model(entity("A", composite("place", "city", "street"))),
                []
            ),
        ] as [(ModelDocument, ModelDocument, [String])])
    func lossesAreNamed(old: ModelDocument, new: ModelDocument, expected: [String]) throws {
        let mapping = ModelMapping(
            ModelPairing(
                old: .init(try ModelCompiler.compile(old), document: old),
                new: .init(try ModelCompiler.compile(new), document: new)))
        let losses = mapping.losses(of: Array(mapping.source.entities.indices))
        #expect(losses.map { "\($0.kind.rawValue) \($0.name)" } == expected)
    }

    @Test func whatTheStoreHasNotIsNotLost() throws {
        let new = model(entity("Item", attribute("name"), attribute("price")))
        let mapping = ModelMapping(
            ModelPairing(
                old: .init(try ModelCompiler.compile(Self.shop), document: Self.shop),
                new: .init(try ModelCompiler.compile(new), document: new)))
        let item = try #require(mapping.source.ordinalByName["Item"])
        #expect(mapping.losses(of: [item]).map(\.name) == ["Item.unit"])
    }
}
