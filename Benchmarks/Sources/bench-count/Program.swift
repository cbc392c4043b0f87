import Foundation
import Measuring
import RawSQLite
import Sides

/// Counts the instructions that workloads take, and compares them with those of a baseline.
@main
struct Program {
    static func main() {
        do {
            try Program(words: Array(CommandLine.arguments.dropFirst())).run()
        } catch {
            FileHandle.standardError.write(Data("bench-count: \(error)\n".utf8))
            exit(1)
        }
    }

    static let usage = """
        OVERVIEW: Counts the processor's instructions of workloads with valgrind; of the work alone, after a warm-up.

        USAGE: bench-count check FILE                  Compares with the baseline in FILE; fails above 5 %.
               bench-count baseline FILE               Counts and writes FILE.
               bench-count W2,W6 [ours|raw]            Counts these workloads, of one side or both.
                     --rows N      Objects (10,000).
                     --keep FOLDER Leaves callgrind's files there, for callgrind_annotate.

        The SWIFT in the environment, or else swift, tells with its version what built this program.
        """

    private var words: [String]
    private var rows = 10_000
    private var kept: URL?

    private init(words: [String]) throws {
        self.words = []
        var words = words[...]
        while let word = words.popFirst() {
            switch word {
            case "--rows":
                guard let text = words.popFirst(), let number = Int(text), number > 0 else {
                    throw MeasuringFailure("--rows takes a number above 0.")
                }
                rows = number
            case "--keep":
                guard let path = words.popFirst() else { throw MeasuringFailure("--keep takes a folder.") }
                kept = URL(fileURLWithPath: path)
            default: self.words.append(word)
            }
        }
    }

    private func run() throws {
        switch (words.first, words.count) {
        case (nil, _), ("--help", _), ("-h", _): print(Self.usage)
        case (CountedWork.word, 5): try CountedWork(words: words).run()
        case ("check", 2): try check(URL(fileURLWithPath: words[1]))
        case ("baseline", 2): try writeBaseline(URL(fileURLWithPath: words[1]))
        case (_, 1), (_, 2): try count()
        default: throw MeasuringFailure("Cannot tell what '\(words.joined(separator: " "))' means.\n\n\(Self.usage)")
        }
    }

    private func check(_ file: URL) throws {
        let baseline = try Baseline(contentsOf: file)
        let found = try measure(Baseline.workloads.map(\.rawValue), SideName.counted, rows: baseline.rows)
        let comparison = Comparison(baseline: baseline, found: found)
        print(comparison.text)
        if comparison.fails { exit(1) }
    }

    private func writeBaseline(_ file: URL) throws {
        let found = try measure(Baseline.workloads.map(\.rawValue), SideName.counted, rows: rows)
        try found.write(to: file)
        print(found.table.text)
    }

    private func count() throws {
        let sides = try words.count < 2 ? SideName.counted : [Self.side(words[1])]
        let found = try measure(words[0].split(separator: ",").map(String.init), sides, rows: rows)
        print(found.table.text)
    }

    private static func side(_ name: String) throws -> SideName {
        guard let side = SideName.counted.first(where: { $0.rawValue == name }) else {
            throw MeasuringFailure("No side '\(name)'; there are ours and raw.")
        }
        return side
    }

    private func measure(_ names: [String], _ sides: [SideName], rows: Int) throws -> Baseline {
        let workloads = try names.map { name in
            guard let workload = Workload(rawValue: name) else { throw MeasuringFailure("No workload '\(name)'.") }
            return workload
        }
        let counter = try Counter(rows: rows, kept: kept)
        defer { counter.finish() }
        var found = Baseline(rows: rows, versions: try Versions.here())
        found.counts = try counter.count(workloads, sides)
        return found
    }
}

extension SideName {
    /// The sides whose instructions are counted.
    static let counted = [SideName.ours, .raw]
}
