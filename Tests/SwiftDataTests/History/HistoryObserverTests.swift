import Foundation
import SwiftData
import TestSupport
import Testing

/// Observers of histories (1.13).
struct HistoryObserverTests {
    @Test @MainActor func countsWhatItsModelsAndAuthorsSave() async throws {
        let container = try ModelContainer(
            for: Ticket.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(TicketTag("before"))
        try context.save()
        let tickets = try HistoryObserver(observedModels: [Ticket.self], modelContainer: container)
        let synced = try HistoryObserver(authors: ["sync"], modelContainer: container)
        let everything = try HistoryObserver(modelContainer: container)
        for (author, ticket) in [(nil, nil), ("sync", Ticket("A1")), ("app", Ticket("B2"))] as [(String?, Ticket?)] {
            context.author = author
            if let ticket { context.insert(ticket) } else { context.insert(TicketTag("now")) }
            try context.save()
        }
        try await Polling.suspend(until: "three transactions") { everything.eventCounter == 3 }
        try await Polling.suspend(until: "the counters") { tickets.eventCounter == 2 && synced.eventCounter == 1 }
    }

    @Test @MainActor func beginsAtATokenAndRefusesAnExpiredOne() async throws {
        let container = try ModelContainer(
            for: Ticket.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        for code in ["A1", "B2", "C3"] {
            context.insert(Ticket(code))
            try context.save()
        }
        let all = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        let (first, second) = (all[0], all[1].token)
        let observer = try HistoryObserver(
            historyTokens: [first.storeIdentifier: first.token], modelContainer: container)
        try await Polling.suspend(until: "two transactions") { observer.eventCounter == 2 }
        try context.deleteHistory(
            HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token <= second }))
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try HistoryObserver(historyTokens: [first.storeIdentifier: first.token], modelContainer: container)
        }
    }
}
