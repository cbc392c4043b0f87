import CoreData
import Foundation
import Measuring
import Sides

/// Predicates evaluated in memory, beside the comparison written in Swift.
struct PredicateCalls {
    private let context: NSManagedObjectContext
    private let items: [Item]

    init(_ context: NSManagedObjectContext) throws {
        self.context = context
        items = try realisedItems(context)
        // The key path's objects are realised as well.
        context.performAndWait { for item in items { _ = item.locationAtHome?.storedIn } }
    }

    func pair(_ kind: CallKind) throws -> CallPair {
        switch kind {
        case .evaluateNumber:
            return pair(NSPredicate(format: "quantity >= 20")) { $0.quantity >= 20 }
        case .evaluateText:
            let name = context.performAndWait { items[1].name ?? "" }
            return pair(NSPredicate(format: "name == %@", name)) { $0.name == name }
        case .evaluatePrefix:
            return pair(NSPredicate(format: "name BEGINSWITH %@", "Item 1")) {
                $0.name?.hasPrefix("Item 1") ?? false
            }
        default:
            let place = context.performAndWait { items[1].locationAtHome?.storedIn ?? "" }
            return pair(NSPredicate(format: "locationAtHome.storedIn == %@", place)) {
                $0.locationAtHome?.storedIn == place
            }
        }
    }

    private func pair(_ predicate: NSPredicate, _ holds: @escaping (Item) -> Bool) -> CallPair {
        CallPair(
            ours: { passes in count(passes) { predicate.evaluate(with: $0) } },
            other: { passes in count(passes, holds) },
            finish: {
                let found = items.filter { predicate.evaluate(with: $0) }.count
                guard 0 < found, found < items.count else {
                    throw MeasuringFailure("A predicate holds for \(found) of \(items.count).")
                }
            })
    }

    private func count(_ passes: Int, _ holds: (Item) -> Bool) -> Double {
        context.performAndWait {
            var count = 0
            for _ in 0..<passes { for item in items where holds(item) { count += 1 } }
            return Double(count)
        }
    }
}
