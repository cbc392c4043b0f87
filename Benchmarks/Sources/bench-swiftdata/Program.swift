import Foundation
import Measuring

/// Measures SwiftData beside Core Data with generated classes: the same work on the same rows, in turn.
@main
struct Program {
    private var works = Work.allCases
    private var rows = 100_000
    private var rounds = 7
    /// Which of the two to run over and over, for a profiler.
    private var profiled: String?

    private static let usage = """
        OVERVIEW: Measures SwiftData beside Core Data with generated classes, in turn.

        USAGE: bench-swiftdata [--only S1,S2] [--rows 100000] [--rounds 7] [--profile SwiftData|CoreData]
        """

    static func main() {
        do {
            var program = Program()
            if try program.read(Array(CommandLine.arguments.dropFirst())) { try program.run() }
        } catch {
            FileHandle.standardError.write(Data("bench-swiftdata: \(error)\n".utf8))
            exit(1)
        }
    }

    private mutating func read(_ words: [String]) throws -> Bool {
        var words = words[...]
        while let word = words.popFirst() {
            if word == "--help" || word == "-h" {
                print(Self.usage)
                return false
            }
            guard let value = words.popFirst() else { throw MeasuringFailure("\(word) needs a value.") }
            switch word {
            case "--only":
                works = try value.split(separator: ",").map { name in
                    guard let work = Work(rawValue: String(name)) else {
                        throw MeasuringFailure("There is no \(name); there are \(Work.allCases.map(\.rawValue)).")
                    }
                    return work
                }
            case "--rows": rows = Int(value) ?? rows
            case "--rounds": rounds = Int(value) ?? rounds
            case "--profile": profiled = value
            default: throw MeasuringFailure("\(word) is no option.\n\(Self.usage)")
            }
        }
        return true
    }

    private func run() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("swiftdata-benchmarks-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var table = Table(["work", "", "n", "SwiftData µs", "Core Data µs", "ratio", "goal", ""], leading: [0, 1, 7])
        for work in works {
            let lanes = try [
                Lane(ModelContender(), work, rows, folder.appendingPathComponent("models-\(work.rawValue)")),
                Lane(ManagedContender(), work, rows, folder.appendingPathComponent("managed-\(work.rawValue)")),
            ]
            if let profiled {
                let lane = lanes[profiled == "SwiftData" ? 0 : 1]
                for _ in 0..<rounds { _ = try lane.round() }
                continue
            }
            table.add(try measure(work, lanes))
        }
        if profiled == nil { print(table.text) }
    }

    private func measure(_ work: Work, _ lanes: [Lane]) throws -> [String] {
        var ours: [Double] = []
        var theirs: [Double] = []
        // The first round warms up.
        for round in 0...rounds {
            let (mine, found) = try lanes[0].round()
            let (other, expected) = try lanes[1].round()
            guard found == expected else {
                throw MeasuringFailure("\(work.rawValue): they did different work: [\(found)] and [\(expected)].")
            }
            guard round > 0 else { continue }
            ours.append(mine)
            theirs.append(other)
        }
        let ratio = Statistics.median(zip(ours, theirs).map { $0 / $1 }) ?? 0
        let each = 1e6 / Double(work == .fetchPage || work == .fetchFew ? 1 : work.count(rows))
        return [
            work.rawValue, work.title, Report.grouped(work.count(rows)),
            String(format: "%.4f", (Statistics.median(ours) ?? 0) * each),
            String(format: "%.4f", (Statistics.median(theirs) ?? 0) * each), String(format: "%.2f", ratio),
            work.goal.map { String(format: "%.1f", $0) } ?? "–", work.goal.map { ratio <= $0 ? "" : "✗" } ?? "",
        ]
    }
}

/// One contender's way through the rounds of a piece of work.
private final class Lane {
    private let contender: any Contender
    private let work: Work
    private let folder: URL
    private let samples: [Sample]
    private var number = 0

    init(_ contender: any Contender, _ work: Work, _ rows: Int, _ folder: URL) throws {
        self.contender = contender
        self.work = work
        self.folder = folder
        samples = Sample.make(work.count(rows))
        if !work.needsNewStore { try open(samples) }
    }

    private func open(_ samples: [Sample]) throws {
        number += 1
        let place = folder.appendingPathComponent("\(number)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try contender.open(place.appendingPathComponent("notes.store").path, work, samples)
    }

    /// Seconds of processor time that the work takes once, and what it found or left.
    func round() throws -> (seconds: Double, digest: Digest) {
        if work.needsNewStore { try open([]) }
        try contender.prepare(work)
        let (seconds, digest) = try Stopwatch.time {
            var digest = Digest()
            for _ in 0..<work.repeats { digest = try contender.run(work, samples) }
            return digest
        }
        let found = work.needsNewStore || work == .update ? try contender.contents() : digest
        if work.needsNewStore { try? FileManager.default.removeItem(at: folder.appendingPathComponent("\(number)")) }
        return (seconds / Double(work.repeats), found)
    }
}
