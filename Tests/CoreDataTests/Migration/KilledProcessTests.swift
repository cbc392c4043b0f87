import Foundation
import MigrationScenarios
import TestSupport
import Testing

/// Kills a process in place of each change that it makes to a file while it migrates, replaces, moves or saves a store
/// (T5, T9, S2, S3, U4): what is left is what there was or what there is to be, and doing it again leads to the end.
@Suite struct KilledProcessTests {
    /// `COREDATA_KILLS=100` asks for more of each than the usual 8; a negative number for all.
    private static let asked = ProcessInfo.processInfo.environment["COREDATA_KILLS"].flatMap { Int($0) }

    /// The changes that are stopped, of so many; some of the usual ones in the short form.
    private static func points(of changes: Int, _ numbers: inout SeededNumbers) -> [Int] {
        let count = asked ?? 8
        if count < 0 || count >= changes { return Array(1...max(1, changes)) }
        let points = (0..<count).map { _ in 1 + numbers.below(changes) }
        return asked == nil ? Trials.some(of: points) : points
    }

    /// The scenarios: a quarter of them in the short form, which stops each at a quarter of its points.
    private static let scenarios = Trials.some(of: MigrationScenario.allCases)
    /// The scenarios whose disk fails: as many, others on most days.
    private static let scenariosOfDisks = Trials.some(of: MigrationScenario.allCases)

    private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("MigrationKiller")

    private func run(
        _ scenario: MigrationScenario, _ folder: URL, _ number: Int, _ end: String = ""
    ) throws -> (
        output: String, mistakes: String, reason: Process.TerminationReason, status: Int32
    ) {
        let process = Process()
        process.executableURL = Self.executable
        process.arguments = [scenario.rawValue, folder.path, String(number), end]
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let mistakes = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (
            String(decoding: text, as: UTF8.self), mistakes, process.terminationReason, process.terminationStatus
        )
    }

    private func withCopy(of original: URL, _ body: (URL) throws -> Void) throws {
        let folder = original.deletingLastPathComponent().appendingPathComponent("copy")
        try FileManager.default.copyItem(at: original, to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    /// How many changes a process makes to files where nothing stops it.
    private func changes(_ scenario: MigrationScenario, _ original: URL) throws -> Int {
        var changes = 0
        try withCopy(of: original) { folder in
            let outcome = try run(scenario, folder, 0)
            #expect(outcome.status == 0, "\(scenario): \(outcome.mistakes)")
            changes = Int(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
            #expect(try scenario.state(folder) == scenario.states.new)
            #expect(try scenario.leftovers(folder) == [])
        }
        #expect(changes >= 3)
        return changes
    }

    @Test(arguments: scenarios)
    func whatIsLeftIsOldOrNew(scenario: MigrationScenario) throws {
        let base = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: base) }
        let original = base.appendingPathComponent("original")
        try FileManager.default.createDirectory(at: original, withIntermediateDirectories: true)
        try scenario.prepare(original)
        #expect(try scenario.state(original) == scenario.states.old)

        let changes = try changes(scenario, original)
        var numbers = SeededNumbers(seed: 23)
        let points = Self.points(of: changes, &numbers)
        var found: [String: Int] = [:]
        for point in points {
            let half = numbers.chance(3)
            try withCopy(of: original) { folder in
                let outcome = try run(scenario, folder, point, half ? "half" : "")
                // A few changes come now and then, as where a log is begun anew.
                guard outcome.reason == .uncaughtSignal else {
                    #expect(outcome.status == 0, "\(scenario) \(point): \(outcome.mistakes)")
                    return
                }
                let name = "\(scenario.rawValue): killed at \(point) of \(changes)\(half ? ", half way" : "")"
                do {
                    let state = try scenario.state(folder)
                    found[state, default: 0] += 1
                    let (old, new, between) = scenario.states
                    #expect(([old, new] + between).contains(state), "\(name)")
                    try scenario.run(folder)
                    #expect(try scenario.state(folder) == new, "\(name), then done again from \(state)")
                    // They go with the next store that is made anew, or that is opened to be migrated; what was left to do later need not do
                    // either. SQLite's journal of a transaction that was over goes with the next that writes.
                    let left = try scenario.leftovers(folder)
                    if state == old {
                        #expect(left == [], "\(name), then done again from \(state)")
                    } else if scenario.looksForLeavings {
                        let others = left.filter { !$0.hasSuffix("-journal") }
                        #expect(others == [], "\(name), then done again from \(state)")
                    }
                } catch { Issue.record("\(name): \(error)") }
            }
        }
        if Self.asked != nil { print("\(scenario.rawValue): \(points.count) kills of \(changes): \(found)") }
    }

    /// SQLite does not say why it cannot make a file beside the database.
    private static let wordsOfFullDisks = ["full", "No space left", "enough space", "SQLite 14"]

    /// A change that fails, or a disk that is full from there on, is an error, and leaves what there was or what there is to be; or it is
    /// coped with.
    @Test(arguments: scenariosOfDisks)
    func aFailingDiskLeavesOldOrNew(scenario: MigrationScenario) throws {
        let base = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: base) }
        let original = base.appendingPathComponent("original")
        try FileManager.default.createDirectory(at: original, withIntermediateDirectories: true)
        try scenario.prepare(original)
        let changes = try changes(scenario, original)
        let (old, new, between) = scenario.states
        var numbers = SeededNumbers(seed: 29)
        let points = Self.points(of: changes, &numbers)
        var found: [String: Int] = [:]
        for point in points {
            let end = numbers.chance(2) ? "fail" : "full"
            try withCopy(of: original) { folder in
                let outcome = try run(scenario, folder, point, end)
                let name = "\(scenario.rawValue): \(end) at \(point) of \(changes)"
                #expect(outcome.reason == .exit, "\(name): \(outcome.mistakes)")
                do {
                    let state = try scenario.state(folder)
                    found["\(outcome.status == 0 ? "done" : "failed"), \(state)", default: 0] += 1
                    #expect(
                        outcome.status == 0 ? state == new : ([old, new] + between).contains(state),
                        "\(name), \(state): \(outcome.mistakes)")
                    #expect(
                        outcome.status == 0 || outcome.mistakes.contains("Error Domain="),
                        "\(name): \(outcome.mistakes)")
                    #expect(
                        outcome.status == 0 || end == "fail"
                            || Self.wordsOfFullDisks.contains(where: outcome.mistakes.contains),
                        "\(name): \(outcome.mistakes)")
                    try scenario.run(folder)
                    #expect(try scenario.state(folder) == new, "\(name), then done again from \(state)")
                } catch { Issue.record("\(name): \(error), after \(outcome.mistakes)") }
            }
        }
        if Self.asked != nil { print("\(scenario.rawValue): \(points.count) failures of \(changes): \(found)") }
    }
}
