import CrashConsistencyScenarios
import Foundation
import TestSupport
import Testing

/// The power fails while a program saves, migrates, replaces, backs up or synchronises: no acknowledged step is lost, and
/// no step is left half done.
@Suite struct PowerFailureTests {
    /// `COREDATA_CRASH_STATES=5000` checks more states of each scenario than the usual ones.
    private static let asked = ProcessInfo.processInfo.environment["COREDATA_CRASH_STATES"].flatMap { Int($0) }
    private static let scenarios =
        asked == nil ? Trials.some(of: Trials.some(of: CrashScenario.all)) : CrashScenario.all

    @Test(arguments: scenarios)
    func everyAcknowledgedStepSurvives(scenario: CrashScenario) throws {
        let prepared = try PreparedScenario(scenario)
        let recorded = try record(prepared)
        let crashes = CrashStates(recorded)
        var numbers = SeededNumbers(seed: UInt64(Trials.day))
        let states = choose(from: crashes, scenario, &numbers)
        var broken = 0
        for (state, acknowledged) in states {
            let folder = prepared.base.appendingPathComponent("state")
            defer { try? FileManager.default.removeItem(at: folder) }
            try crashes.tree(state).write(to: folder)
            do {
                try scenario.check(folder, acknowledged: acknowledged, isPowerFailure: true)
            } catch {
                broken += 1
                if broken <= 5 {
                    Issue.record("\(scenario) of \(recorded.calls.count) calls, \(state): \(error)")
                }
            }
        }
        #expect(broken == 0, "\(scenario): \(broken) of \(states.count) states")
        if Trials.isLong || Self.asked != nil {
            print("\(scenario): \(recorded.calls.count) calls, \(states.count) states, \(broken) broken")
        }
    }

    private func record(_ prepared: PreparedScenario) throws -> RecordedCalls {
        let scenario = prepared.scenario
        let log = prepared.base.appendingPathComponent("log")
        return try prepared.withCopy { folder in
            let before = try FolderScan(folder)
            let process = try ScenarioProcess("record", scenario.description, folder.path, log.path)
            #expect(process.status == 0, "\(scenario): \(process.errors)")
            #expect(process.failures == [])
            let recorded = try RecordedCalls(log: try Data(contentsOf: log), before: before)
            #expect(recorded.calls.filter { $0.kind == .unknown }.map(\.name) == [])
            #expect(recorded.calls.last { $0.kind == .mark }?.offset == scenario.lastStep)
            // All changes were recorded: replaying them makes the same files.
            var tree = before.tree
            for call in recorded.calls { tree.apply(call) }
            let (replayed, real) = (tree.contents, try FolderScan(folder).tree.contents)
            #expect(replayed.keys.sorted() == real.keys.sorted(), "\(scenario)")
            #expect(replayed == real, "\(scenario)")
            return recorded
        }
    }

    /// Different states, each with the last step that had been acknowledged in one of its cases.
    private func choose(
        from crashes: CrashStates, _ scenario: CrashScenario, _ numbers: inout SeededNumbers
    ) -> [(state: CrashStates.State, acknowledged: Int)] {
        let limit = max(6, (Self.asked ?? (Trials.isLong ? 600 : 24)) / scenario.cost)
        var seen: [Int: Int] = [:]
        var chosen: [(state: CrashStates.State, acknowledged: Int)] = []
        // From the end, so that the first case of a state is the one with the most acknowledged steps.
        var counts = Array(0...crashes.count).reversed().map { $0 }
        if counts.count > limit { counts = numbers.sample(of: counts, limit).sorted(by: >) }
        let singles = max(1, limit / counts.count)
        for count in counts {
            let states = crashes.states(after: count) { open in
                open.count > singles ? numbers.sample(of: open, singles) : open
            }
            for state in states {
                let fingerprint = crashes.tree(state).fingerprint
                guard seen.updateValue(count, forKey: fingerprint) == nil else { continue }
                chosen.append((state, crashes.acknowledged(state) ?? scenario.firstStep))
            }
        }
        return chosen.count > limit ? numbers.sample(of: chosen, limit) : chosen
    }
}

extension SeededNumbers {
    /// Different elements, in any order.
    mutating func sample<T>(of elements: [T], _ count: Int) -> [T] {
        Array(elements.shuffled(using: &self).prefix(count))
    }
}
