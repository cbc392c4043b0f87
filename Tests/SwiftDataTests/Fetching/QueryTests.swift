import Foundation
import Observation
import SwiftData
import Synchronization
import Testing

/// Results that follow their context.
@MainActor
struct QueryTests {
    @Test func aQueryFollowsItsContextAndOthers() throws {
        let trips = try Trips()
        let context = trips.container.mainContext
        let query = try ModelQuery(
            filter: #Predicate<Trip> { $0.days > 3 }, sort: [SortDescriptor(\.code)], in: context)
        #expect(query.results.map(\.code) == ["F", "L"])
        let count = Mutex(0)
        withObservationTracking {
            _ = query.results
        } onChange: {
            count.withLock { $0 += 1 }
        }
        context.insert(Trip("A", name: "Alps", days: 5))
        context.processPendingChanges()
        #expect(query.results.map(\.code) == ["A", "F", "L"])
        #expect(count.withLock { $0 } == 1)
        try context.fetch(FetchDescriptor<Trip>(predicate: #Predicate { $0.code == "F" })).first?.days = 1
        context.processPendingChanges()
        #expect(query.results.map(\.code) == ["A", "L"])
    }

    @Test func updatesTellWhatChanged() async throws {
        let trips = try Trips()
        let context = trips.container.mainContext
        let query = try ModelQuery<Trip>(sort: [SortDescriptor(\.code)], in: context)
        var updates = query.updates.makeAsyncIterator()
        context.insert(Trip("A", name: "Alps", days: 5))
        context.processPendingChanges()
        let update = try #require(await updates.next(isolation: #isolation))
        #expect(update.identifiers.count == 4)
        #expect(update.difference.insertions.count == 1)
        #expect(update.difference.removals.isEmpty)
    }

    @Test func anObserverHasSections() throws {
        let trips = try Trips()
        let context = trips.container.mainContext
        let observer = try ResultsObserver<Trip, String>(
            sortBy: [SortDescriptor(\.code)], sectionBy: \.country, modelContext: context)
        let sections = try #require(observer.sections)
        #expect(sections.map(\.title) == ["", "Finland", "Norway"])
        #expect(sections[sectionTitle: "Norway"]?.map(\.code) == ["F"])
        #expect(try ResultsObserver<Trip, Never>(modelContext: context).results.count == 3)
    }
}
