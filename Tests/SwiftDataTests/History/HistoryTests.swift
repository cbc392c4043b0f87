import Foundation
import SwiftData
import TestSupport
import Testing

@Model final class Ticket {
    @Attribute(.preserveValueOnDeletion) var code: String
    @Attribute(.preserveValueOnDeletion) var seat: Int?
    var title: String
    @Relationship(inverse: \TicketTag.tickets) var tags: [TicketTag] = []

    init(_ code: String, seat: Int? = nil, title: String = "") {
        self.code = code
        self.seat = seat
        self.title = title
    }
}

@Model final class TicketTag {
    var name: String
    var tickets: [Ticket] = []
    init(_ name: String) { self.name = name }
}

/// Histories (1.12, J1 to J6).
struct HistoryTests {
    private typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>

    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try ModelContainer(
            for: Ticket.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
    }

    private func save(_ author: String?, _ change: (ModelContext) throws -> Void) throws {
        context.author = author
        try change(context)
        try context.save()
    }

    /// Three transactions: by "app", "sync" and nobody.
    private func filled() throws -> Ticket {
        let ticket = Ticket("A1", seat: 7, title: "Play")
        try save("app") { $0.insert(ticket) }
        try save("sync") { _ in ticket.title = "Opera" }
        try save(nil) { $0.insert(Ticket("B2")) }
        return ticket
    }

    private func authors(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws -> [String] {
        try context.fetchHistory(descriptor).map { $0.author ?? "-" }
    }

    /// J1, J2.
    @Test func eachSaveIsATransaction() throws {
        let ticket = try filled()
        let transactions = try context.fetchHistory(Descriptor())
        #expect(transactions.map(\.author) == ["app", "sync", nil])
        #expect(transactions.map(\.transactionIdentifier) == transactions.map(\.id))
        #expect(Set(transactions.map(\.storeIdentifier)) == [try #require(ticket.persistentModelID.storeIdentifier)])
        #expect(transactions[0].changes.map(\.changedPersistentIdentifier) == [ticket.persistentModelID])
        #expect(transactions[0].timestamp <= transactions[2].timestamp)
    }

    /// J4: an update has the key paths of what changed; a change is of the model's own type.
    @Test func changesAreOfTheirModel() throws {
        let ticket = try filled()
        let changes = try context.fetchHistory(Descriptor()).flatMap(\.changes)
        guard case .insert(_ as DefaultHistoryInsert<Ticket>) = changes[0],
            case .update(let update as DefaultHistoryUpdate<Ticket>) = changes[1]
        else {
            Issue.record("The changes are \(changes).")
            return
        }
        #expect(update.updatedAttributes.map { $0 as AnyKeyPath } == [\Ticket.title])
        #expect(update.changedPersistentIdentifier == ticket.persistentModelID)
    }

    /// J3: of a deleted model the attributes are kept that say so.
    @Test func aTombstoneHasWhatIsPreserved() throws {
        let ticket = try filled()
        let id = ticket.persistentModelID
        try save("app") { $0.delete(ticket) }
        let last = try #require(try context.fetchHistory(Descriptor()).last?.changes.last)
        guard case .delete(let delete as DefaultHistoryDelete<Ticket>) = last else {
            Issue.record("The change is \(last).")
            return
        }
        #expect(delete.changedPersistentIdentifier == id)
        #expect(delete.tombstone[\.code] as? String == "A1")
        #expect(delete.tombstone[\.seat] as? Int == 7)
        #expect(delete.tombstone[\.title] == nil)
        #expect(delete.tombstone.map { "\($0)" } == ["A1", "7"])
    }

    /// J2, J6.
    @Test func predicatesSelectTransactions() throws {
        _ = try filled()
        let all = try context.fetchHistory(Descriptor())
        let (first, second) = (all[0].token, all[1].token)
        let moment = all[1].timestamp
        let store = all[0].storeIdentifier
        let cases: [(Predicate<DefaultHistoryTransaction>, [String])] = [
            (#Predicate { $0.token > first }, ["sync", "-"]),
            (#Predicate { $0.token >= second }, ["sync", "-"]),
            (#Predicate { first < $0.token && $0.author == "sync" }, ["sync"]),
            (#Predicate { $0.token < second }, ["app"]),
            (#Predicate { $0.token == second }, ["sync"]),
            (#Predicate { $0.author == "app" || $0.token > second }, ["app", "-"]),
            (#Predicate { $0.author == nil }, ["-"]),
            (#Predicate { !($0.token > first) }, ["app"]),
            (#Predicate { $0.timestamp >= moment && $0.author != nil }, ["sync"]),
            (#Predicate { $0.storeIdentifier == store && $0.token > second }, ["-"]),
            (#Predicate { $0.storeIdentifier == "other" }, []),
        ]
        for (number, (predicate, expected)) in cases.enumerated() {
            #expect(try authors(Descriptor(predicate: predicate)) == expected, "case \(number)")
        }
    }

    @Test func limitAndOrder() throws {
        _ = try filled()
        var descriptor = Descriptor(
            predicate: nil, sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)])
        #expect(try authors(descriptor) == ["-", "sync", "app"])
        descriptor.fetchLimit = 2
        #expect(try authors(descriptor) == ["-", "sync"])
    }

    /// J2: only the transactions that a predicate selects are deleted.
    @Test func deletingByAuthorKeepsTheOthers() throws {
        _ = try filled()
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.author == "sync" }))
        #expect(try authors(Descriptor()) == ["app", "-"])
    }

    /// J5.
    @Test func aTokenBeforeWhatWasDeletedIsExpired() throws {
        _ = try filled()
        let all = try context.fetchHistory(Descriptor())
        let (first, second, last) = (all[0].token, all[1].token, all[2].token)
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= second }))
        #expect(try authors(Descriptor(predicate: #Predicate { $0.token > second })) == ["-"])
        #expect(try authors(Descriptor(predicate: #Predicate { $0.token > last })) == [])
        do {
            _ = try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > first }))
            Issue.record("The token is taken.")
        } catch SwiftDataError.historyTokenExpired {}
        try context.deleteHistory(Descriptor())
        #expect(try authors(Descriptor()) == [])
    }

    /// J6.
    @Test func tokensAreEncodedAndCompared() throws {
        _ = try filled()
        let tokens = try context.fetchHistory(Descriptor()).map(\.token)
        let decoded = try JSONDecoder().decode([DefaultHistoryToken].self, from: JSONEncoder().encode(tokens))
        #expect(decoded == tokens && tokens.sorted() == tokens && decoded[0] < tokens[1])
        let token = decoded[1]
        #expect(try authors(Descriptor(predicate: #Predicate { $0.token > token })) == ["-"])
        #expect(token.tokenValue?.count == 1)
    }

    @Test func aTransactionOfAnotherTypeIsRefused() throws {
        #expect(throws: SwiftDataError.invalidTransactionFetchRequest) {
            try context.fetchHistory(HistoryDescriptor<OtherTransaction>())
        }
    }
}

private struct OtherTransaction: HistoryTransaction {
    let id = 0
    let timestamp = Date.distantPast
    let changes: [HistoryChange] = []
    let token = PersistentToken(tokenValue: 0)
    let transactionIdentifier = 0
    let storeIdentifier = ""
    let author: String? = nil

    static func == (one: OtherTransaction, other: OtherTransaction) -> Bool { one.id == other.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

private struct PersistentToken: HistoryToken {
    let tokenValue: Int?
    var id: Int { tokenValue ?? 0 }
    static func < (one: PersistentToken, other: PersistentToken) -> Bool { one.id < other.id }
}
