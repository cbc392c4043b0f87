import CoreData
import Foundation
import Measuring
import Sides

/// G1 … G20: one kind of work where there are `count` of what it could depend on.
struct GrowthMeasurement {
    let kind: GrowthKind
    let count: Int
    let rounds: Int
    let stores: Stores

    /// Seconds after which there are no more rounds.
    private static let budget = 20.0

    func run() throws -> GrowthPoint {
        let work = try work()
        var laps: [Lap] = []
        let start = ContinuousClock.now
        // The first round warms up, unless rounds are so long that there is time for one only.
        var round = 0.0
        for number in 0...rounds {
            let (began, lap) = (ContinuousClock.now, try work())
            let elapsed = (ContinuousClock.now - began) / .seconds(1)
            round = max(round, elapsed)
            if number > 0 || elapsed > Self.budget { laps.append(lap) }
            if !laps.isEmpty, (ContinuousClock.now - start) / .seconds(1) > Self.budget { break }
        }
        return GrowthPoint(
            count: count, nanoseconds: Statistics.median(laps.map(\.nanoseconds)) ?? 0,
            raw: try rawNanoseconds(), threads: laps.compactMap(\.threads).max(), round: round)
    }

    private func work() throws -> () throws -> Lap {
        switch kind {
        case .insert, .fetch, .update:
            try stores.prepare(rowWorkload.contents, rows: count)
            return { try Self.lap(of: CoreDataSide(), rowWorkload, rows: count, stores: stores) }
        case .append, .appendOrdered, .insertInMiddle, .saveInMiddle, .remove, .removeFromMiddle, .removeAll,
            .removeAllOrdered, .saveAppended, .saveAppendedOrdered:
            return try FolderGrowth(kind: kind, count: count, stores: stores).work()
        case .change, .changeOne, .saveOne: return try RegisteredGrowth(kind: kind, count: count, stores: stores).work()
        case .contexts, .busyContexts: return try ContextGrowth(kind: kind, count: count, stores: stores).work()
        case .stores: return try StoreGrowth(count: count, stores: stores).work()
        case .observers: return try ObserverGrowth(count: count, stores: stores).work()
        }
    }

    // MARK: Rows

    private var rowWorkload: Workload {
        switch kind {
        case .insert: .insert
        case .fetch: .fetchAll
        default: .update
        }
    }

    /// What plain C calls take for each row, since SQLite's own cost grows with its trees.
    private func rawNanoseconds() throws -> Double? {
        guard [.insert, .fetch, .update].contains(kind) else { return nil }
        let laps = try (0...rounds).map { _ in
            try Self.lap(of: RawSide(), rowWorkload, rows: count, stores: stores)
        }
        return Statistics.median(laps.dropFirst().map(\.nanoseconds))
    }

    /// A workload on a file of its own, as often as makes it long enough to be timed.
    private static func lap(
        of side: some Side, _ workload: Workload, rows: Int, stores: Stores
    ) throws -> Lap {
        var seconds = 0.0
        let repeats = max(1, 10_000 / rows)
        for _ in 0..<repeats {
            let store = try stores.copy(workload.contents, rows: rows, for: side.name.rawValue)
            defer { try? stores.remove(store) }
            guard let trial = try side.trial(workload, store: store, rows: rows) else {
                throw MeasuringFailure("\(side.name.rawValue) cannot do \(workload.rawValue).")
            }
            let (lap, digest) = try Stopwatch.time(trial.run)
            seconds += lap
            try trial.finish()
            guard workload.changesStore || digest.rows == rows else {
                throw MeasuringFailure("\(workload.rawValue): \(digest.rows) of \(rows) rows.")
            }
        }
        return Lap(seconds: seconds, pieces: rows * repeats)
    }
}

/// One round: the processor's seconds for so many pieces of work.
struct Lap {
    let seconds: Double
    let pieces: Int
    /// Threads that the process gained.
    var threads: Int?

    var nanoseconds: Double { seconds * 1e9 / Double(pieces) }
}
