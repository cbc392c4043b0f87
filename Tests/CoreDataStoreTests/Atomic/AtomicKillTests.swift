import Foundation
import TestSupport
import Testing

/// Kills a process while it writes a store that is one file (S10); `Tests/SaveKiller` tells what it writes.
@Suite struct AtomicKillTests {
    private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("SaveKiller")

    private func run(_ arguments: [String]) throws -> (process: Process, output: Pipe) {
        let process = Process()
        process.executableURL = Self.executable
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return (process, output)
    }

    @Test(arguments: Trials.some(of: ["xml", "binary"]))
    func aProcessThatIsKilledLeavesTheOldFileOrTheNewOne(format: String) throws {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("Shop").path
        var numbers = SeededNumbers(seed: 11)
        var acknowledged: Int64 = 0
        for round in 0..<Trials.count(30) {
            let (process, output) = try run(["rewrite", path, format])
            let wanted = numbers.below(6) + 1
            var text = Data()
            while text.count(where: { $0 == UInt8(ascii: "\n") }) < wanted {
                let part = output.fileHandleForReading.availableData
                guard !part.isEmpty else { break }
                text.append(part)
            }
            // The moment of the kill is by chance: there is nothing to wait for.
            usleep(UInt32(numbers.below(3000)))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            text.append(output.fileHandleForReading.readDataToEndOfFile())
            let lines = text.prefix(upTo: (text.lastIndex(of: UInt8(ascii: "\n")) ?? text.startIndex - 1) + 1)
            let told = String(decoding: lines, as: UTF8.self).split(separator: "\n").compactMap { Int64($0) }
            #expect(told.count >= wanted, "round \(round)")
            acknowledged = told.last ?? acknowledged
            let (teller, answer) = try run(["tell", path, format])
            let said = String(decoding: answer.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                .split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
            teller.waitUntilExit()
            #expect(teller.terminationStatus == 0, "round \(round)")
            #expect(said.count == 2 && said[0] == said[1], "round \(round): half a save, \(said)")
            let saved = said.first ?? -1
            #expect(saved == acknowledged || saved == acknowledged + 1, "round \(round): saved, then lost")
            acknowledged = saved
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left.allSatisfy { ["Shop", ".Shop.saving"].contains($0) || $0.hasPrefix(".Shop.") }, "\(left)")
    }

    /// A limit on the size of files is as a full disk; the thread sanitizer keeps its marks in a larger one.
    @Test(
        .disabled(if: Sanitizer.name == "thread"),
        arguments: ["xml", "binary"])
    func aFullDiskLeavesTheOldFile(format: String) throws {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("Shop").path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = [
            "-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" rewrite \"$1\" \(format)", Self.executable.path, path,
        ]
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let told = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            .split(separator: "\n").compactMap { Int64($0) }
        let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 1)
        #expect(message.contains("full"), "\(message)")
        #expect(told.count > 3)
        let (teller, answer) = try run(["tell", path, format])
        let said = String(decoding: answer.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            .split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
        teller.waitUntilExit()
        #expect(said == [told.last ?? -1, told.last ?? -1])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Shop"], "no temporary file is left")
    }
}
