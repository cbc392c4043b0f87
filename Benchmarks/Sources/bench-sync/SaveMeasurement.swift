import CoreData
import CoreDataSync
import Foundation
import Measuring

/// Saves one changed object while synchronisation runs: what the program waits, and what of it is work of its own
/// thread.
///
/// The exchange of a save runs on other threads. If there is no idle processor for them, the program waits longer than
/// its thread works.
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
            var (pairs, work): ([(Double, Double)], [(Double, Double)]) = ([], [])
            for number in 0..<Self.saves * 2 {
                // In turn, so that the exchange of a save before slows both alike.
                let isFirst = number % 2 == 0
                let (one, other) = (
                    try (isFirst ? lanes.0 : lanes.1).save(number), try (isFirst ? lanes.1 : lanes.0).save(number)
                )
                if number >= 20 {
                    let (ours, theirs) = isFirst ? (one, other) : (other, one)
                    pairs.append((ours.time, theirs.time))
                    work.append((ours.work, theirs.work))
                }
                try await Task.sleep(for: .milliseconds(2))
            }
            await sync.stop()
            _ = try await sync.syncNow()
            return [
                Self.line("save while sync is on", pairs, goal: 1.05),
                Self.line("processor time of its thread", work, goal: nil),
            ]
        }
    }

    /// The ratio of the medians: a pair of saves is too short to be compared.
    private static func line(_ title: String, _ pairs: [(Double, Double)], goal: Double?) -> Line {
        var line = Line(title, 1, beside: "save with history", goal: goal, pairs)
        line.ratio = (Statistics.median(pairs.map(\.0)) ?? 0) / (Statistics.median(pairs.map(\.1)) ?? 1)
        line.note = String(
            format: "p99 %.0f and %.0f µs", percentile(99, pairs.map(\.0)) * 1e6,
            percentile(99, pairs.map(\.1)) * 1e6)
        return line
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

    /// Seconds of wall-clock time, and of the thread's processor time.
    func save(_ number: Int) throws -> (time: Double, work: Double) {
        try context.performAndWait {
            items[number % items.count].quantity += 1
            let (start, before) = (ContinuousClock.now, Machine.threadTime)
            try context.save()
            return ((ContinuousClock.now - start) / .seconds(1), Machine.threadTime - before)
        }
    }
}
