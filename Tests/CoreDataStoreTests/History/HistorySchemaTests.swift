import CoreDataModel
import CoreDataSQL
import Foundation
import StoreTestSupport
import TestSupport
import Testing

@testable import CoreDataStore

/// The tables of history against those in stores of Apple's (store-format §9).
@Suite struct HistorySchemaTests {
    private static func isOfHistory(_ row: [String?]) -> Bool {
        ["ACHANGE", "ATRANSACTION", "Z_TRANSACTION"].contains { row[1]?.hasPrefix($0) ?? false }
    }

    @Test(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func everyKnownHistoryHasTheSameStatementsInTheSamePlace() throws {
        let vectors = try SchemaVector.all().filter { vector in
            vector.framework >= 977 && vector.schema.contains { $0[1] == "ACHANGE" }
        }
        #expect(vectors.count >= 10)
        for vector in vectors {
            let found = vector.schema.filter(Self.isOfHistory).compactMap { $0[2] }
            let tombstones = (found.first ?? "").components(separatedBy: "ZTOMBSTONE").count - 1
            let made = try BookkeepingSchema.history(tombstones: tombstones).map { try SchemaRenderer.text($0) }
            #expect(made == found, "\(vector.source)")
            let first = vector.schema.firstIndex(where: Self.isOfHistory) ?? 0
            #expect(vector.schema[first - 1][1] == "Z_MODELCACHE", "\(vector.source)")
        }
    }

    @Test(.enabled(if: SchemaOracle.isAvailable, Comment(rawValue: SchemaOracle.missing)))
    func aStoreWithHistoryHasThePredictedSchema() throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("Shop.sqlite")
        var options = StoreOptions(path: url.path)
        options.tracksHistory = true
        options.document = { Bookshop.document }
        let engine = try StoreEngine.open(model: Bookshop.model, options: options, makeDatabase: makeDatabase)
        engine.close()
        #expect(try SchemaOracle.complaints(about: [url]) == [])
    }

    @Test func severalThatAddAHistoryAtOnceAddOne() throws {
        let path = try Fixtures.temporaryFolder().appendingPathComponent("Shop.sqlite").path
        try HistoryWritingTests.Shop(path: path, tracksHistory: false).engine.close()
        DispatchQueue.concurrentPerform(iterations: 8) { index in
            #expect(throws: Never.self) {
                let shop = try HistoryWritingTests.Shop(path: path)
                try shop.insert("Shop", Int64(index + 1)...Int64(index + 1))
            }
        }
        let shop = try HistoryWritingTests.Shop(path: path)
        #expect(try shop.engine.historyTransactions(after: 0, time: nil).map(\.number) == Array(1...8))
    }

    private func counters(_ shop: HistoryWritingTests.Shop) throws -> [[SQLValue]] {
        try shop.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 ORDER BY Z_ENT")
    }

    private func counters(_ maxima: Int64...) -> [[SQLValue]] {
        zip(BookkeepingSchema.historyEntities, maxima).map { entity, highest in
            [.integer(entity.number), .text(entity.name), .integer(0), .integer(highest)]
        }
    }

    /// As in Apple's stores: one that has a history and no transaction yet has no numbers for it.
    @Test func theRowsThatCountAHistoryComeWithItsFirstTransaction() throws {
        let shop = try HistoryWritingTests.Shop()
        #expect(try counters(shop).isEmpty)
        #expect(try shop.engine.historyExtent().last == 0)
        try shop.insert("Shop", 1...1)
        #expect(try counters(shop) == counters(1, 1, 4))
        try shop.insert("Shop", 2...3)
        #expect(try counters(shop) == counters(3, 2, 4))
        #expect(try shop.engine.historyTransactions(after: 0, time: nil).map(\.number) == [1, 2])
    }

    @Test func aFirstTransactionThatFailsLeavesNoRows() throws {
        let shop = try HistoryWritingTests.Shop()
        var number = 1
        while true {
            let injector = SQLFaultInjector(failingStatement: number)
            shop.engine.database.setObserver(injector)
            let result = Result { try shop.insert("Shop", 1...1) }
            shop.engine.database.setObserver(nil)
            guard injector.hasFailed else {
                try result.get()
                break
            }
            #expect(throws: (any Error).self) { try result.get() }
            #expect(try counters(shop).isEmpty, "statement \(number)")
            number += 1
            try #require(number < 100)
        }
        #expect(number > 5)
        #expect(try counters(shop) == counters(1, 1, 4))
    }

    /// Transactions go on after the last one that there is.
    @Test func aHistoryThatLostItsRowsGoesOn() throws {
        let path = try Fixtures.temporaryFolder().appendingPathComponent("Shop.sqlite").path
        let shop = try HistoryWritingTests.Shop(path: path)
        try shop.insert("Shop", 1...2)
        try shop.engine.database.write { try $0.execute("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") }
        shop.engine.close()
        let again = try HistoryWritingTests.Shop(path: path)
        try again.insert("Shop", 3...3)
        // No name was new.
        #expect(try counters(again) == counters(3, 2, 0))
        #expect(try again.engine.historyTransactions(after: 0, time: nil).map(\.number) == [1, 2])
    }

    /// Before 2018 names stood in each transaction.
    @Test func aHistoryWithoutATableOfNamesGoesOnAsItWas() throws {
        let path = try Fixtures.temporaryFolder().appendingPathComponent("Old.sqlite").path
        let shop = try HistoryWritingTests.Shop(path: path)
        try shop.engine.database.write { connection in
            try connection.execute("DROP TABLE ATRANSACTION; DROP TABLE ATRANSACTIONSTRING")
            try connection.execute(
                """
                CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT, \
                ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )
                """)
        }
        shop.engine.close()
        let old = try HistoryWritingTests.Shop(path: path)
        try old.insert("Shop", 1...1)
        #expect(
            try old.rows("SELECT ZAUTHOR, ZBUNDLEID, ZCONTEXTNAME, ZPROCESSID FROM ATRANSACTION") == [
                [.text("me"), .text("b"), .text("main"), .text("p")]
            ])
        #expect(try old.engine.historyTransactions(after: 0, time: nil).first?.origin.author == "me")
    }
}
