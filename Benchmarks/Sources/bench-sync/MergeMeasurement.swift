import Foundation
import Measuring
import SyncStates

/// Reads two snapshots of the same objects, of which 1 % differ, and merges their states.
struct MergeMeasurement: Measurement {
    let settings: Settings

    func measure() async throws -> [Line] {
        try await settings.inFolder { folder in
            let (first, second) = try files(folder)
            var whole: [(Double, Double)] = []
            for round in 0...settings.rounds {
                let (reading, counts) = try Stopwatch.time {
                    (try StateFile(contentsOf: first).count, try StateFile(contentsOf: second).count)
                }
                let (merging, result) = try Stopwatch.time {
                    try StateFile(contentsOf: first).merged(with: StateFile(contentsOf: second))
                }
                let changed = result.differences(from: try StateFile(contentsOf: first))
                guard counts == (settings.rows, settings.rows), result.count == settings.rows,
                    changed == settings.rows / 100
                else { throw MeasuringFailure("merge: \(counts), \(result.count) merged, \(changed) changed.") }
                if round > 0 { whole.append((merging, reading)) }
            }
            return [Line("read two snapshots and merge them", settings.rows, beside: "read both", goal: 1.5, whole)]
        }
    }

    func profile() async throws {
        try await settings.inFolder { folder in
            let (first, second) = try files(folder)
            _ = try StateFile(contentsOf: first).merged(with: StateFile(contentsOf: second)).count
        }
    }

    private func files(_ folder: URL) throws -> (URL, URL) {
        let urls = (folder.appendingPathComponent("first"), folder.appendingPathComponent("second"))
        try StateFile.make(settings.rows, edited: 0).write(to: urls.0)
        try StateFile.make(settings.rows, edited: settings.rows / 100).write(to: urls.1)
        return urls
    }
}
