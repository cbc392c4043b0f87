import CoreData
import Foundation
import Measuring
import Sides

/// C1 … C10: what one call takes beside another that does the same, in turn.
struct CallMeasurement {
    let kind: CallKind
    let rounds: Int
    let stores: Stores

    /// Items that the calls go through.
    static let rows = 1000
    private static let fewestSeconds = 0.02

    func run() throws -> CallResult {
        try stores.prepare(.full, rows: Self.rows)
        let store = try stores.copy(.full, rows: Self.rows, for: "calls")
        defer { try? stores.remove(store) }
        let side = CoreDataSide()
        let container = try side.open(store)
        let context = container.newBackgroundContext()
        let pair: CallPair =
            switch kind {
            case .readNumber, .readText, .writeNumber, .writeText: try KeyedCalls(context).pair(kind)
            case .evaluateNumber, .evaluateText, .evaluatePrefix, .evaluateKeyPath:
                try PredicateCalls(context).pair(kind)
            case .performAndWait, .performAsync: QueueCalls(context).pair(kind)
            }
        let result = try measure(pair)
        try context.performAndWait { try pair.finish() }
        try CoreDataSide.close(container)
        return result
    }

    private func measure(_ pair: CallPair) throws -> CallResult {
        let passes = try max(passes(pair.ours), passes(pair.other))
        var ours: [Double] = []
        var other: [Double] = []
        for _ in 0..<rounds {
            let (mine, found) = try Self.nanoseconds(pair.ours, passes: passes)
            let (theirs, expected) = try Self.nanoseconds(pair.other, passes: passes)
            guard found == expected else {
                throw MeasuringFailure("\(kind.rawValue): \(found) by the call, \(expected) by the other.")
            }
            ours.append(mine)
            other.append(theirs)
        }
        return CallResult(
            kind: kind, nanoseconds: Statistics.median(ours) ?? 0, other: Statistics.median(other) ?? 0)
    }

    /// How often to go through the items, so that the clock's own cost does not count; warms up on the way.
    private func passes(_ work: (Int) throws -> Double) throws -> Int {
        var passes = 1
        while true {
            let (seconds, _) = try Stopwatch.time { try work(passes) }
            if seconds >= Self.fewestSeconds { return passes }
            passes *= 2
        }
    }

    private static func nanoseconds(
        _ work: (Int) throws -> Double, passes: Int
    ) throws -> (nanoseconds: Double, sum: Double) {
        let (seconds, sum) = try Stopwatch.time { try work(passes) }
        return (seconds * 1e9 / Double(passes * rows), sum)
    }
}

/// A kind of call and what it is compared with; each goes so many times through ``CallMeasurement/rows`` calls and
/// returns the sum of what it found.
struct CallPair {
    let ours: (_ passes: Int) throws -> Double
    let other: (_ passes: Int) throws -> Double
    /// Looks at what is left.
    var finish: () throws -> Void = {}
}

/// All items, realised.
func realisedItems(_ context: NSManagedObjectContext) throws -> [Item] {
    try context.performAndWait {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.returnsObjectsAsFaults = false
        let items = try context.fetch(request)
        guard items.count == CallMeasurement.rows else { throw MeasuringFailure("\(items.count) items are there.") }
        return items
    }
}
