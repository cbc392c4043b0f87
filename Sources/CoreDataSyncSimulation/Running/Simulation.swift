import CoreData
import CoreDataSync
import CoreDataSyncEngine
import Foundation

/// Runs scenarios: devices, their stores and their place in one process.
///
///     let outcome = await Simulation.run(.random(ScenarioPlan(seed: 7, edits: 1_000)))
///     if let failure = outcome.failure { print(failure) }
///
/// After the last step the faults end, all clocks are right, and all devices exchange until nothing is left to
/// exchange. Then the devices are compared with each other, and with the ``Ledger`` of what their users saved.
package enum Simulation {
    /// What a run came to.
    package struct Outcome: Sendable {
        package var failure: SimulationFailure?
        /// The number of edits, batch requests included, that stores accepted.
        package var saved = 0
        package var exchanges = 0
        /// The number of objects in the end.
        package var objects = 0
        /// The number of values in journals.
        package var conflicts = 0
        /// The number of exchanges in which a device died, or its place failed.
        package var interruptions = 0
        /// The contents of all devices and of the place: equal for equal runs.
        package var fingerprint: [String] = []

        package init() {}
    }

    /// - Parameter place: makes the place of each device of the common one; for planted defects.
    package static func run(
        _ scenario: Scenario, place: @escaping @Sendable (Int, any SyncPlace) -> any SyncPlace = { $1 }
    ) async -> Outcome {
        do {
            let run = try SimulationRun(scenario, place)
            do { try await run.execute() } catch let failure as SimulationFailure {
                run.outcome.failure = failure
            } catch { run.outcome.failure = SimulationFailure(.error, ["\(error)"]) }
            try? run.close()
            return run.outcome
        } catch {
            var outcome = Outcome()
            outcome.failure = SimulationFailure(.error, ["\(error)"])
            return outcome
        }
    }
}

/// One run.
final class SimulationRun {
    let scenario: Scenario
    let world: SimulatedWorld
    var devices: [SimulatedDevice?] = []
    var ledger = Ledger()
    var outcome = Simulation.Outcome()
    /// The entity of each number.
    let entities: [Int: String]
    private let makePlace: @Sendable (Int, any SyncPlace) -> any SyncPlace

    init(_ scenario: Scenario, _ makePlace: @escaping @Sendable (Int, any SyncPlace) -> any SyncPlace) throws {
        (self.scenario, self.makePlace) = (scenario, makePlace)
        world = try SimulatedWorld(seed: scenario.seed)
        var entities: [Int: String] = [:]
        for step in scenario.steps {
            switch step {
            case .insert(_, let entity, let number, _): entities[number] = entity
            case .batchInsert(_, let entity, let first, let count):
                for number in first..<(first + count) { entities[number] = entity }
            case .set(_, _, let attribute, let value?):
                for kind in scenario.model.entities.flatMap(\.attributes) where kind.name == attribute {
                    if let digest = kind.kind.digest(value) { ledger.digests[digest] = value }
                }
            default: break
            }
        }
        self.entities = entities
        devices = Array(repeating: nil, count: scenario.devices.count)
        let copies = Set(scenario.steps.compactMap { if case .copy(_, let to) = $0 { to } else { nil } })
        for index in scenario.devices.indices where !copies.contains(index) { devices[index] = try makeDevice(index) }
    }

    private func makeDevice(_ index: Int) throws -> SimulatedDevice {
        let device = SimulatedDevice(
            index, scenario, scenario.devices[index], world, makePlace(index, world.place))
        try device.open()
        return device
    }

    var living: [SimulatedDevice] { devices.compactMap(\.self) }

    func close() throws { for device in living { try device.close() } }

    func execute() async throws {
        for (number, step) in scenario.steps.enumerated() {
            world.advance(milliseconds: 50)
            do { try await perform(step) } catch let failure as SimulationFailure { throw failure } catch {
                throw SimulationFailure(.error, ["step \(number), \(step): \(Self.text(error))"])
            }
        }
        try await settle()
        try check()
        try await checkFiles()
    }

    private static func text(_ error: any Error) -> String {
        let details = (error as? CocoaError)?.userInfo.map { "\($0.key): \($0.value)" }.sorted().prefix(6) ?? []
        return "\(error) \(error.localizedDescription) \(details.joined(separator: "; "))"
    }

    // MARK: Steps

    private func device(_ index: Int) -> SimulatedDevice? { devices.indices.contains(index) ? devices[index] : nil }

