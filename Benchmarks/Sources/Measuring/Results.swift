import Foundation

/// What one workload took, at one number of rows.
package struct WorkloadResult: Codable {
    package let workload: Workload
    package let rows: Int
    /// Seconds of each round, by side.
    package var samples: [String: [Double]]
    /// Seconds of processor time of each round, all threads together, by side.
    package var processorSamples: [String: [Double]]
    /// The most memory that a process of its own had in use for one round, in bytes, by side.
    package var peaks: [String: Int] = [:]
    package var note: String?

    package init(workload: Workload, rows: Int, samples: [SideName: [Sample]], note: String?) {
        self.workload = workload
        self.rows = rows
        self.samples = Self.column(samples, \.elapsed)
        processorSamples = Self.column(samples, \.processor)
        self.note = note
    }

    private static func column(
        _ samples: [SideName: [Sample]], _ path: KeyPath<Sample, Double>
    ) -> [String: [Double]] {
        var column: [String: [Double]] = [:]
        for (side, samples) in samples { column[side.rawValue] = samples.map { $0[keyPath: path] } }
        return column
    }

    package func median(_ side: SideName, _ time: TimeKind = .elapsed) -> Double? {
        let samples = time == .elapsed ? samples : processorSamples
        return samples[side.rawValue].flatMap(Statistics.median)
    }

    /// How many times as long as plain C calls: the median of what each round says by itself.
    ///
    /// The sides of one round run one right after the other. A machine that is faster in one minute than in the next would move
    /// a quotient of two medians, which can come from different minutes.
    package func ratio(_ side: SideName, _ time: TimeKind = .elapsed) -> Double? {
        let samples = time == .elapsed ? samples : processorSamples
        guard let mine = samples[side.rawValue], let raw = samples[SideName.raw.rawValue] else { return nil }
        return Statistics.median(zip(mine, raw).filter { $0.1 > 0 }.map { $0.0 / $0.1 })
    }

    package func meetsGoal(_ time: TimeKind = .elapsed) -> Bool? { ratio(.ours, time).map { $0 <= workload.goal } }
}

/// What one round took, in seconds.
package struct Sample {
    package var elapsed = 0.0
    package var processor = 0.0
}

/// Which of the two times counts: what the clock says, or the processors, which other programs disturb less.
package enum TimeKind {
    case elapsed
    case processor
}

/// What held objects take in memory.
package struct MemoryResult: Codable {
    package let kind: ObjectKind
    package let side: SideName
    package let rows: Int
    package let bytesPerObject: Double
    package let peak: Int

    package init(kind: ObjectKind, side: SideName, rows: Int, bytesPerObject: Double, peak: Int) {
        self.kind = kind
        self.side = side
        self.rows = rows
        self.bytesPerObject = bytesPerObject
        self.peak = peak
    }
}

/// All that one call of the program found out.
package struct Report: Codable {
    package var machine: Machine
    package var workloads: [WorkloadResult] = []
    package var memory: [MemoryResult] = []
    package var sharing: [SharingResult] = []
    package var startUp: StartUpResult?
    package var growth: [GrowthResult] = []
    package var calls: [CallResult] = []
    package var features: [FeatureResult] = []

    package init(machine: Machine) { self.machine = machine }

    package func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(self)
    }
}

package enum Statistics {
    package static func median(_ samples: [Double]) -> Double? {
        guard !samples.isEmpty else { return nil }
        let sorted = samples.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
