import CoreData
import Foundation
import Testing

/// Many contexts, some of them children, in two processes on one file: nothing is lost, nobody waits for ever, nothing is left behind
/// (I1, I9, J2, K3, L3, O2). `Tests/ContextStress` tells what they do.
@Suite struct StressTests {
    private static var seconds: Double {
        ProcessInfo.processInfo.environment["STRESS_SECONDS"].flatMap(Double.init) ?? 8
    }

    private func start(_ arguments: [String]) throws -> (process: Process, error: Pipe) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("ContextStress")
        process.arguments = arguments
        let error = Pipe()
        process.standardError = error
        try process.run()
        return (process, error)
    }

    private func finish(_ started: (process: Process, error: Pipe)) -> String? {
        let text = String(decoding: started.error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        started.process.waitUntilExit()
        return started.process.terminationStatus == 0
            ? nil : "\(started.process.terminationStatus): \(text.suffix(4000))"
    }

    @Test func contextsAndProcessesOnOneFileLoseNothing() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("stress-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("Stress.sqlite").path
        let reports = ["p", "q"].map { folder.appendingPathComponent("\($0).json").path }
        try #require(finish(try start(["create", store])) == nil)
        let seed = UInt64.random(in: 0...UInt64(UInt32.max))
        let running = try zip(["p", "q"], reports).enumerated().map { index, pair in
            try start(["run", store, "\(Self.seconds)", "\(seed + UInt64(index))", pair.0, pair.1])
        }
        for started in running {
            let failure = finish(started)
            #expect(failure == nil, "seed \(seed)")
        }
        let failure = finish(try start(["check", store] + reports))
        #expect(failure == nil, "seed \(seed)")
    }
}
