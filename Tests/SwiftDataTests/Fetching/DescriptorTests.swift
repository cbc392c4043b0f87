import Foundation
import SwiftData
import Testing

/// Each property of a descriptor, in each kind of fetch (1.9, 1.10).
@Suite struct DescriptorTests {
    private typealias Change = (inout FetchDescriptor<Trip>) -> Void

    private func descriptor(_ change: Change) -> FetchDescriptor<Trip> {
        var descriptor = FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.code)])
        change(&descriptor)
        return descriptor
    }

    /// With one more, unsaved trip, "N".
    @Test func everyKindOfFetchFollowsTheDescriptor() throws {
        let context = try Trips().context
        context.insert(Trip("N", name: "New", days: 3))
        let cases: [(String, Change)] = [
            ("CFLN", { _ in }), ("CF", { $0.fetchLimit = 2 }), ("LN", { $0.fetchOffset = 2 }),
            ("FL", { ($0.fetchOffset, $0.fetchLimit) = (1, 2) }), ("", { $0.fetchOffset = 9 }),
            ("CFL", { $0.includePendingChanges = false }),
            ("L", { ($0.includePendingChanges, $0.fetchOffset) = (false, 2) }),
            ("CN", { $0.predicate = #Predicate { $0.days < 4 } }),
            ("N", { ($0.predicate, $0.fetchOffset) = (#Predicate { $0.days < 4 }, 1) }),
            ("NLFC", { $0.sortBy = [SortDescriptor(\.code, order: .reverse)] }),
            ("CFLN", { $0.propertiesToFetch = [\.name, \.days] }),
            ("CFLN", { $0.relationshipKeyPathsForPrefetching = [\.stops] }),
        ]
        for (index, (expected, change)) in cases.enumerated() {
            let descriptor = descriptor(change)
            let found = try context.fetch(descriptor)
            #expect(found.map(\.code).joined() == expected, "case \(index)")
            #expect(try context.fetch(descriptor, batchSize: 2).map(\.code).joined() == expected, "case \(index)")
            #expect(try context.fetchCount(descriptor) == expected.count, "case \(index)")
            let ids = found.map(\.persistentModelID)
            #expect(try context.fetchIdentifiers(descriptor) == ids, "case \(index)")
            #expect(try Array(context.fetchIdentifiers(descriptor, batchSize: 3)) == ids, "case \(index)")
            var seen = ""
            try context.enumerate(descriptor, batchSize: 2) { seen += $0.code }
            #expect(seen == expected, "case \(index)")
        }
    }

    /// Models that a block deletes, with escaping mutations allowed, do not end the enumeration.
    @Test func enumerationsMayDelete() throws {
        let trips = try Trips()
        var seen = ""
        try trips.context.enumerate(descriptor { _ in }, batchSize: 1, allowEscapingMutations: true) {
            seen += $0.code
            if $0.code == "C" { trips.context.delete($0) }
        }
        try trips.context.save()
        #expect(try seen == "CFL" && trips.codes(nil) == "FL")
        try trips.context.enumerate(descriptor { _ in }) {
            $0.days += 1
            try trips.context.save()
        }
        #expect(try trips.codes(#Predicate { $0.days == 8 }) == "F")
    }

    @Test func deletingAll() throws {
        let trips = try Trips()
        try trips.context.delete(model: Trip.self)
        #expect(trips.context.deletedModelsArray.count == 3)
        try trips.context.save()
        #expect(try trips.codes(nil) == "")
    }
}
