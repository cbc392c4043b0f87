import Foundation
import MigrationScenarios
import TestSupport
import Testing

/// Stops a process before one of the changes that it makes to files, lets another one do the same to the same store, and has the first go
/// on: each file that a row refers to is there in the end, and no other (T5, S2, S3, U4).
///
/// The second process ends while the first is stopped, or waits for its turn until the first has ended.
@Suite(.serialized) struct StoppedProcessTests {
    /// `COREDATA_STOPS` asks for more of each; a negative number for all.
    private static let count =
        ProcessInfo.processInfo.environment["COREDATA_STOPS"].flatMap { Int($0) } ?? Trials.count(8)

    private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("MigrationKiller")

    private final class Run {
        private let process = Process()
        private let output = Pipe()
        private let errors = Pipe()

        init(_ scenario: MigrationScenario, _ folder: URL, _ number: Int, _ end: String = "") throws {
            process.executableURL = StoppedProcessTests.executable
            process.arguments = [scenario.rawValue, folder.path, String(number), end]
            process.standardOutput = output
            process.standardError = errors
            try process.run()
        }

        /// Waits until the process is stopped; `false` where it ended before.
        func waitForStop() -> Bool {
            String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).hasPrefix("stopped")
        }

        /// Waits for the end, but no longer than that.
        func wait(_ seconds: Double) {
            let end = Date() + seconds
            while process.isRunning, Date() < end { usleep(2_000) }
        }

        func goOn() {
            // It says that it is about to stop, so that it may not have done so yet.
            while process.isRunning, !isStopped { usleep(500) }
            kill(process.processIdentifier, SIGCONT)
        }

        private var isStopped: Bool {
            let text = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
            return text?.split(separator: ")").last?.hasPrefix(" T") ?? true
        }

        /// Waits for the end.
        func outcome() -> (status: Int32, isCrash: Bool, output: String, errors: String) {
            let text = output.fileHandleForReading.readDataToEndOfFile()
            let mistakes = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (
                process.terminationStatus, process.terminationReason != .exit, String(decoding: text, as: UTF8.self),
                String(decoding: mistakes, as: UTF8.self)
            )
        }
    }

    /// How many changes a process makes to files where nothing stops it, and how many seconds it takes.
    private func measure(
        _ scenario: MigrationScenario, _ original: URL, _ folder: URL
    ) throws -> (changes: Int, seconds: Double) {
        try FileManager.default.copyItem(at: original, to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let start = Date()
        let outcome = try Run(scenario, folder, 0).outcome()
        #expect(outcome.status == 0, "\(scenario): \(outcome.errors)")
        let changes = Int(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
        return (changes, Date().timeIntervalSince(start))
    }

    /// Those that move, copy or remove files of external data, and take no lock of their own.
    private static let scenarios: [MigrationScenario] = [
        .lightweight, .mapped, .chain, .staged, .replace, .move, .destroy, .save,
    ]

    /// Each scenario with each end; in the short form a quarter of these pairs.
    private static let trials = Trials.some(
        of: scenarios.flatMap { scenario in ["stop", "stop-fail"].map { (scenario, $0) } })

    @Test(arguments: trials)
    func anotherProcessComesInBetween(scenario: MigrationScenario, end: String) throws {
        let base = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: base) }
        let (original, folder) = (base.appendingPathComponent("original"), base.appendingPathComponent("copy"))
        try FileManager.default.createDirectory(at: original, withIntermediateDirectories: true)
        try scenario.prepare(original)
        let (changes, seconds) = try measure(scenario, original, folder)
        #expect(changes >= 3)
        var numbers = SeededNumbers(seed: Trials.seeds(28)[0])
        let points =
            Self.count < 0 || Self.count >= changes
            ? Array(1...max(1, changes)) : (0..<Self.count).map { _ in 1 + numbers.below(changes) }
        for point in points {
            try FileManager.default.copyItem(at: original, to: folder)
            defer { try? FileManager.default.removeItem(at: folder) }
            let name = "\(scenario.rawValue): \(end) at \(point) of \(changes)"
            let first = try Run(scenario, folder, point, end)
            let isStopped = first.waitForStop()
            let second = try Run(scenario, folder, 0)
            second.wait(seconds * 4)
            if isStopped { first.goOn() }
            let outcomes = [first.outcome(), second.outcome()]
            let mistakes = outcomes.map(\.errors).joined(separator: "; ")
            #expect(!outcomes.contains { $0.isCrash }, "\(name): \(mistakes)")
            // Where the first has to fail the second may have waited for it for too long.
            let isDone = outcomes.contains { $0.status == 0 }
            #expect(isDone || end == "stop-fail", "\(name): \(mistakes)")
            let (old, new, between) = scenario.states
            do {
                let state = try scenario.state(folder)
                #expect((isDone ? [new] : [old, new] + between).contains(state), "\(name), \(state): \(mistakes)")
                // A file that could not be removed stays.
                if end == "stop" {
                    #expect(try scenario.leftovers(folder) == [], "\(name): \(mistakes)")
                    #expect(try scenario.strayFiles(folder) == [], "\(name): \(mistakes)")
                }
            } catch { Issue.record("\(name): \(error), after \(mistakes)") }
        }
    }
}
