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

    /// Filter, order and sections of an observer can be set: the results are those of the new fetch at once, and are followed.
    @Test func anObserverFetchesAnew() throws {
        let trips = try Trips()
        let context = trips.container.mainContext
        let observer = try ResultsObserver<Trip, String>(
            sortBy: [SortDescriptor(\.code)], sectionBy: \.country, modelContext: context)
        let count = Mutex(0)
        withObservationTracking {
            _ = (observer.results, observer.filterBy)
        } onChange: {
            count.withLock { $0 += 1 }
        }
        observer.filterBy = #Predicate { $0.days < 7 }
        #expect(observer.results.map(\.code) == ["C", "L"] && count.withLock { $0 } == 1)
        observer.sortBy = [SortDescriptor(\.days, order: .reverse)]
        observer.sectionBy = \.name
        #expect(observer.sections?.map(\.title).sorted() == ["lakes 10", "lakes 9"])
        #expect(observer.fetchDescriptor.sortBy == [SortDescriptor(\.days, order: .reverse)])
        // A property that no store has changes nothing.
        observer.sectionBy = \.label
        #expect(observer.sectionBy == \Trip.name)
        context.insert(Trip("A", name: "Alps", days: 5))
        context.processPendingChanges()
        #expect(observer.results.count == 3)
        context.rollback()
    }

    @Test func anObserverIsMadeOfADescriptorOrAFilterInAContextOrAContainer() throws {
        let trips = try Trips()
        let (container, context) = (trips.container, trips.container.mainContext)
        let many = FetchDescriptor<Trip>(predicate: #Predicate { $0.days > 3 })
        let plain = try [
            ResultsObserver<Trip, Never>(fetchDescriptor: many, modelContext: context),
            ResultsObserver<Trip, Never>(fetchDescriptor: many, modelContainer: container),
            ResultsObserver<Trip, Never>(filterBy: many.predicate, modelContext: context),
            ResultsObserver<Trip, Never>(filterBy: many.predicate, modelContainer: container),
        ]
        #expect(plain.map(\.results.count) == [2, 2, 2, 2])
        let sectioned = try [
            ResultsObserver<Trip, String>(fetchDescriptor: many, sectionBy: \.name, modelContext: context),
            ResultsObserver<Trip, String>(fetchDescriptor: many, sectionBy: \.name, modelContainer: container),
            ResultsObserver<Trip, String>(filterBy: many.predicate, sectionBy: \.name, modelContext: context),
            ResultsObserver<Trip, String>(filterBy: many.predicate, sectionBy: \.name, modelContainer: container),
            ResultsObserver<Trip, String>(fetchDescriptor: many, sectionBy: \.country, modelContext: context),
            ResultsObserver<Trip, String>(fetchDescriptor: many, sectionBy: \.country, modelContainer: container),
            ResultsObserver<Trip, String>(filterBy: many.predicate, sectionBy: \.country, modelContext: context),
            ResultsObserver<Trip, String>(filterBy: many.predicate, sectionBy: \.country, modelContainer: container),
        ]
        #expect(sectioned.map { $0.sections?.count } == Array(repeating: 2, count: 8))
    }
}
