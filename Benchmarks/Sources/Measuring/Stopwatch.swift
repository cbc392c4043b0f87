import Foundation

/// Runs a workload on every side in turn, so that whatever else the machine does hits all alike.
package struct Stopwatch {
    package let workload: Workload
    package let rows: Int
    package let rounds: Int
    package let sides: [any Side]
    /// Makes a file for a side to work on, with the workload's contents.
    package let copyStore: (Workload, SideName) throws -> URL
    package let removeStore: (URL) throws -> Void
    /// What the items' table holds after the work, as text.
    package let tableDigest: (URL) throws -> String

    package init(
        workload: Workload, rows: Int, rounds: Int, sides: [any Side],
        copyStore: @escaping (Workload, SideName) throws -> URL, removeStore: @escaping (URL) throws -> Void,
        tableDigest: @escaping (URL) throws -> String
    ) {
        self.workload = workload
        self.rows = rows
        self.rounds = rounds
        self.sides = sides
        self.copyStore = copyStore
        self.removeStore = removeStore
        self.tableDigest = tableDigest
    }

    /// The most seconds that a workload's rounds may take together before there are fewer of them.
    private static let budget = 120.0
    private static let fewestRounds = 3

    /// One round to warm up, then the rounds that count.
    package func measure() throws -> WorkloadResult {
        let lanes = try sides.compactMap { try Lane($0, of: self) }
        defer { for lane in lanes { try? lane.finish() } }
        let start = ContinuousClock.now
        try check(lanes.map { ($0.side.name, try $0.round().digest) })
        let warmUp = Double((ContinuousClock.now - start) / .seconds(1))
        let affordable = max(Self.fewestRounds, Int(Self.budget / max(warmUp, 1e-6)))
        let count = min(rounds, affordable)
        var samples: [SideName: [Sample]] = [:]
        for _ in 0..<count {
            var digests: [(SideName, Digest)] = []
            for lane in lanes {
                let (sample, digest) = try lane.round()
                samples[lane.side.name, default: []].append(sample)
                digests.append((lane.side.name, digest))
            }
            try check(digests)
        }
        let note =
            count < rounds
            ? "\(workload.rawValue) at \(Report.grouped(rows)) rows: \(count) rounds instead of \(rounds), one takes "
                + String(format: "%.1f s", warmUp) : nil
        return WorkloadResult(workload: workload, rows: rows, samples: samples, note: note)
    }

    /// Seconds of processor time that the work takes, and its result.
    package static func time<Result>(_ work: () throws -> Result) rethrows -> (seconds: Double, result: Result) {
        let start = Machine.processorTime
        let result = try work()
        return (Machine.processorTime - start, result)
    }

    /// Nobody wins by doing less.
    private func check(_ digests: [(SideName, Digest)]) throws {
        guard let first = digests.first else { return }
        for other in digests.dropFirst() where other.1 != first.1 {
            throw MeasuringFailure(
                "\(workload.rawValue): \(first.0.rawValue) and \(other.0.rawValue) did different work: "
                    + "[\(first.1)] and [\(other.1)].")
        }
    }
}

/// One side's way through the rounds.
private final class Lane {
    let side: any Side
    private let stopwatch: Stopwatch
    private var trial: Trial?
    private var store: URL

    init?(_ side: any Side, of stopwatch: Stopwatch) throws {
        self.side = side
        self.stopwatch = stopwatch
        store = try stopwatch.copyStore(stopwatch.workload, side.name)
        trial = try side.trial(stopwatch.workload, store: store, rows: stopwatch.rows)
        if trial == nil {
            try stopwatch.removeStore(store)
            return nil
        }
    }

    /// The time of the work once, and what it did.
    func round() throws -> (sample: Sample, digest: Digest) {
        if trial == nil {
            store = try stopwatch.copyStore(stopwatch.workload, side.name)
            trial = try side.trial(stopwatch.workload, store: store, rows: stopwatch.rows)
        }
        guard let trial else { throw MeasuringFailure("\(side.name.rawValue) cannot do it again.") }
        let clock = ContinuousClock()
        let repeats = stopwatch.workload.repeats(rows: stopwatch.rows)
        var digest = Digest()
        var sample = Sample()
        for _ in 0..<repeats {
            let (start, startOfProcessor) = (clock.now, Machine.processorTime)
            digest = try trial.run()
            sample.processor += (Machine.processorTime - startOfProcessor) / Double(repeats)
            sample.elapsed += (clock.now - start) / .seconds(1) / Double(repeats)
            try trial.reset()
        }
        if stopwatch.workload.changesStore {
            try finish()
            digest.table = try stopwatch.tableDigest(store)
            try stopwatch.removeStore(store)
        }
        return (sample, digest)
    }

    func finish() throws {
        guard let trial else { return }
        self.trial = nil
        try trial.finish()
        if !stopwatch.workload.changesStore { try stopwatch.removeStore(store) }
    }
}

/// Something that makes the numbers worthless.
package struct MeasuringFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
