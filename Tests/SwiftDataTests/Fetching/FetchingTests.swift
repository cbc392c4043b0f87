import Foundation
import SwiftData
import Testing

/// Fetches by descriptors (D1 to D9).
struct FetchingTests {
    private func codes(_ trips: [Trip]) -> String { trips.map(\.code).joined() }

    @Test func orderLimitAndOffset() throws {
        let context = try Trips().context
        var descriptor = FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.days, order: .reverse)])
        #expect(codes(try context.fetch(descriptor)) == "FLC")
        descriptor.fetchLimit = 1
        descriptor.fetchOffset = 1
        #expect(codes(try context.fetch(descriptor)) == "L")
    }

    /// D9: texts as people expect them, and by their letters.
    @Test func textsSortAsTheirComparatorSays() throws {
        let context = try Trips().context
        let standard = SortDescriptor(\Trip.name, comparator: .localizedStandard)
        let lexical = SortDescriptor(\Trip.name, comparator: .lexical)
        #expect(codes(try context.fetch(FetchDescriptor(sortBy: [standard]))) == "FCL")
        #expect(codes(try context.fetch(FetchDescriptor(sortBy: [lexical]))) == "FLC")
        #expect(
            codes(try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\.guide?.name), SortDescriptor(\.code)])))
                == "CLF")
    }

    /// Identifiers sort by rows, in the order of their insertion; unsaved models too.
    @Test func identifiersSort() throws {
        let trips = try Trips()
        let context = trips.context
        for order in [SortOrder.forward, .reverse] {
            let found = try context.fetch(
                FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.persistentModelID, order: order)]))
            #expect(codes(found) == (order == .forward ? "FLC" : "CLF"))
            #expect(
                codes(try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.id, order: order)])))
                    == codes(found))
        }
        // Bea (F) was inserted with the first trip and Ann (L) as her boss; the city has no guide, which comes first.
        let byGuide = try context.fetch(
            FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.guide?.persistentModelID), SortDescriptor(\.code)]))
        #expect(byGuide.first?.code == "C" && byGuide.count == 3)
        context.insert(Trip("N", name: "New"))
        #expect(
            try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.days), SortDescriptor(\.id)])).count
                == 4)
    }

    /// D1: unsaved changes count unless the descriptor says otherwise.
    @Test func pendingChangesCountUnlessToldOtherwise() throws {
        let trips = try Trips()
        trips.context.insert(Trip("N", name: "New"))
        var descriptor = FetchDescriptor<Trip>()
        #expect(try trips.context.fetchCount(descriptor) == 4)
        descriptor.includePendingChanges = false
        #expect(try trips.context.fetchCount(descriptor) == 3)
    }

    /// D3, D4: what is not read with the fetch is read when it is used.
    @Test func propertiesAndRelationshipsToFetch() throws {
        let context = ModelContext(try Trips().container)
        var descriptor = FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.code)])
        descriptor.propertiesToFetch = [\.name]
        descriptor.relationshipKeyPathsForPrefetching = [\.stops, \.guide]
        let found = try context.fetch(descriptor)
        #expect(found.map(\.days) == [2, 7, 4])
        #expect(found.map { $0.stops.count } == [0, 2, 1])
    }

    /// D5, D6: batches, by subscript and by enumeration.
    @Test func batches() throws {
        let trips = try Trips()
        let context = ModelContext(trips.container)
        let descriptor = FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.code)])
        let results = try context.fetch(descriptor, batchSize: 2)
        #expect(results.count == 3)
        #expect(results.map(\.code) == ["C", "F", "L"])
        let identifiers = try context.fetchIdentifiers(descriptor, batchSize: 2)
        #expect(Array(identifiers) == results.map(\.persistentModelID))
        var seen = ""
        try context.enumerate(descriptor, batchSize: 2) { seen += $0.code }
        #expect(seen == "CFL")
    }

    /// D2: unsaved changes are among batches and among sorted identifiers.
    @Test func pendingChangesAreAmongBatchesAndIdentifiers() throws {
        let context = try Trips().context
        context.insert(Trip("D", name: "New"))
        let descriptor = FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.code)])
        let batches = try context.fetch(descriptor, batchSize: 2)
        #expect(batches.map(\.code) == ["C", "D", "F", "L"])
        #expect(try context.fetchIdentifiers(descriptor) == batches.map(\.persistentModelID))
        #expect(Array(try context.fetchIdentifiers(descriptor, batchSize: 2)) == batches.map(\.persistentModelID))
    }

    @Test func aBlockThatLeavesChangesIsAnError() throws {
        let context = try Trips().context
        #expect(throws: SwiftDataError.self) {
            try context.enumerate(FetchDescriptor<Trip>()) { $0.days += 1 }
        }
        try context.enumerate(FetchDescriptor<Trip>(), allowEscapingMutations: true) { $0.days += 1 }
        #expect(context.hasChanges)
    }

    /// D7, complaint 30: delete rules apply, unsaved models count, models in use are told of it.
    @Test func deletingByPredicate() throws {
        let trips = try Trips()
        let context = trips.context
        context.insert(Trip("N", name: "New", days: 9))
        try context.delete(model: Trip.self, where: #Predicate { $0.days > 3 })
        try context.save()
        #expect(try trips.codes(nil) == "C")
        #expect(try ModelContext(trips.container).fetchCount(FetchDescriptor<Stop>()) == 0)
    }

    @Test func descriptorsAreEqualWhenAStoreWouldBeAskedTheSame() {
        let days = 3
        let first = FetchDescriptor<Trip>(predicate: #Predicate { $0.days > days }, sortBy: [SortDescriptor(\.code)])
        var second = FetchDescriptor<Trip>(predicate: #Predicate { $0.days > 3 }, sortBy: [SortDescriptor(\.code)])
        #expect(first == second)
        second.fetchLimit = 1
        #expect(first != second)
        #expect(first != FetchDescriptor(predicate: #Predicate { $0.days > 4 }, sortBy: [SortDescriptor(\.code)]))
    }
}
