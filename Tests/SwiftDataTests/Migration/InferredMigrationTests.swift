import Foundation
import SwiftData
import TestSupport
import Testing

/// Stores that are opened with other models, without a plan (I1, I9).
@Suite struct InferredMigrationTests {
    enum Old {
        struct Place: Codable, Equatable {
            var city = "Oslo"
        }
        @Model final class Shop {
            var name: String
            var fax = "0"
            var place: Place
            var goods: [Good] = []
            init(name: String) {
                self.name = name
                place = Place()
            }
        }
        @Model final class Good {
            var name: String
            var shop: Shop?
            init(name: String) { self.name = name }
        }
    }

    enum New {
        struct Place: Codable, Equatable {
            var city = "Oslo"
            var street: String?
        }
        @Model final class Shop {
            @Attribute(originalName: "name") var title: String?
            var floors = 1
            var place: Place
            @Relationship(deleteRule: .cascade) var goods: [Good] = []
            init(title: String) {
                self.title = title
                place = Place()
            }
        }
        @Model final class Good {
            var name: String
            var shop: Shop?
            init(name: String) { self.name = name }
        }
        @Model final class Till {
            var number = 1
            init() {}
        }
    }

    enum Strict {
        @Model final class Shop {
            var name: String
            var owner: String
            init(name: String, owner: String) {
                self.name = name
                self.owner = owner
            }
        }
    }

    private func makeOld() throws -> URL {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("shop.store")
        let context = ModelContext(
            try ModelContainer(for: Old.Shop.self, configurations: ModelConfiguration(url: url)))
        let shop = Old.Shop(name: "Corner")
        shop.goods = [Old.Good(name: "Tea")]
        context.insert(shop)
        try context.save()
        return url
    }

    /// I1: added, removed, renamed and optional properties, an added model, another delete rule. I9: a member more in a struct.
    @Test func anOlderStoreFollowsTheModels() throws {
        let url = try makeOld()
        let container = try ModelContainer(
            for: New.Shop.self, New.Till.self, configurations: ModelConfiguration(url: url))
        let context = ModelContext(container)
        let shop = try #require(try context.fetch(FetchDescriptor<New.Shop>()).first)
        #expect(shop.title == "Corner" && shop.floors == 1)
        #expect(shop.place == New.Place(city: "Oslo", street: nil))
        #expect(shop.goods.map(\.name) == ["Tea"])
        context.insert(New.Till())
        context.delete(shop)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<New.Good>()) == 0)
    }

    /// I8: the migration is a transaction of the history, without changes; what was recorded before stays, and tokens go on to count.
    @Test func theHistoryHasTheMigration() throws {
        typealias History = HistoryDescriptor<DefaultHistoryTransaction>
        let url = try makeOld()
        let before = try ModelContext(
            try ModelContainer(for: Old.Shop.self, configurations: ModelConfiguration(url: url))
        ).fetchHistory(History())
        #expect(before.map(\.changes.count) == [2])
        let context = ModelContext(
            try ModelContainer(for: New.Shop.self, New.Till.self, configurations: ModelConfiguration(url: url)))
        context.insert(New.Till())
        try context.save()
        let token = try #require(before.last?.token)
        let after = try context.fetchHistory(History(predicate: #Predicate { $0.token > token }))
        #expect(after.map(\.changes.count) == [0, 1] && after.map(\.author)[1] == nil)
        let author = after.first?.author ?? ""
        #expect(author.hasPrefix("com.apple.coredata.schemamigrator: lightweight migration from model with digest {"))
        #expect(try context.fetchHistory(History()).count == 3)
    }

    /// I1: a property that must have a value and has none for old rows; the store stays as it is.
    @Test func aMandatoryPropertyWithoutADefaultIsAnError() throws {
        let url = try makeOld()
        let error = #expect(throws: SwiftDataError.self) {
            try ModelContainer(for: Strict.Shop.self, configurations: ModelConfiguration(url: url))
        }
        #expect(error == .loadIssueModelContainer && error?.description.contains("owner") == true)
        let container = try ModelContainer(for: Old.Shop.self, configurations: ModelConfiguration(url: url))
        #expect(try ModelContext(container).fetch(FetchDescriptor<Old.Shop>()).map(\.name) == ["Corner"])
    }
}
