import CoreData
import Foundation
import Measuring
import Sides

/// Key-value coding beside the typed accessors.
struct KeyedCalls {
    // What an accessor does, in the module that calls it, as in a program with classes of its own.
    private static let quantityKey = PropertyKey<Float>("quantity")
    private static let nameKey = PropertyKey<String?>("name")

    private let context: NSManagedObjectContext
    private let items: [Item]

    init(_ context: NSManagedObjectContext) throws {
        self.context = context
        items = try realisedItems(context)
        try check()
    }

    /// Both ways read the same.
    private func check() throws {
        try context.performAndWait {
            for item in items {
                guard item.value(forKey: "quantity") as? Float == item.quantity,
                    item.value(forKey: "name") as? String == item.name
                else { throw MeasuringFailure("value(forKey:) reads something else than the accessors of \(item).") }
            }
        }
    }

    func pair(_ kind: CallKind) -> CallPair {
        switch kind {
        case .readNumber:
            CallPair(
                ours: { passes in sum(passes) { $0.value(forKey: "quantity") == nil ? 0 : 1 } },
                // One for each: whoever reads by key has an `Any`, and does not always ask what it is.
                other: { passes in sum(passes) { $0[Self.quantityKey] < 0 ? 0 : 1 } })
        case .readText:
            CallPair(
                ours: { passes in sum(passes) { $0.value(forKey: "name") == nil ? 0 : 1 } },
                other: { passes in sum(passes) { $0[Self.nameKey] == nil ? 0 : 1 } })
        case .writeNumber:
            CallPair(
                ours: { passes in write(passes) { $0.setValue(Float($1), forKey: "quantity") } },
                other: { passes in write(passes) { $0[Self.quantityKey] = Float($1) } },
                finish: { try checkWritten { $0.quantity > 0 } })
        default:
            CallPair(
                ours: { passes in write(passes) { $0.setValue(Self.texts[$1 & 1], forKey: "name") } },
                other: { passes in write(passes) { $0[Self.nameKey] = Self.texts[$1 & 1] } },
                finish: { try checkWritten { Self.texts.contains($0.name ?? "") } })
        }
    }

    /// One that fits into a small string, and one that does not.
    private static let texts = ["Flour", "Flour from the mill by the river"]

    private func sum(_ passes: Int, _ read: (Item) -> Double) -> Double {
        context.performAndWait {
            var sum = 0.0
            for _ in 0..<passes { for item in items { sum += read(item) } }
            return sum
        }
    }

    /// Another value each time, so that nobody can save the work.
    private func write(_ passes: Int, _ write: (Item, Int) -> Void) -> Double {
        context.performAndWait {
            for pass in 1...passes { for item in items { write(item, pass) } }
            return Double(context.updatedObjects.count)
        }
    }

    private func checkWritten(_ holds: (Item) -> Bool) throws {
        guard items.allSatisfy(holds), items.allSatisfy(\.hasChanges) else {
            throw MeasuringFailure("What was written by key is not there.")
        }
        context.rollback()
    }
}
