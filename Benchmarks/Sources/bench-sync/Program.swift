import Foundation
import Measuring

/// Measures synchronisation, each piece of work beside a comparison in the same run.
@main
struct Program {
    private var works = Work.allCases
    private var settings = Settings()
    /// The work to do over and over, for a profiler; nothing is compared then.
    private var profiled: Work?

    private static let usage = """
        OVERVIEW: Measures synchronisation, each piece of work beside a comparison in the same run.

        USAGE: bench-sync [--only capture,apply] [--rows 100000] [--rounds 5] [--devices 100,300,1000]
                          [--folder FOLDER] [--profile apply]

          --only     Only these: \(Work.allCases.map(\.rawValue).joined(separator: ", ")).
          --rows     The number of objects of capture, upload, apply and merge (100000).
          --rounds   Rounds after one to warm up (5); ratios are medians of the rounds' own.
          --devices  The numbers of devices that change the same objects (100,300,1000).
          --folder   Where stores and places are made; some 100 MB.
          --profile  Does one work `rounds` times without its comparison.

        Ratios are of processor time, but for 'save' and 'latency', which are of wall-clock time. ✗ marks a ratio above
        its goal, which is meant for 100,000 objects.
        """

    static func main() async {
        do {
            var program = Program()
            if try program.read(Array(CommandLine.arguments.dropFirst())) { try await program.run() }
        } catch {
            FileHandle.standardError.write(Data("bench-sync: \(error)\n".utf8))
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
            case "--only": works = try value.split(separator: ",").map { try Self.work(String($0)) }
            case "--rows": settings.rows = try Self.number(value, of: word)
            case "--rounds": settings.rounds = try Self.number(value, of: word)
            case "--devices":
                settings.devices = try value.split(separator: ",").map { try Self.number(String($0), of: word) }
            case "--folder": settings.parent = URL(fileURLWithPath: value)
            case "--profile": profiled = try Self.work(value)
            default: throw MeasuringFailure("\(word) is no option.\n\(Self.usage)")
            }
        }
        return true
    }

    private static func work(_ name: String) throws -> Work {
        guard let work = Work(rawValue: name) else {
            throw MeasuringFailure("There is no \(name); there are \(Work.allCases.map(\.rawValue)).")
        }
        return work
    }

    private static func number(_ text: String, of word: String) throws -> Int {
        guard let number = Int(text), number > 0 else {
            throw MeasuringFailure("\(word) takes a number above 0, not '\(text)'.")
        }
        return number
    }

    private func run() async throws {
        try FileManager.default.createDirectory(at: settings.folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: settings.folder) }
        if let profiled {
            for _ in 0..<settings.rounds { try await profiled.measurement(settings).profile() }
            return
        }
        var table = Table(
            ["work", "", "n", "each", "beside", "each", "ratio", "goal", ""], leading: [0, 1, 4, 8])
        for work in works {
            for line in try await work.measurement(settings).measure() {
                table.add([work.rawValue] + line.cells)
                print(line.cells.joined(separator: "  "))
            }
        }
        print(Machine(sqlite: "of the system").summary)
        print(table.text)
    }
}

/// What is measured.
enum Work: String, CaseIterable {
    case save, capture, upload, apply, merge, latency, devices

    func measurement(_ settings: Settings) -> any Measurement {
        switch self {
        case .save: SaveMeasurement(settings: settings)
        case .capture: CaptureMeasurement(settings: settings)
        case .upload: UploadMeasurement(settings: settings)
        case .apply: ApplyMeasurement(settings: settings)
        case .merge: MergeMeasurement(settings: settings)
        case .latency: LatencyMeasurement(settings: settings)
        case .devices: DevicesMeasurement(settings: settings)
        }
    }
}

protocol Measurement {
    init(settings: Settings)
    func measure() async throws -> [Line]
    /// The work once, without its comparison.
    func profile() async throws
}

struct Settings {
    var rows = 100_000
    var rounds = 5
    var devices = [100, 300, 1000]
    var parent = FileManager.default.temporaryDirectory

    var folder: URL {
        parent.appendingPathComponent("sync-benchmarks-\(ProcessInfo.processInfo.processIdentifier)")
    }

    /// Calls a closure with a new folder, which is removed afterwards.
    func inFolder<R>(_ body: (URL) async throws -> R) async throws -> R {
        let made = folder.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: made) }
        return try await body(made)
    }
}

/// One line of the table.
struct Line {
    var title: String
    var count: Int
    var ours: String
    var comparison = ""
    var theirs = ""
    var ratio: Double?
    var goal: Double?
    /// Says more than a ratio.
    var note = ""

    /// Microseconds for each of `count`, and the median of the rounds' ratios.
    init(_ title: String, _ count: Int, beside comparison: String, goal: Double?, _ rounds: [(Double, Double)]) {
        (self.title, self.count, self.comparison, self.goal) = (title, count, comparison, goal)
        ours = Self.microseconds(rounds.map(\.0), count)
        theirs = Self.microseconds(rounds.map(\.1), count)
        let ratios = rounds.map { $0.0 / $0.1 }
        ratio = Statistics.median(ratios)
        if let least = ratios.min(), let most = ratios.max() { note = String(format: "%.2f…%.2f", least, most) }
    }

    init(_ title: String, _ count: Int, _ value: String, goal: Double? = nil, note: String = "") {
        (self.title, self.count, ours, self.goal, self.note) = (title, count, value, goal, note)
    }

    private static func microseconds(_ seconds: [Double], _ count: Int) -> String {
        String(format: "%.2f µs", (Statistics.median(seconds) ?? 0) * 1e6 / Double(count))
    }

    var cells: [String] {
        let failed = ratio.flatMap { ratio in goal.map { ratio > $0 } } ?? false
        return [
            title, Report.grouped(count), ours, comparison, theirs, ratio.map { String(format: "%.2f", $0) } ?? "",
            goal.map { String(format: "%.2f", $0) } ?? "", (failed ? "✗ " : "") + note,
        ]
    }
}
