import CoreDataSync
import Measuring

/// Applies many objects that another device inserted.
struct ApplyMeasurement: Measurement {
    let settings: Settings

    func measure() async throws -> [Line] {
        var applied: [(Double, Double)] = []
        var whole: [(Double, Double)] = []
        for round in 0...settings.rounds {
            let result = try await once(compared: true)
            guard round > 0 else { continue }
            applied.append((result.apply, result.insert))
            whole.append((result.all, result.insert))
        }
        return [
            Line("apply remote inserts", settings.rows, beside: "batch insert of them", goal: 2.5, applied),
            Line("the whole exchange", settings.rows, beside: "batch insert of them", goal: nil, whole),
        ]
    }

    func profile() async throws { _ = try await once(compared: false) }

    private func once(compared: Bool) async throws -> (apply: Double, all: Double, insert: Double) {
        try await settings.inFolder { folder in
            let place = MemoryPlace()
            let (sender, receiver) = (try Groceries(folder, "sender"), try Groceries(folder, "receiver"))
            try sender.insertAisles()
            _ = try await sender.exchange(place)
            _ = try await receiver.exchange(place)
            try sender.insertItems(settings.rows)
            _ = try await sender.exchange(place)
            try sender.close()
            let times = try await receiver.exchange(place)
            try receiver.check(settings.rows, "apply")
            try receiver.close()
            guard compared else { return (times.seconds(.applying), times.total, 1) }
            let other = try Groceries(folder, "other")
            try other.insertAisles()
            let (seconds, _) = try Stopwatch.time { try other.insertItemsByRequest(settings.rows) }
            try other.check(settings.rows, "batch insert")
            try other.close()
            return (times.seconds(.applying), times.total, seconds)
        }
    }
}
