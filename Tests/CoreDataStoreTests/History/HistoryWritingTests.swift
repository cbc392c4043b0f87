import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreDataStore

/// What a save leaves in the tables of history, row by row as Apple's framework writes them.
@Suite struct HistoryWritingTests {
    /// Shops have items; an item's `code`, `price` and `picture` are kept after its deletion. `Special` is an `Item`.
    struct Shop {
        let engine: StoreEngine
        let model: CompiledModel

        init(path: String? = nil, tracksHistory: Bool = true) throws {
            func kept(_ attribute: inout AttributeElement) { attribute.preservesValueInHistoryOnDeletion = true }
            var item = Entity("Item").string("name").toOne("shop", "Shop", inverse: "items").element
            for (name, type, isExternal) in [
                ("price", AttributeType.double, false), ("code", .string, false), ("picture", .binaryData, true),
            ] {
                var attribute = AttributeElement(type: type)
                attribute.allowsExternalBinaryDataStorage = isExternal
                kept(&attribute)
                var property = PropertyElement(name: name, kind: .attribute(attribute))
                property.isOptional = true
                item.properties.append(property)
            }
            var document = ModelDocument()
            document.entities = [
                Entity("Shop").string("name").toMany("items", "Item", inverse: "shop").element, item,
                Entity("Special", parent: "Item").string("reason").element,
            ]
            model = try ModelCompiler.compile(document)
            var options = StoreOptions(path: path)
            options.tracksHistory = tracksHistory
            engine = try StoreEngine.open(model: model, options: options, makeDatabase: makeDatabase)
        }

        func row(_ name: String, _ key: Int64, version: Int32 = 1, _ values: [String: SQLValue] = [:]) -> RowSnapshot {
            let entity = model.entities[model.ordinalByName[name] ?? 0]
            let builder = RowBuilder(columnCount: entity.rowLayout.columns.count)
            for (property, value) in values {
                let column = entity.rowLayout.columnOfSlot[entity.slotByName[property] ?? 0]
                switch value {
                case .null: break
                case .integer(let value): builder.setInteger(value, at: column)
                case .real(let value): builder.setReal(value, at: column)
                case .text(let value): builder.setText(value, at: column)
                case .blob(let value): value.withUnsafeBytes { builder.setBytes($0, at: column) }
                }
            }
            return builder.finish(primaryKey: key, version: version, entity: entity.ordinal)
        }

        /// `Z_ENT`.
        func number(_ name: String) -> Int64 {
            engine.layout.entities[model.ordinalByName[name] ?? 0]?.number ?? 0
        }

        func entity(_ name: String) -> CompiledEntity { model.entities[model.ordinalByName[name] ?? 0] }

        func key(_ name: String, _ key: Int64) -> RowKey {
            RowKey(entity: model.ordinalByName[name] ?? 0, primaryKey: key)
        }

        @discardableResult
        func save(_ change: (inout ChangeSet) -> Void) throws -> SaveOutcome {
            var changes = ChangeSet()
            changes.origin = ChangeOrigin(author: "me", contextName: "main", bundleIdentifier: "b", processName: "p")
            change(&changes)
            return try engine.save(keys: [:]) { _ in changes }
        }

        func insert(_ name: String, _ keys: ClosedRange<Int64>) throws {
            try save { changes in changes.insertions = keys.map { .init(row: row(name, $0)) } }
        }

        func rows(_ text: SQLText) throws -> [[SQLValue]] { try engine.database.read { try $0.rows(text) } }

        /// Kind, entity and key of each change, in the order of their numbers.
        func changes(of transaction: Int64) throws -> [[SQLValue]] {
            try rows(
                "SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK FROM ACHANGE WHERE ZTRANSACTIONID = \(bind: .integer(transaction)) ORDER BY Z_PK"
            )
        }
    }

    private func integers(_ values: Int64...) -> [SQLValue] { values.map { .integer($0) } }

