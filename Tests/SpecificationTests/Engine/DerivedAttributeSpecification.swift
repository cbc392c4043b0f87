import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation
import StoreTestSupport
import Testing

/// The store sets derived attributes itself, whatever changes first, and says of which rows (store-format §6, U1, U2).
@Suite struct DerivedAttributeSpecification {
    /// What one save does; `parts` are written as `key: item price`.
    enum Step: Sendable {
        case insertItem(Int64, name: String? = nil, unit: Int64? = nil)
        case changeItem(Int64, name: String? = nil, unit: Int64? = nil)
        case insertPart(Int64, item: Int64?, price: Double? = nil)
        case changePart(Int64, item: Int64?, price: Double? = nil)
        case deletePart(Int64)
        case insertUnit(Int64, name: String?)
        case changeUnit(Int64, name: String?)
        case tag(Int64, Int64)
        case untag(Int64, Int64)
    }

    struct Story: Sendable, CustomTestStringConvertible {
        var expression: String
        var type: AttributeType
        var saves: [([Step], [Value?])]
        var testDescription: String { expression }
    }

    /// Items 1 and 2 after each save; Item, Part, Tag and Unit have the numbers of their rows.
    @Test(
        arguments: SpecifiedStore.having(.rows),
        [
            (
                "parts.@count", .integer64,
                [
                    ([.insertPart(1, item: 1)], [nil, nil]),
                    ([.insertItem(1), .insertItem(2)], [.integer(1), .integer(0)]),
                    ([.insertPart(2, item: 1)], [.integer(2), .integer(0)]),
                    ([.changePart(1, item: 2)], [.integer(1), .integer(1)]),
                    ([.changePart(1, item: nil)], [.integer(1), .integer(0)]),
                    ([.deletePart(2), .insertPart(3, item: 2)], [.integer(0), .integer(1)]),
                ]
            ),
            (
                "count:(parts)", .integer32,
                [
                    ([.insertItem(1), .insertItem(2), .insertPart(1, item: 2)], [.integer(0), .integer(1)]),
                    ([.deletePart(1)], [.integer(0), .integer(0)]),
                ]
            ),
            (
                "parts.@sum.price", .double,
                [
                    ([.insertItem(1), .insertItem(2)], [.double(0), .double(0)]),
                    (
                        [.insertPart(1, item: 1, price: 10), .insertPart(2, item: 1, price: 5)],
                        [.double(15), .double(0)]
                    ),
                    ([.changePart(2, item: 1, price: 7)], [.double(17), .double(0)]),
                    ([.changePart(1, item: 2, price: 10)], [.double(7), .double(10)]),
                    ([.deletePart(1)], [.double(7), .double(0)]),
                ]
            ),
            (
                "sum:(parts.price)", .double,
                [
                    (
                        [.insertItem(1), .insertPart(1, item: 1, price: 2.5), .insertPart(2, item: 1)],
                        [.double(2.5), nil]
                    )
                ]
            ),
            (
                "max:(parts.price)", .double,
                [
                    ([.insertItem(1), .insertItem(2)], [.null, .null]),
                    ([.insertPart(1, item: 1, price: 10), .insertPart(2, item: 1, price: 5)], [.double(10), .null]),
                    ([.changePart(1, item: nil, price: 10)], [.double(5), .null]),
                ]
            ),
            (
                "parts.price.@min", .double,
                [
                    ([.insertItem(1), .insertItem(2)], [.null, .null]),
                    ([.insertPart(1, item: 2, price: 10), .insertPart(2, item: 2, price: 5)], [.null, .double(5)]),
                ]
            ),
            (
                "average:(parts.price)", .double,
                [
                    ([.insertItem(1), .insertItem(2)], [.null, .null]),
                    ([.insertPart(1, item: 1, price: 10), .insertPart(2, item: 1, price: 5)], [.double(7.5), .null]),
                ]
            ),
            (
                "tags.@count", .integer16,
                [
                    ([.insertItem(1), .insertItem(2)], [.integer(0), .integer(0)]),
                    ([.tag(1, 5), .tag(1, 6), .tag(2, 5)], [.integer(2), .integer(1)]),
                    ([.tag(1, 5), .untag(2, 5)], [.integer(2), .integer(0)]),
                ]
            ),
            (
                "unit.name", .string,
                [
                    ([.insertItem(1, unit: 1), .insertItem(2)], [.null, .null]),
                    ([.insertUnit(1, name: "kg")], [.string("kg"), .null]),
                    ([.changeUnit(1, name: "g")], [.string("g"), .null]),
                    ([.changeItem(2, unit: 1)], [.string("g"), .string("g")]),
                    ([.changeItem(2), .changeUnit(1, name: nil)], [.null, .null]),
                ]
            ),
            (
                "canonical:(name)", .string,
                [
                    ([.insertItem(1, name: "Crème"), .insertItem(2)], [.string("creme"), .null]),
                    ([.changeItem(2, name: "ÉCLAIR")], [.string("creme"), .string("eclair")]),
                    ([.changeItem(1)], [.null, .string("eclair")]),
                ]
            ),
            (
                "uppercase:(unit.name)", .string,
                [
                    ([.insertUnit(1, name: "kg"), .insertItem(1, unit: 1), .insertItem(2)], [.string("KG"), .null]),
                    ([.changeUnit(1, name: "oz")], [.string("OZ"), .null]),
                ]
            ),
            ("lowercase:(name)", .string, [([.insertItem(1, name: "Tea")], [.string("tea"), nil])]),
            (
                "name", .string,
                [([.insertItem(1, name: "Tea")], [.string("Tea"), nil]), ([.changeItem(1)], [.null, nil])]
            ),
        ].map(Story.init))
    func theValueFollowsEveryChange(_ store: SpecifiedStore, _ story: Story) throws {
        try store.check(Self.model(story.expression, story.type)) { shop in
            let writer = Writer(shop)
            for (index, (steps, expected)) in story.saves.enumerated() {
                try writer.save(steps)
                for (item, value) in zip([1, 2] as [Int64], expected) {
                    guard let value else {
                        #expect(try shop.row("Item", item) == nil)
                        continue
                    }
                    #expect(try shop.value("derived", of: "Item", item) == value, "item \(item) after save \(index)")
                    let row = try #require(try shop.row("Item", item))
                    #expect(shop.value("derived", of: row) == value, "item \(item) by key after save \(index)")
                }
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func nowIsTheMomentOfTheLastSaveOfTheRow(_ store: SpecifiedStore) throws {  // U2
        try store.check(Self.model("now()", .date)) { shop in
            let begin = Date().timeIntervalSinceReferenceDate
            let writer = Writer(shop)
            try writer.save([.insertItem(1), .insertItem(2)])
            guard case .date(let first) = try shop.value("derived", of: "Item", 1) else {
                Issue.record("no date")
                return
            }
            let other = try shop.value("derived", of: "Item", 2)
            #expect(first >= begin.rounded(.down) && first <= Date().timeIntervalSinceReferenceDate + 1)
            try writer.save([.changeItem(1, name: "new")])
            guard case .date(let second) = try shop.value("derived", of: "Item", 1) else {
                Issue.record("no date after a change")
                return
            }
            #expect(second >= first)
            #expect(try shop.value("derived", of: "Item", 2) == other)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func whatIsAssignedIsOverwritten(_ store: SpecifiedStore) throws {  // U1
        try store.check(Self.model("parts.@count", .integer64)) { shop in
            try shop.insert(shop.insertion("Item", 1, ["derived": .integer(77)]))
            #expect(try shop.value("derived", of: "Item", 1) == .integer(0))
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func rowsThatTheStoreChangedAreTold(_ store: SpecifiedStore) throws {
        try store.check(Self.model("parts.@count", .integer64)) { shop in
            let writer = Writer(shop)
            #expect(try writer.save([.insertItem(1), .insertItem(2)]).derivedRows.sorted() == [1, 2])
            let version = try #require(try shop.row("Item", 1)).version
            #expect(try writer.save([.insertPart(1, item: 1)]).derivedRows == [1])
            // Nobody has saved the item, so its version stays (store-format §7).
            #expect(try shop.row("Item", 1)?.version == version)
            #expect(try writer.save([.changePart(1, item: 2)]).derivedRows.sorted() == [1, 2])
            #expect(try writer.save([.insertUnit(1, name: "kg")]).derivedRows == [])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aPredicateFindsADerivedValue(_ store: SpecifiedStore) throws {
        try store.check(Self.model("parts.@sum.price", .double)) { shop in
            let writer = Writer(shop)
            try writer.save([.insertItem(1), .insertItem(2), .insertPart(1, item: 2, price: 4)])
            #expect(try shop.keys("Item", "derived == 4") == [2])
            #expect(try shop.keys("Item", by: "-derived") == [2, 1])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aSubentityKeepsItsOwn(_ store: SpecifiedStore) throws {
        try store.check(Self.model("parts.@count", .integer64)) { shop in
            try shop.insert(
                shop.insertion("Kit", 1), shop.insertion("Part", 1, ["item": shop.reference("Kit", 1)]),
                shop.insertion("Item", 2))
            #expect(try shop.value("derived", of: "Item", 1) == .integer(1))
            #expect(try shop.value("label", of: "Kit", 1) == .null)
            try shop.save {
                $0.updates = [
                    shop.update("Kit", 1, ["derived": .integer(1)], ["name": .string("É"), "derived": .integer(1)])
                ]
            }
            #expect(try shop.value("label", of: "Kit", 1) == .string("e"))
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aFailedSaveLeavesDerivedValues(_ store: SpecifiedStore) throws {
        try store.check(Self.model("parts.@count", .integer64)) { shop in
            let writer = Writer(shop)
            try writer.save([.insertItem(1), .insertPart(1, item: 1)])
            let before = try shop.dump()
            let failure = shop.failure { changes in
                changes.insertions = [shop.insertion("Part", 2, ["item": shop.reference("Item", 1)])]
                changes.updates = [shop.update("Unit", 9, [:], [:])]
            }
            #expect(failure is SaveFailure)
            #expect(try shop.dump() == before)
        }
    }

    static func model(_ expression: String, _ type: AttributeType) throws -> CompiledModel {
        try StoreTestSupport.model(
            Entity("Item").string("name").attribute("derived", type, derived: expression)
                .toOne("unit", "Unit", inverse: "items").toMany("parts", "Part", inverse: "item")
                .toMany("tags", "Tag", inverse: "items"),
            Entity("Kit", parent: "Item").attribute("label", .string, derived: "canonical:(name)"),
            Entity("Part").attribute("price", .double).toOne("item", "Item", inverse: "parts"),
            Entity("Tag").string("name").toMany("items", "Item", inverse: "tags"),
            Entity("Unit").string("name").toMany("items", "Item", inverse: "unit"))
    }

    /// Saves steps, each row on top of what it was.
    private final class Writer {
        private let shop: SpecifiedSource
        private var rows: [RowKey: RowSnapshot] = [:]

        init(_ shop: SpecifiedSource) { self.shop = shop }

        struct Result {
            var derivedRows: [Int64]
        }

        @discardableResult
        func save(_ steps: [Step]) throws -> Result {
            let outcome = try shop.save { changes in
                for step in steps { add(step, to: &changes) }
            }
            return Result(derivedRows: outcome.derivedRows.map(\.primaryKey))
        }

        private func add(_ step: Step, to changes: inout ChangeSet) {
            switch step {
            case .insertItem(let key, let name, let unit): insert("Item", key, item(name, unit), &changes)
            case .changeItem(let key, let name, let unit): change("Item", key, item(name, unit), &changes)
            case .insertPart(let key, let item, let price): insert("Part", key, part(item, price), &changes)
            case .changePart(let key, let item, let price): change("Part", key, part(item, price), &changes)
            case .deletePart(let key):
                guard let row = rows.removeValue(forKey: shop.key("Part", key)) else { return }
                changes.deletions.append(.init(key: row.key, version: row.version))
            case .insertUnit(let key, let name): insert("Unit", key, ["name": Self.text(name)], &changes)
            case .changeUnit(let key, let name): change("Unit", key, ["name": Self.text(name)], &changes)
            case .tag(let item, let tag): changes.links.append(shop.link(.insert, "Item", "tags", item, tag))
            case .untag(let item, let tag): changes.links.append(shop.link(.remove, "Item", "tags", item, tag))
            }
        }

        private static func text(_ text: String?) -> Value { text.map { .string($0) } ?? .null }

        private func item(_ name: String?, _ unit: Int64?) -> [String: Value] {
            ["name": Self.text(name), "unit": unit.map { shop.reference("Unit", $0) } ?? .null]
        }

        private func part(_ item: Int64?, _ price: Double?) -> [String: Value] {
            ["item": item.map { shop.reference("Item", $0) } ?? .null, "price": price.map { .double($0) } ?? .null]
        }

        private func insert(_ entity: String, _ key: Int64, _ values: [String: Value], _ changes: inout ChangeSet) {
            let row = shop.row(entity, key, values.filter { !$0.value.isNull })
            rows[row.key] = row
            changes.insertions.append(.init(row: row))
        }

        private func change(_ entity: String, _ key: Int64, _ values: [String: Value], _ changes: inout ChangeSet) {
            guard let old = rows[shop.key(entity, key)] else { return }
            let new = shop.row(entity, key, version: old.version + 1, values.filter { !$0.value.isNull })
            rows[new.key] = new
            changes.updates.append(.init(old: old, new: new))
        }
    }
}
