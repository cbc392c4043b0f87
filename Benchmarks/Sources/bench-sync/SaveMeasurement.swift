import CoreData
import CoreDataSync
import Foundation
import Measuring

/// Saves one changed object while synchronisation runs.
struct SaveMeasurement: Measurement {
    let settings: Settings
    private static let saves = 300

    func measure() async throws -> [Line] {
        try await settings.inFolder { folder in
            let (synced, plain) = (try Groceries(folder, "synced"), try Groceries(folder, "plain"))
            for store in [synced, plain] {
                try store.insertAisles()
                try store.insertItems(1000)
            }
            let sync = try Sync(synced.container, to: FolderPlace(folder.appendingPathComponent("place")), device: "A")
            try await sync.start()
            let lanes = (try Saving(synced), try Saving(plain))
            var pairs: [(Double, Double)] = []
            for number in 0..<Self.saves * 2 {
                // In turn, so that the exchange of a save before slows both alike.
                let isFirst = number % 2 == 0
                let (one, other) = (
                    try (isFirst ? lanes.0 : lanes.1).save(number), try (isFirst ? lanes.1 : lanes.0).save(number)
                )
                if number >= 20 { pairs.append(isFirst ? (one, other) : (other, one)) }
                try await Task.sleep(for: .milliseconds(2))
            }
            await sync.stop()
            _ = try await sync.syncNow()
            var line = Line("save while sync is on", 1, beside: "save with history", goal: 1.05, pairs)
            let medians = (Statistics.median(pairs.map(\.0)) ?? 0, Statistics.median(pairs.map(\.1)) ?? 1)
            line.ratio = medians.0 / medians.1
            line.note = String(
                format: "p99 %.0f and %.0f µs", Self.percentile(99, pairs.map(\.0)) * 1e6,
                Self.percentile(99, pairs.map(\.1)) * 1e6)
            return [line]
        }
    }

    func profile() async throws { _ = try await measure() }

    static func percentile(_ percent: Int, _ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * percent / 100)]
    }
}

/// Saves of one object after another.
private struct Saving {
    let context: NSManagedObjectContext
    let items: [Item]

    init(_ store: Groceries) throws {
        let context = store.container.newBackgroundContext()
        items = try context.performAndWait { try context.fetch(NSFetchRequest<Item>(entityName: "Item")) }
        self.context = context
    }

    /// Seconds of wall-clock time.
    func save(_ number: Int) throws -> Double {
        try context.performAndWait {
            items[number % items.count].quantity += 1
            let start = ContinuousClock.now
            try context.save()
            return (ContinuousClock.now - start) / .seconds(1)
        }
    }
}
