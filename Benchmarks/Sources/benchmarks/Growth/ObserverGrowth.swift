import CoreData
import Foundation
import Measuring
import Sides
import Synchronization

/// Saves of one object that many observe.
struct ObserverGrowth {
    let count: Int
    let stores: Stores

    private static let rows = 100
    private static let saves = 50

    func work() throws -> () throws -> Lap {
        try stores.prepare(.full, rows: Self.rows)
        let store = try stores.copy(.full, rows: Self.rows, for: "observers")
        let container = try CoreDataSide().open(store)
        let context = container.newBackgroundContext()
        let calls = Calls()
        let observers = (0..<count).map { _ in
            NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
            ) { calls.note($0) }
        }
        return {
            try context.performAndWait {
                let request = NSFetchRequest<Item>(entityName: "Item")
                guard let item = try context.fetch(request).first else { throw MeasuringFailure("G18: no item.") }
                let before = calls.count
                let (seconds, _) = try Stopwatch.time {
                    for _ in 0..<Self.saves {
                        item.quantity += 1
                        try context.save()
                    }
                }
                withExtendedLifetime(observers) {}
                guard calls.count - before == count * Self.saves else {
                    throw MeasuringFailure("G18: \(calls.count - before) calls for \(Self.saves) saves.")
                }
                return Lap(seconds: seconds, pieces: count * Self.saves)
            }
        }
    }
}

/// Counts the notifications that told of one updated object.
private final class Calls: Sendable {
    private let atomic = Atomic(0)

    var count: Int { atomic.load(ordering: .relaxed) }

    func note(_ notification: Notification) {
        if (notification.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject>)?.count == 1 {
            atomic.add(1, ordering: .relaxed)
        }
    }
}
