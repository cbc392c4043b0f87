import Foundation
import TestSupport
import Testing

@testable import CoreDataSyncEngine

@Suite struct ModelOutlineTests {
    static let item = ModelOutline.Entity(
        "Item", parent: "Thing",
        properties: [
            .init("name", .attribute(type: "string", merge: "last")),
            .init("count", .attribute(type: "integer64", merge: "sum")), .init("unit", .toOne(destination: "Unit")),
            .init("tags", .pairs(destination: "Tag", isOrdered: false)),
            .init("friends", .pairs(destination: "Item", isOrdered: true)), .init("items#", .position),
        ])
    static let unit = ModelOutline.Entity(
        "Unit", properties: [.init("name", .attribute(type: "string", merge: "last"))])
    static let outline = ModelOutline([item, unit])

    @Test func readsWhatItWrote() throws {
        #expect(try ModelOutline(bytes: Self.outline.bytes) == Self.outline)
        #expect(try ModelOutline(bytes: ModelOutline([]).bytes) == ModelOutline([]))
        #expect(FileName(Self.outline.name.description) == .model(Self.outline.hash))
    }

    @Test func hashDependsOnWhatIsExchangedAndNotOnItsOrder() {
        let reversed = ModelOutline.Entity("Item", parent: "Thing", properties: Self.item.properties.reversed())
        #expect(ModelOutline([Self.unit, reversed]).hash == Self.outline.hash)
        let others: [ModelOutline.Entity] = [
            .init("Item", properties: Self.item.properties),
            .init("Item2", parent: "Thing", properties: Self.item.properties),
            .init("Item", parent: "Thing", properties: Array(Self.item.properties.dropLast())),
            .init("Item", parent: "Thing", properties: Self.item.properties.dropLast() + [.init("unit", .position)]),
        ]
        let hashes = others.map { ModelOutline([$0, Self.unit]).hash } + [Self.outline.hash]
        #expect(Set(hashes).count == hashes.count)
    }

    @Test func saysWhatAnotherModelDoesNotKnow() {
        let newer = ModelOutline([
            .init(
                "Item", parent: "Thing",
                properties: Self.item.properties.filter { $0.name != "name" } + [
                    .init("name", .attribute(type: "string", merge: "max")),
                    .init("price", .attribute(type: "decimal", merge: "last")),
                ]), Self.unit, .init("Shop", properties: []),
        ])
        #expect(
            newer.unknown(to: Self.outline) == [
                .kind(property: "name", of: "Item"), .property("price", of: "Item"), .entity("Shop"),
            ])
        #expect(Self.outline.unknown(to: newer) == [.kind(property: "name", of: "Item")])
        #expect(Self.outline.unknown(to: Self.outline).isEmpty)
        #expect(ModelOutline.Difference.property("price", of: "Item").description == "property “Item.price”")
    }
}
