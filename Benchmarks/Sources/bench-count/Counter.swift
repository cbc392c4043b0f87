import Dispatch
import Foundation
import Measuring
import Sides
import Synchronization

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

    /// Instructions by workload and side, counted in as many processes at once as there are processors: the counts
    /// are those of one process.
    func count(_ workloads: [Workload], _ sides: [SideName]) throws -> [String: [String: Int]] {
        for workload in workloads { try stores.prepare(workload.contents, rows: rows) }
        let runs = workloads.flatMap { workload in sides.map { (workload: workload, side: $0) } }
        let results = Mutex<[Int: Result<(count: Int, digest: Digest), any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: runs.count) { [rows, kept, folder] index in
            let (workload, side) = runs[index]
            FileHandle.standardError.write(Data("\(workload.rawValue) \(side.rawValue) …\n".utf8))
            let result = Result { try Self.count(workload, side, rows: rows, in: folder, keptIn: kept) }
            results.withLock { $0[index] = result }
        }
        var counts: [String: [String: Int]] = [:]
        var digests: [String: Digest] = [:]
        for (index, run) in runs.enumerated() {
            guard let result = try results.withLock({ $0[index] })?.get() else { continue }
            let name = run.workload.rawValue
            counts[name, default: [:]][run.side.rawValue] = result.count
            if let first = digests[name], first != result.digest {
                throw MeasuringFailure("\(name): the sides did different work: [\(first)] and [\(result.digest)].")
            }
            digests[name] = result.digest
        }
        return counts
    }

    private static func count(
        _ workload: Workload, _ side: SideName, rows: Int, in folder: URL, keptIn kept: URL?
    ) throws -> (count: Int, digest: Digest) {
        let file = (kept ?? folder).appendingPathComponent("callgrind.out.\(workload.rawValue)-\(side.rawValue)")
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        let output = try Command.output(
            of: ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet", "--callgrind-out-file=\(file.path)"]
                + [program] + CountedWork.arguments(workload, side, rows: rows, folder: folder),
            // Without seeds the hash tables of Swift are the same in each run.
            adding: ["SWIFT_DETERMINISTIC_HASHING": "1"])
        return (try total(file), try JSONDecoder().decode(Digest.self, from: output))
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
