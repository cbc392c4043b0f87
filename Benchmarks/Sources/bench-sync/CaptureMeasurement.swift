import CoreDataSync
import Measuring

/// Reads many inserted objects from the history into the sidecar and into segments.
struct CaptureMeasurement: Measurement {
    let settings: Settings

    func measure() async throws -> [Line] {
        var rounds: [(Double, Double)] = []
        for round in 0...settings.rounds {
            let result = try await once(compared: true)
            if round > 0 { rounds.append(result) }
        }
        return [Line("capture inserts", settings.rows, beside: "fetch and read them", goal: 2, rounds)]
    }

    func profile() async throws { _ = try await once(compared: false) }

    private func once(compared: Bool) async throws -> (Double, Double) {
        try await settings.inFolder { folder in
            let (store, place) = (try Groceries(folder, "capture"), MemoryPlace())
            try store.insertAisles()
            _ = try await store.exchange(place)
            try store.insertItems(settings.rows)
            let times = try await store.exchange(place)
            // A segment has 10,000 states at most.
            guard times.files >= (settings.rows + 9_999) / 10_000 else {
                throw MeasuringFailure("capture: \(times.files) segments are too few for \(settings.rows) objects.")
            }
            guard compared else { return (times.seconds(.reading), 1) }
            let (seconds, digest) = try Stopwatch.time { try store.readItems() }
            guard digest.rows == settings.rows else {
                throw MeasuringFailure("capture: \(digest.rows) rows were read.")
            }
            try store.close()
            return (times.seconds(.reading), seconds)
        }
    }
}