    private func perform(_ step: Step) async throws {
        if case .wait(let seconds) = step { return world.advance(seconds: seconds) }
        guard let device = step.device.flatMap({ self.device($0) }) else { return }
        if step.isEdit { return try device.edit(step, entities, &ledger) }
        try device.save(&ledger)
        switch step {
        case .exchange: try await exchange(device)
        case .die(_, let count):
            try await exchange(device, dyingAt: count)
            try device.restart()
        // A store that was never exchanged is attached anew after it was restored.
        case .backUp where device.isFile && device.isAttached:
            try device.close()
            try device.copyFiles(to: device.backupFolder)
            device.backedUpAt = ledger.entries.count
            try device.open()
        case .restore(_, let withSidecar): try restore(device, withSidecar)
        case .copy(_, let other):
            // What was never exchanged has no identity that both could share.
            if try await exchange(device) { try copy(device, to: other) }
        case .purgeHistory: try device.purgeHistory()
        case .upgrade: try device.upgrade()
        case .setClock(let index, let seconds): world.set(index, ahead: seconds)
        case .trouble(_, let trouble): device.place.set(trouble)
        case .lose: try await lose(device)
        default: break
        }
    }

    /// - Returns: whether the place was reached.
    @discardableResult
    func exchange(_ device: SimulatedDevice, dyingAt steps: Int? = nil) async throws -> Bool {
        world.advance(seconds: 1)
        let sent = ledger.entries.count
        ledger.beginExchange(of: device.index)
        outcome.exchanges += 1
        guard let summary = try await device.exchange(dyingAt: steps) else {
            outcome.interruptions += 1
            return false
        }
        device.sentUpTo = sent
        if summary.conflicts > 0 { try readJournal(device) }
        return true
    }

    func readJournal(_ device: SimulatedDevice) throws {
        for conflict in try device.sidecar?.conflicts() ?? [] {
            if case .blob(let digest, _) = conflict.losing.value {
                if let number = ledger.digests[digest] { ledger.journaled.insert(number) }
            } else if let number = SimulatedValue.number(of: conflict.losing.value) {
                ledger.journaled.insert(number)
            }
        }
    }

    private func restore(_ device: SimulatedDevice, _ withSidecar: Bool) throws {
        guard device.isFile, let position = device.backedUpAt else { return }
        try readJournal(device)
        try device.close()
        try device.takeFiles(from: device.backupFolder, withSidecar: withSidecar)
        ledger.restore(device.index, to: position, sent: device.sentUpTo)
        try device.open()
    }

    private func copy(_ device: SimulatedDevice, to index: Int) throws {
        guard device.isFile, devices.indices.contains(index), devices[index] == nil else { return }
        let other = SimulatedDevice(
            index, scenario, Scenario.Device(isFile: true, version: device.version), world,
            makePlace(index, world.place))
        try device.close()
        try device.copyFiles(to: other.folder)
        other.sentUpTo = device.sentUpTo
        try device.open()
        try other.open()
        devices[index] = other
    }

    /// Loses the oldest segment that a snapshot of its device contains.
    private func lose(_ device: SimulatedDevice) async throws {
        guard let id = device.sidecar?.settings.device else { return }
        let names = try await world.place.list(id.description)
        let snapshots = names.filter { $0.hasPrefix("snapshot") }.sorted()
        guard let last = snapshots.last, let data = try await world.place.read(last, in: id.description),
            let snapshot = try? Snapshot(bytes: data)
        else { return }
        for name in names.sorted() {
            guard case .segment(let number)? = FileName(name), snapshot.contains.contains(id, number) else { continue }
            return try await world.place.delete(name, in: id.description)
        }
    }
}

extension FaultyPlace {
    /// Ends all faults, and begins others.
    func set(_ trouble: PlaceTrouble) {
        heal()
        switch trouble {
        case .none: break
        case .late: faults = Faults(lateListings: 2)
        case .hidden: faults = Faults(hiddenFiles: 2)
        case .repeated: faults = Faults(repetitions: 2)
        case .torn: faults = Faults(tornFiles: 2)
        case .truncated: faults = Faults(truncations: 3)
        case .corrupted: faults = Faults(corruptions: 3)
        case .failing: faults = Faults(failures: 4)
        case .deaf: faults = Faults(lostAnswers: 3)
        case .rough: faults = .rough
        case .readOnly: isReadOnly = true
        case .full: isFull = true
        }
    }
}
