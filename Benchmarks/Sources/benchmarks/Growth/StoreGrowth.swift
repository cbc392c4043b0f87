import CoreData
import Foundation
import Measuring
import Sides

/// A fetch from all stores of one coordinator.
struct StoreGrowth {
    let count: Int
    let stores: Stores

    private static let rowsPerStore = 500
    /// Objects that a round fetches at least, so that it is long enough to be timed.
    private static let fetched = 16_000

    func work() throws -> () throws -> Lap {
        try FileManager.default.createDirectory(at: stores.folder, withIntermediateDirectories: true)
        let urls = (0..<count).map { stores.folder.appendingPathComponent("store-\($0)-of-\(count).sqlite") }
        for url in urls { try stores.remove(url) }
        let container = try Containers.open(GroceryModel.make(), at: urls)
        try fill(container)
        let rows = count * Self.rowsPerStore
        let repeats = max(1, Self.fetched / rows)
        return {
            var seconds = 0.0
            for _ in 0..<repeats {
                let context = container.newBackgroundContext()
                let (lap, digest) = try Stopwatch.time {
                    try context.performAndWait {
                        Digest(try context.fetch(NSFetchRequest<Item>(entityName: "Item")))
                    }
                }
                guard digest.rows == rows else { throw MeasuringFailure("G17: \(digest.rows) of \(rows) items.") }
                seconds += lap
            }
            return Lap(seconds: seconds, pieces: rows * repeats)
        }
    }

    private func fill(_ container: NSPersistentContainer) throws {
        let opened = container.persistentStoreCoordinator.persistentStores
        guard opened.count == count else { throw MeasuringFailure("G17: \(opened.count) of \(count) stores.") }
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for store in opened {
                for values in Samples.items(from: 1, count: Self.rowsPerStore, rows: Self.rowsPerStore) {
                    let item = Item(context: context)
                    item.name = values.name
                    item.quantity = Float(values.quantity)
                    item.listed = values.listed
                    context.assign(item, to: store)
                }
            }
            try context.save()
        }
    }
}