    /// O2
    @Test func aSaveIsOneTransactionWithItsChanges() throws {
        let shop = try Shop()
        let outcome = try shop.save { changes in
            changes.insertions = [
                .init(row: shop.row("Shop", 1)), .init(row: shop.row("Item", 1)), .init(row: shop.row("Special", 2)),
            ]
        }
        #expect(outcome.historyTransaction == 1)
        #expect(
            Set(try shop.changes(of: 1).map { Array($0.dropFirst()) }) == [
                integers(0, shop.number("Shop"), 1), integers(0, shop.number("Item"), 1),
                integers(0, shop.number("Special"), 2),
            ])
        #expect(try shop.changes(of: 1).map(\.[0]) == integers(1, 2, 3))
        let transaction = try shop.rows(
            "SELECT Z_PK, Z_ENT, Z_OPT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, ZAUTHOR, ZQUERYGEN FROM ATRANSACTION"
        )
        #expect(transaction == [[.integer(1), .integer(16002), .null] + integers(1, 2, 3, 4) + [.null, .null]])
        #expect(
            try shop.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME FROM ATRANSACTIONSTRING") == [
                [.integer(1), .integer(16003), .null, .text("me")], [.integer(2), .integer(16003), .null, .text("b")],
                [.integer(3), .integer(16003), .null, .text("main")],
                [.integer(4), .integer(16003), .null, .text("p")],
            ])
        #expect(
            try shop.rows("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == [
                integers(16001, 3), integers(16002, 1), integers(16003, 4),
            ])
        #expect(
            try shop.rows("SELECT DISTINCT Z_ENT, Z_OPT, ZCOLUMNS FROM ACHANGE") == [[.integer(16001), .null, .null]])
    }

    @Test func namesAreWrittenOnce() throws {
        let shop = try Shop()
        try shop.insert("Shop", 1...1)
        try shop.insert("Shop", 2...2)
        #expect(try shop.rows("SELECT COUNT(*) FROM ATRANSACTIONSTRING") == [[.integer(4)]])
        #expect(try shop.rows("SELECT ZAUTHORTS FROM ATRANSACTION") == [[.integer(1)], [.integer(1)]])
    }

    @Test func consecutiveRowsAreRecordedByOneStatement() throws {
        let shop = try Shop()
        let recorder = SQLRecorder()
        shop.engine.database.setObserver(recorder)
        try shop.insert("Item", 1...1000)
        shop.engine.database.setObserver(nil)
        #expect(recorder.work.count { $0.contains("ACHANGE") && $0.hasPrefix("INSERT") } == 1)
        #expect(
            recorder.work.contains(
                "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) SELECT ZITEM.Z_PK + ?, 16001, 0, ?, ZITEM.Z_PK, ? FROM ZITEM WHERE ZITEM.Z_PK BETWEEN ? AND ?"
            ))
        #expect(try shop.rows("SELECT COUNT(*), MIN(Z_PK), MAX(Z_PK) FROM ACHANGE") == [integers(1000, 1, 1000)])
        #expect(
            try shop.rows(
                "SELECT COUNT(*) FROM ACHANGE WHERE Z_PK = ZENTITYPK AND ZENTITY = \(bind: .integer(shop.number("Item")))"
            )
                == [integers(1000)])
    }

    @Test func scatteredRowsAreRecordedOnceEach() throws {
        let shop = try Shop()
        try shop.insert("Item", 1...300)
        let keys = (1...300).map { Int64($0) }.filter { $0 % 3 != 0 }.shuffled()
        try shop.save { changes in
            changes.updates = keys.map {
                .init(old: shop.row("Item", $0), new: shop.row("Item", $0, version: 2, ["name": .text("x")]))
            }
        }
        let found = try shop.changes(of: 2)
        #expect(found.count == 200)
        #expect(Set(found.map { $0[3] }) == Set(keys.map { SQLValue.integer($0) }))
        #expect(found.map { $0[0] } == (301...500).map { SQLValue.integer($0) })
        try shop.save { $0.deletions = keys.map { .init(key: shop.key("Item", $0), version: 2) } }
        #expect(try shop.changes(of: 3).count == 200)
        #expect(try shop.rows("SELECT COUNT(*) FROM ZITEM") == [integers(100)])
    }

    /// To-ones first, then attributes, then to-manys, each by name: Item has shop | code name picture price.
    @Test func anUpdateSaysWhichPropertiesItChanged() throws {
        let shop = try Shop()
        try shop.save { changes in
            changes.insertions = [
                .init(row: shop.row("Shop", 1)), .init(row: shop.row("Item", 1)), .init(row: shop.row("Special", 2)),
            ]
        }
        try shop.save { changes in
            changes.updates = [
                .init(
                    old: shop.row("Item", 1),
                    new: shop.row("Item", 1, version: 2, ["shop": .integer(1), "name": .text("x")])),
                .init(old: shop.row("Special", 2), new: shop.row("Special", 2, version: 2, ["reason": .text("x")])),
                .init(old: shop.row("Shop", 1), new: shop.row("Shop", 1, version: 2)),
            ]
            var items = IndexMask()
            items.insert(shop.entity("Shop").slotByName["items"] ?? 0)
            changes.changedMembers = [shop.key("Shop", 1): items]
        }
        #expect(
            Set(try shop.rows("SELECT ZENTITY, hex(ZCOLUMNS) FROM ACHANGE WHERE ZTRANSACTIONID = 2")) == [
                // Shop: name | items
                [.integer(shop.number("Shop")), .text("40")],
                [.integer(shop.number("Item")), .text("A0")],
                // Special: shop | code name picture price, then its own reason
                [.integer(shop.number("Special")), .text("04")],
            ])
        let changes = try shop.engine.historyChanges(in: 2...2)
        func names(_ entity: String) -> [String] {
            changes.filter { $0.key.entity == shop.model.ordinalByName[entity] }
                .flatMap { change in
                    change.changedSlots.map { shop.model.entities[change.key.entity].properties[$0].name }
                }
                .sorted()
        }
        #expect(names("Shop") == ["items"])
        #expect(names("Item") == ["name", "shop"])
        #expect(names("Special") == ["reason"])
    }

    /// O3
    @Test func aTombstoneKeepsValuesAsTheyAreStored() throws {
        let shop = try Shop()
        try shop.save { changes in
            changes.insertions = [
                .init(
                    row: shop.row(
                        "Item", 1,
                        [
                            "code": .text("A7"), "price": .real(1.5), "name": .text("gone"),
                            "picture": .blob(Data([1, 2])),
                        ]
                    )),
                .init(row: shop.row("Special", 2, ["code": .text("B")])), .init(row: shop.row("Shop", 1)),
            ]
        }
        try shop.save { changes in
            changes.deletions = [("Item", 1), ("Special", 2), ("Shop", 1)].map {
                .init(key: shop.key($0.0, $0.1), version: 1)
            }
        }
        let stored = try shop.rows(
            "SELECT ZENTITY, ZTOMBSTONE0, typeof(ZTOMBSTONE1), ZTOMBSTONE2 FROM ACHANGE WHERE ZCHANGETYPE = 2"
        )
        #expect(
            Set(stored) == [
                [.integer(shop.number("Shop")), .null, .text("null"), .null],
                // By name: code, picture, price.
                [.integer(shop.number("Item")), .text("A7"), .text("blob"), .real(1.5)],
                [.integer(shop.number("Special")), .text("B"), .text("null"), .null],
            ])
        let item = try #require(try shop.engine.historyChanges(in: 2...2).first { $0.key == shop.key("Item", 1) })
        let row = try #require(item.tombstone)
        let entity = shop.entity("Item")
        func column(_ name: String) -> Int { entity.rowLayout.columnOfSlot[entity.slotByName[name] ?? 0] }
        #expect(row.text(column("code")) == "A7")
        #expect(row.real(column("price")) == 1.5)
        #expect(row.withBytes(column("picture")) { Data($0) } == Data([1, 2]))
        #expect(row.isNull(column("name")))
    }

    @Test func aRowThatSomebodyElseDeletedIsNotDeletedOnceMore() throws {
        let shop = try Shop()
        try shop.insert("Item", 1...2)
        try shop.engine.database.write { try $0.execute("DELETE FROM ZITEM WHERE Z_PK = 1") }
        try shop.save { $0.deletions = [1, 2].map { .init(key: shop.key("Item", $0), version: 1) } }
        #expect(try shop.changes(of: 2).map { $0[3] } == integers(2))
    }

    @Test func whatWritesNoRowIsNoTransaction() throws {
        let shop = try Shop()
        try shop.save { $0.metadata = try? StoreMetadata(dictionary: ["a": 1]) }
        _ = try shop.engine.allocateKeys(root: 0, count: 3)
        #expect(try shop.rows("SELECT COUNT(*) FROM ATRANSACTION") == [integers(0)])
    }

    @Test func aStoreWithoutHistoryIsSavedByTheSameStatementsAsBefore() throws {
        let shop = try Shop(tracksHistory: false)
        let recorder = SQLRecorder()
        shop.engine.database.setObserver(recorder)
        try shop.insert("Item", 1...1)
        shop.engine.database.setObserver(nil)
        #expect(recorder.work.count == 1)
    }

    @Test func aFaultAtAnyStatementLeavesTheHistoryAsItWas() throws {
        let shop = try Shop()
        try shop.insert("Item", 1...50)
        func state() throws -> [[SQLValue]] {
            try shop.rows("SELECT * FROM ACHANGE") + shop.rows("SELECT * FROM ATRANSACTION")
                + shop.rows("SELECT * FROM ATRANSACTIONSTRING") + shop.rows("SELECT * FROM Z_PRIMARYKEY")
        }
        let before = try state()
        var number = 1
        while true {
            let injector = SQLFaultInjector(failingStatement: number)
            shop.engine.database.setObserver(injector)
            let result = Result {
                try shop.save { changes in
                    changes.origin?.author = "somebody new"
                    changes.insertions = (51...60).map { .init(row: shop.row("Item", $0)) }
                    changes.updates = [2, 9].map {
                        .init(old: shop.row("Item", $0), new: shop.row("Item", $0, version: 2, ["name": .text("x")]))
                    }
                    changes.deletions = [.init(key: shop.key("Item", 1), version: 1)]
                }
            }
            shop.engine.database.setObserver(nil)
            guard injector.hasFailed else {
                _ = try result.get()
                break
            }
            #expect(throws: SQLFailure.self) { try result.get() }
            #expect(try state() == before, "statement \(number)")
            number += 1
        }
        #expect(number > 10)
        #expect(try shop.changes(of: 2).count == 13)
        #expect(try shop.rows("SELECT ZNAME FROM ATRANSACTIONSTRING").last == [.text("somebody new")])
    }

    @Test func twoEnginesOnOneFileNumberTheirTransactionsTogether() throws {
        let path = try Fixtures.temporaryFolder().appendingPathComponent("Shop.sqlite").path
        let first = try Shop(path: path)
        let second = try Shop(path: path)
        for index in 0..<10 {
            try (index % 2 == 0 ? first : second).save { changes in
                changes.origin?.author = "author \(index % 3)"
                changes.insertions = [.init(row: first.row("Shop", Int64(index + 1)))]
            }
        }
        #expect(try first.engine.historyTransactions(after: 0, time: nil).map(\.number) == Array(1...10))
        #expect(try first.rows("SELECT COUNT(*), COUNT(DISTINCT Z_PK) FROM ACHANGE") == [integers(10, 10)])
        #expect(try first.rows("SELECT COUNT(*) FROM ATRANSACTIONSTRING") == [integers(6)])
    }

    @Test func numbersAreNotGivenOutTwiceAfterAPurge() throws {
        let shop = try Shop()
        for key in 1...3 { try shop.insert("Shop", Int64(key)...Int64(key)) }
        #expect(try shop.engine.deleteHistory(before: .max) == 3)
        #expect(try shop.engine.historyExtent() == HistoryExtent(first: nil, last: 3))
        #expect(try !shop.engine.historyExtent().hasEverything(after: 2))
        #expect(try shop.engine.historyExtent().hasEverything(after: 3))
        #expect(try !shop.engine.historyExtent().hasEverything(after: 4))
        #expect(try shop.save { $0.insertions = [.init(row: shop.row("Shop", 9))] }.historyTransaction == 4)
        #expect(try shop.changes(of: 4) == [integers(4, 0, shop.number("Shop"), 9)])
    }
}
