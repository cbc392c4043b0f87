import CrashConsistencyScenarios
import Foundation
import TestSupport
import Testing

/// One system call of a program fails: the step reports an error or succeeds, and the next attempt completes it. Nothing
/// is left half done, no file stays open, and no temporary file remains.
@Suite struct FailingCallTests {
    /// `COREDATA_FAILING_CALLS=-1` tries all calls of all scenarios with each kind of failure.
    private static let asked = ProcessInfo.processInfo.environment["COREDATA_FAILING_CALLS"].flatMap { Int($0) }
    private static let scenarios =
        asked == nil ? Trials.some(of: Trials.some(of: CrashScenario.all)) : CrashScenario.all

    private struct Trial {
        var number: Int
        var kind: CallKind
        var failure: String
    }

    @Test(arguments: scenarios)
    func oneFailedCallLeavesNothingHalfDone(scenario: CrashScenario) throws {
        let prepared = try PreparedScenario(scenario)
        var names: Set<String> = []
        let trials = try prepared.withCopy { folder in
            let process = try ScenarioProcess("fail", scenario.description, folder.path, "0", "full")
            #expect(process.status == 0 && process.steps.last == scenario.lastStep, "\(process.errors)")
            names = Self.names(try FolderScan(folder).tree)
            return chosen(process.kinds)
        }
        #expect(trials.count > 0)
        var outcomes: [String: Int] = [:]
        for trial in trials {
            try prepared.withCopy { folder in
                let name = "\(scenario): call \(trial.number), \(trial.kind), \(trial.failure)"
                let process = try ScenarioProcess(
                    "fail", scenario.description, folder.path, "\(trial.number)", trial.failure)
                outcomes[process.failures.isEmpty ? "unnoticed" : "reported", default: 0] += 1
                check(process, scenario, trial, name)
                do {
                    if trial.kind != .unlink, trial.kind != .removeFolder {
                        let left = Self.names(try FolderScan(folder).tree).subtracting(names)
                        #expect(left == [], "\(name): files are left")
                    }
                    try scenario.check(
                        folder, acknowledged: process.steps.last ?? scenario.firstStep, isPowerFailure: false)
                } catch { Issue.record("\(name): \(error), after \(process.failures)") }
            }
        }
        if Trials.isLong || Self.asked != nil { print("\(scenario): \(trials.count) failed calls, \(outcomes)") }
    }

    private func check(_ process: ScenarioProcess, _ scenario: CrashScenario, _ trial: Trial, _ name: String) {
        #expect(!process.isCrash, "\(name): signal \(process.status)")
        #expect(process.status == 0, "\(name): the second attempt fails too: \(process.errors), \(process.failures)")
        if process.status == 0 {
            #expect(process.steps.last == scenario.lastStep, "\(name)")
            #expect(process.end.last == 0, "\(name): \(process.end.last ?? -1) files are still open")
        }
        #expect(process.failures.count <= 1, "\(name): \(process.failures)")
        if trial.failure == "short" || (trial.failure == "interrupt" && trial.kind.mustSurviveSignal) {
            #expect(process.failures == [], "\(name)")
        }
        for text in process.failures { #expect(Self.isClear(text), "\(name): \(text)") }
    }

    /// Whether a message names a reason, not only a number.
    private static func isClear(_ text: String) -> Bool { text.count > 30 && text.contains(" ") }

    /// The calls to fail: each once with an error, and once with what a program must survive, if there is such a thing.
    private func chosen(_ kinds: [CallKind]) -> [Trial] {
        var trials: [Trial] = []
        for (index, kind) in kinds.enumerated() {
            let isEven = index % 2 == 0
            let failures =
                Self.asked == -1
                ? ["full", "error", "interrupt", "short"]
                : [isEven ? "full" : "error", kind == .write && isEven ? "short" : "interrupt"]
            for failure in failures {
                if failure == "short", kind != .write { continue }
                if failure == "interrupt", !kind.isInterruptible { continue }
                trials.append(Trial(number: index + 1, kind: kind, failure: failure))
            }
        }
        let limit = Self.asked ?? (Trials.isLong ? 60 : 5)
        guard limit >= 0, trials.count > limit else { return trials }
        var numbers = SeededNumbers(seed: UInt64(Trials.day))
        return numbers.sample(of: trials, limit)
    }

    /// The paths of all files, without the parts that are random. A log remains if SQLite could not empty it; a folder
    /// `.migrating-…` that could not be deleted is deleted when the next store is made there (`KilledProcessTests`). External
    /// files that no row names any more remain if the commit that released them could not be synchronised.
    private static func names(_ tree: FileTree) -> Set<String> {
        Set(
            tree.contents.keys.filter { path in
                !path.hasSuffix("-wal") && !path.hasPrefix(".migrating-") && !path.contains("_EXTERNAL_DATA/")
            }.map { path in
                path.replacing(/[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27}/, with: "*").replacing(/[0-9a-f]{12,}/, with: "*")
            })
    }
}
