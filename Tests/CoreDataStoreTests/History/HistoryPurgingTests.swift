import Foundation
import Testing

@testable import CoreDataStore

/// What is deleted of a history, and whom that cuts off.
@Suite struct HistoryPurgingTests {
    private func filled() throws -> HistoryWritingTests.Shop {
        let shop = try HistoryWritingTests.Shop()
        for key in 1...10 { try shop.insert("Shop", Int64(key)...Int64(key)) }
        return shop
    }

    private func left(_ shop: HistoryWritingTests.Shop) throws -> [Int64] {
        try shop.engine.historyTransactions(after: 0, time: nil).map(\.number)
    }

    @Test func whatEveryReaderHasReadGoes() throws {
        let shop = try filled()
        try shop.engine.noteHistoryReader("slow", position: 3)
        try shop.engine.noteHistoryReader("fast", position: 9)
        let outcome = try shop.engine.purgeHistory(olderThan: nil, keepingAtMost: nil)
        #expect(outcome.deletedTransactions == 3 && outcome.cutOff.isEmpty)
        #expect(try left(shop) == Array(4...10))
        #expect(try shop.engine.historyChanges(in: 1...10).map(\.transaction) == Array(4...10))
        #expect(try shop.engine.historyExtent().hasEverything(after: 3))
    }

    @Test func withoutReadersNothingGoes() throws {
        let shop = try filled()
        #expect(try shop.engine.purgeHistory(olderThan: nil, keepingAtMost: nil).deletedTransactions == 0)
        #expect(try left(shop).count == 10)
    }

    @Test func aCapNamesWhomItCutsOff() throws {
        let shop = try filled()
        try shop.engine.noteHistoryReader("slow", position: 3)
        try shop.engine.noteHistoryReader("just", position: 6)
        let outcome = try shop.engine.purgeHistory(olderThan: nil, keepingAtMost: 4)
        #expect(outcome.cutOff.map(\.name) == ["slow"])
        #expect(outcome.deletedTransactions == 6)
        #expect(try left(shop) == Array(7...10))
        // Once is enough.
        #expect(try shop.engine.purgeHistory(olderThan: nil, keepingAtMost: 4).cutOff.isEmpty)
    }

    @Test func ageIsACapToo() throws {
        let shop = try filled()
        try shop.engine.database.write { try $0.execute("UPDATE ATRANSACTION SET ZTIMESTAMP = 100 * Z_PK") }
        #expect(try shop.engine.purgeHistory(olderThan: 500, keepingAtMost: nil).deletedTransactions == 4)
        #expect(try left(shop) == Array(5...10))
    }

    @Test func aReaderNeverGoesBack() throws {
        let shop = try filled()
        try shop.engine.noteHistoryReader("a", position: 5)
        try shop.engine.noteHistoryReader("a", position: 2)
        #expect(try shop.engine.historyReaders().map(\.position) == [5])
        #expect(try shop.engine.removeHistoryReader("a"))
        #expect(try !shop.engine.removeHistoryReader("a"))
        #expect(try shop.engine.historyReaders().isEmpty)
    }

    @Test func readersAreNotSeenInMetadataAndOutliveThem() throws {
        let shop = try filled()
        try shop.engine.noteHistoryReader("a", position: 5)
        var dictionary = try shop.engine.metadata().dictionary
        #expect(!dictionary.keys.contains(StoreMetadata.Key.historyReaders))
        dictionary["mine"] = "x"
        try shop.engine.setMetadata(StoreMetadata(dictionary: dictionary))
        #expect(try shop.engine.historyReaders().map(\.name) == ["a"])
        #expect(try shop.engine.metadata().dictionary["mine"] as? String == "x")
    }
}
