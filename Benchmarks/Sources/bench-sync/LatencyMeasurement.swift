import CoreData
import CoreDataSync
import Foundation
import Measuring

/// The time from a save on one device until a context of another one has the value.
struct LatencyMeasurement: Measurement {
    let settings: Settings
    private static let saves = 200

    func measure() async throws -> [Line] {
        try await settings.inFolder { folder in
            let place = FolderPlace(folder.appendingPathComponent("place"))
            let (sender, receiver) = (try Groceries(folder, "sender"), try Groceries(folder, "receiver"))
            try sender.insertAisles()
            try sender.insertItems(1000)
            let first = try Sync(sender.container, to: place, device: "Sender")
            try await first.start()
            let second = try Sync(receiver.container, to: place, device: "Receiver")
            try await second.start()
            let times = try await times(sender, receiver)
            await first.stop()
            await second.stop()
            let percentile = SaveMeasurement.percentile(99, times)
            var line = Line(
                "from a save to another device's context", times.count,
                String(format: "p99 %.0f ms", percentile * 1e3), goal: 1,
                note: String(format: "median %.0f ms; goal: 1 s", (Statistics.median(times) ?? 0) * 1e3))
            line.ratio = percentile
            return [line]
        }
    }

    func profile() async throws { _ = try await measure() }

    private func times(_ sender: Groceries, _ receiver: Groceries) async throws -> [Double] {
        let (here, there) = (sender.container.newBackgroundContext(), receiver.container.newBackgroundContext())
        there.automaticallyMergesChangesFromParent = true
        let name = Sample(0).name
        func item(_ context: NSManagedObjectContext) throws -> Item {
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.predicate = NSPredicate(format: "name == %@", name)
            request.returnsObjectsAsFaults = false
            guard let item = try context.fetch(request).first else { throw MeasuringFailure("latency: no \(name).") }
            return item
        }
        let mine = try here.performAndWait { try item(here) }
        let other = try there.performAndWait { try item(there) }
        var times: [Double] = []
        for number in 0..<Self.saves {
            let value = Double(1000 + number)
            try here.performAndWait {
                mine.quantity = value
                try here.save()
            }
            let start = ContinuousClock.now
            while there.performAndWait({ other.quantity }) != value {
                guard ContinuousClock.now - start < .seconds(60) else {
                    throw MeasuringFailure("latency: save \(number) did not arrive within a minute.")
                }
                try await Task.sleep(for: .milliseconds(1))
            }
            times.append((ContinuousClock.now - start) / .seconds(1))
            try await Task.sleep(for: .milliseconds(5))
        }
        return times
    }
}
