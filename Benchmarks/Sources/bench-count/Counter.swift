import Foundation
import Measuring
import Sides

/// Starts this program under valgrind, once for each workload and side.
struct Counter {
    private let rows: Int
    private let kept: URL?
    private let folder: URL
    private let stores: Stores

    init(rows: Int, kept: URL?) throws {
        self.rows = rows
        self.kept = kept
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("bench-count-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if let kept { try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: true) }
        let ours = CoreDataSide()
        stores = Stores(folder: folder) { try CoreDataSide.close(ours.open($0)) }
    }

    /// Removes the stores.
    func finish() { try? FileManager.default.removeItem(at: folder) }

    /// Instructions by side.
    func count(_ workload: Workload, _ sides: [SideName]) throws -> [String: Int] {
        try stores.prepare(workload.contents, rows: rows)
        var counts: [String: Int] = [:]
        var first: Digest?
        for side in sides {
            FileHandle.standardError.write(Data("\(workload.rawValue) \(side.rawValue) …\n".utf8))
            let (count, digest) = try count(workload, side)
            counts[side.rawValue] = count
            if let first, first != digest {
                throw MeasuringFailure(
                    "\(workload.rawValue): the sides did different work: [\(first)] and [\(digest)].")
            }
            first = digest
        }
        return counts
    }

    private func count(_ workload: Workload, _ side: SideName) throws -> (Int, Digest) {
        let file = (kept ?? folder).appendingPathComponent("callgrind.out.\(workload.rawValue)-\(side.rawValue)")
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        let output = try Command.output(
            of: ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet", "--callgrind-out-file=\(file.path)"]
                + [program] + CountedWork.arguments(workload, side, rows: rows, folder: folder),
            // Without seeds the hash tables of Swift are the same in each run.
            adding: ["SWIFT_DETERMINISTIC_HASHING": "1"])
        return (try Self.total(file), try JSONDecoder().decode(Digest.self, from: output))
    }

    /// The number in the line `totals: N` of callgrind's file.
    private static func total(_ file: URL) throws -> Int {
        let text = try String(contentsOf: file, encoding: .utf8)
        for line in text.split(separator: "\n").reversed() where line.hasPrefix("totals:") {
            if let total = Int(line.dropFirst("totals:".count).trimmingCharacters(in: .whitespaces)), total > 0 {
                return total
            }
        }
        throw MeasuringFailure("callgrind counted nothing: \(file.path).")
    }
}

/// A program that is found in PATH.
enum Command {
    /// What it prints; its errors go where ours go.
    static func output(of words: [String], adding environment: [String: String] = [:]) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw MeasuringFailure("'\(words[0])' failed with status \(process.terminationStatus).")
        }
        return data
    }

    static func firstLine(of words: [String]) throws -> String {
        let text = String(decoding: try output(of: words), as: UTF8.self)
        return text.split(separator: "\n").first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
    }
}
