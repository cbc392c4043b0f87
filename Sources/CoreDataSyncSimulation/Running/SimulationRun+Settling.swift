import CoreDataSync
import CoreDataSyncEngine
import Foundation

// The end of a run: everything heals, and the devices exchange until they are equal.
extension SimulationRun {
    private static let rounds = 16

    func settle() async throws {
        world.correctClocks()
        for device in living {
            try device.save(&ledger)
            device.place.heal()
            while device.isFile, device.version < scenario.model.versions { try device.upgrade() }
        }
        // A device that the schedule of damaged files lets wait reads them again.
        var summaries: [SyncSummary?] = []
        for _ in 0..<Self.rounds {
            world.advance(seconds: 7_200)
            summaries = []
            for device in living { summaries.append(try await finalExchange(device)) }
            if summaries.allSatisfy({ $0 == SyncSummary() }) { return }
        }
        let details = zip(living, summaries).map { device, summary in
            let text = summary.map { "\($0)" } ?? "interrupted"
            return "device \(device.index): \(text), \(device.sync?.state.troubles ?? [])"
        }
        throw SimulationFailure(.unrest, details)
    }

    private func finalExchange(_ device: SimulatedDevice) async throws -> SyncSummary? {
        do {
            outcome.exchanges += 1
            let summary = try await device.exchange()
            if summary?.conflicts ?? 0 > 0 { try readJournal(device) }
            return summary
        } catch {
            throw SimulationFailure(.error, ["device \(device.index) at the end: \(error)"])
        }
    }

    // MARK: Checking

    /// The folder of each device has at most two hellos and two snapshots: older ones are deleted.
    func checkFiles() async throws {
        for device in living {
            guard let id = device.sidecar?.settings.device else { continue }
            let names = try await world.place.list(id.description)
            for kind in ["hello", "snapshot"] where names.count(where: { $0.hasPrefix(kind) }) > 2 {
                throw SimulationFailure(.size, ["device \(device.index) keeps files nobody needs"] + names.sorted())
            }
        }
    }

    func check() throws {
        let contents = try living.map { try DeviceContents($0) }
        for device in living { try readJournal(device) }
        guard let first = contents.first else { return }
        outcome.saved = ledger.entries.count
        outcome.objects = first.objects.count
        outcome.conflicts = ledger.journaled.count
        outcome.fingerprint = contents.flatMap { contents in
            contents.objects.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        }
        for (device, other) in zip(living, contents).dropFirst() {
            let differences = DeviceContents.differences(first, other)
            if !differences.isEmpty {
                throw SimulationFailure(.difference, ["devices 0 and \(device.index) differ"] + differences)
            }
        }
        for (device, contents) in zip(living, contents) where !contents.mistakes.isEmpty {
            throw SimulationFailure(.rule, ["device \(device.index)"] + contents.mistakes)
        }
        let mistakes = ledger.mistakes(first.state, scenario.model, entities)
        if !mistakes.isEmpty { throw SimulationFailure(.history, mistakes) }
        for device in living where device.sync?.state.waiting ?? 0 > 0 {
            let parked = try device.sidecar?.parked().map { "\($0.state.entity.name) \($0.reason)" } ?? []
            throw SimulationFailure(.waiting, ["device \(device.index)"] + parked)
        }
    }
}
