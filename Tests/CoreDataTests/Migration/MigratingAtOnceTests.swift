import Foundation
import MigrationScenarios
import TestSupport
import Testing

/// Several processes that find one store of an old version at the same time (T5): it is migrated once, and each of them ends with the new
/// one or with an error that says so.
@Suite(.serialized) struct MigratingAtOnceTests {
    private static let processes = 6
    /// `COREDATA_MEETINGS` asks for more rounds of each.
    private static let rounds = ProcessInfo.processInfo.environment["COREDATA_MEETINGS"].flatMap { Int($0) }

    private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("MigrationKiller")

    /// What each process printed where it failed.
    private func run(_ scenario: MigrationScenario, _ folder: URL) throws -> [String] {
        var running: [(process: Process, errors: Pipe)] = []
        for _ in 0..<Self.processes {
            let (process, errors) = (Process(), Pipe())
            process.executableURL = Self.executable
            process.arguments = [scenario.rawValue, folder.path, "0"]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = errors
            try process.run()
            running.append((process, errors))
        }
        return running.compactMap { process, errors in
            let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationReason == .exit, "\(scenario): a process crashed: \(text)")
            return process.terminationStatus == 0 ? nil : text
        }
    }

    @Test(arguments: Trials.some(of: MigrationScenario.allCases, atLeast: 5))
    func oneOfThemDoesIt(scenario: MigrationScenario) throws {
        let base = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: base) }
        let original = base.appendingPathComponent("original")
        try FileManager.default.createDirectory(at: original, withIntermediateDirectories: true)
        try scenario.prepare(original)
        // Who destroys a store needs it for himself for so short that programs seldom meet.
        for round in 1...(Self.rounds ?? Trials.count(scenario == .destroy ? 20 : 3)) {
            let folder = base.appendingPathComponent("\(round)")
            try FileManager.default.copyItem(at: original, to: folder)
            let failures = try run(scenario, folder)
            #expect(failures.count < Self.processes, "\(scenario): \(failures)")
            do {
                #expect(try scenario.state(folder) == scenario.states.new, "\(scenario): \(failures)")
            } catch { Issue.record("\(scenario), round \(round): \(error)\n\(failures)") }
            #expect(try scenario.leftovers(folder) == [], "\(scenario): \(failures)")
            #expect(try scenario.strayFiles(folder) == [], "\(scenario): \(failures)")
            try FileManager.default.removeItem(at: folder)
        }
    }
}
