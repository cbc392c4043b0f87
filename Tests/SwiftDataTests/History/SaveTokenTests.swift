import Foundation
import SwiftData
import TestSupport
import Testing

/// `NotificationKey.historyTokens` (C12): the position of the history after a save.
@Suite struct SaveTokenTests {
    private func savedToken<Token: HistoryToken>(_ saves: SaveRecorder, as type: Token.Type = Token.self) -> Token? {
        let info = saves.userInfos.last
        let token = info?[ModelContext.NotificationKey.historyTokens] as? Token
        #expect(token == info?["historyTokens"] as? Token)
        return token
    }

    /// The token is that of the save itself: what another context saves afterwards is later.
    @Test func didSaveHasThePositionOfItsTransaction() throws {
        let (container, context) = try kitchen()
        let saves = SaveRecorder(context)
        context.insert(Dish(name: "Soup"))
        try context.save()
        let token = try #require(savedToken(saves, as: DefaultHistoryToken.self))
        #expect(saves.userInfos.count == 1, "willSave has no user info.")
        let transactions = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(transactions.map(\.token) == [token])
        #expect(token.storeIdentifier == transactions.first?.storeIdentifier)

        let other = ModelContext(container)
        other.author = "other"
        other.insert(Dish(name: "Stew"))
        try other.save()
        let later = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token })
        #expect(try context.fetchHistory(later).map(\.author) == ["other"])
    }

    /// A store that the save did not write is named, too: a token without it would stand for the beginning of its history.
    @Test func theTokenNamesAllStores() throws {
        let folder = try Fixtures.temporaryFolder()
        let container = try ModelContainer(
            for: Dish.self, Ticket.self,
            configurations: ModelConfiguration(
                "tickets", schema: Schema([Ticket.self]), url: folder.appendingPathComponent("tickets.store")),
            ModelConfiguration(
                "dishes", schema: Schema([Dish.self]), url: folder.appendingPathComponent("dishes.store")))
        let context = ModelContext(container)
        let saves = SaveRecorder(context)
        context.insert(Ticket("A1"))
        try context.save()
        context.insert(Dish(name: "Soup"))
        try context.save()
        let token = try #require(savedToken(saves, as: DefaultHistoryToken.self))
        #expect(token.tokenValue?.count == 2)
        let later = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token })
        #expect(try context.fetchHistory(later).isEmpty)
    }

    /// A store of an app's own gives its token with the result of the save; one without a history gives none.
    @Test func aStoreOfAnAppsOwnGivesItsToken() throws {
        let context = ModelContext(
            try ModelContainer(for: Schema([Badge.self]), configurations: [BadgeStoreConfiguration()]))
        let saves = SaveRecorder(context)
        for number in 1...2 {
            context.insert(Badge(name: "Cook"))
            try context.save()
            #expect(savedToken(saves, as: BadgeToken.self)?.tokenValue == number)
        }

        let file = try Fixtures.temporaryFolder().appendingPathComponent("dishes.json")
        let plain = ModelContext(
            try ModelContainer(for: Dish.self, DishOrder.self, configurations: JSONStoreConfiguration(fileURL: file)))
        let others = SaveRecorder(plain)
        plain.insert(Dish(name: "Soup"))
        try plain.save()
        #expect(others.userInfos.count == 1)
        #expect(others.userInfos.last?[ModelContext.NotificationKey.historyTokens] == nil)
    }
}
