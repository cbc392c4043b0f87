import CrashConsistencyScenarios
import Foundation
import TestSupport
import Testing

/// A run of `SystemCallsProgram`, and what it printed.
struct ScenarioProcess {
    /// The steps that have returned.
    private(set) var steps: [Int] = []
    /// The errors of steps that were repeated.
    private(set) var failures: [String] = []
    private(set) var errors = ""
    private(set) var status: Int32 = 0
    private(set) var isCrash = false
    /// The number of counted calls, the kind of the one that failed, the number of files that were left open.
    private(set) var end: [Int] = []
    /// The kinds of the counted calls.
    private(set) var kinds: [CallKind] = []

    private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("SystemCallsProgram")

    struct Hangs: Error {}

    /// - Throws: ``Hangs`` if the program does not end within two minutes.
    init(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = Self.executable
        process.arguments = arguments
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let identifier = process.processIdentifier
        let limit = DispatchWorkItem { kill(identifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 120, execute: limit)
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        self.errors = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        limit.cancel()
        status = process.terminationStatus
        isCrash = process.terminationReason == .uncaughtSignal
        if isCrash, status == SIGKILL { throw Hangs() }
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            switch words.first {
            case "mark": if let number = words.last.flatMap({ Int($0) }) { steps.append(number) }
            case "failed": failures.append(words.count > 1 ? String(words[1]) : "")
            case "kinds":
                kinds = line.split(separator: " ").dropFirst().map { CallKind(rawValue: Int($0) ?? 0) ?? .other }
            case "end": end = line.split(separator: " ").dropFirst().compactMap { Int($0) }
            default: break
            }
        }
    }
}

/// The kinds of calls that can fail; the numbers are those of `SystemCalls.h`.
enum CallKind: Int {
    case other = 0
    case makeFolder = 2
    case write, resize, synchronize, rename, unlink, removeFolder, link
    case open = 12
    case map

    /// Whether the program must repeat the call after a signal interrupted it. SQLite reports an interrupted `fsync`,
    /// Foundation an interrupted `open`: both are sound, and do not occur on local file systems.
    var mustSurviveSignal: Bool { [.write, .resize].contains(self) }
    /// Whether a signal may interrupt the call at all.
    var isInterruptible: Bool { mustSurviveSignal || [.open, .synchronize].contains(self) }
}

/// A folder with the files of a scenario before it runs.
final class PreparedScenario {
    let scenario: CrashScenario
    /// A folder for copies and states.
    let base: URL
    let original: URL

    init(_ scenario: CrashScenario) throws {
        self.scenario = scenario
        base = try Fixtures.temporaryFolder().resolvingSymlinksInPath()
        original = base.appendingPathComponent("original")
        try FileManager.default.createDirectory(at: original, withIntermediateDirectories: true)
        try scenario.prepare(original)
    }

    deinit { try? FileManager.default.removeItem(at: base) }

    /// Runs the body with a copy of the files.
    func withCopy<R>(_ body: (URL) throws -> R) throws -> R {
        let folder = base.appendingPathComponent("copy")
        try FileManager.default.copyItem(at: original, to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }
}
