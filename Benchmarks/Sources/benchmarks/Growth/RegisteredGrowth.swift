import CoreData
import Foundation
import Measuring
import Sides

/// Changes in a context with many objects.
struct RegisteredGrowth {
    let kind: GrowthKind
    let count: Int
    let stores: Stores

    private static let changes = 200

    func work() throws -> () throws -> Lap {
        try stores.prepare(.full, rows: count)
        let side = CoreDataSide()
        return {
            let store = try stores.copy(.full, rows: count, for: "registered")
            defer { try? stores.remove(store) }
            let container = try side.open(store)
            let context = container.newBackgroundContext()
            let lap = try context.performAndWait { try round(context) }
            try CoreDataSide.close(container)
            return lap
        }
    }

    private func round(_ context: NSManagedObjectContext) throws -> Lap {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.returnsObjectsAsFaults = false
        let items = try context.fetch(request)
        guard items.count == count, context.registeredObjects.count == count else {
            throw MeasuringFailure("\(kind.rawValue): \(items.count) of \(count) items.")
        }
        if kind == .change {
            let (seconds, _) = Stopwatch.time {
                for item in items { item.quantity += 1 }
                context.processPendingChanges()
            }
            try check(context.updatedObjects.count, count)
            return Lap(seconds: seconds, pieces: count)
        }
        let item = items[count / 2]
        let before = item.quantity
        let (seconds, _) = try Stopwatch.time {
            for _ in 0..<Self.changes {
                item.quantity += 1
                if kind == .saveOne { try context.save() } else { context.processPendingChanges() }
            }
        }
        try check(context.updatedObjects.count, kind == .saveOne ? 0 : 1)
        try check(Int(item.quantity - before), Self.changes)
        return Lap(seconds: seconds, pieces: Self.changes)
    }

    private func check(_ found: Int, _ expected: Int) throws {
        guard found == expected else {
            throw MeasuringFailure("\(kind.rawValue): \(found) instead of \(expected).")
        }
    }
}
