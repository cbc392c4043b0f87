import Foundation
import Measuring

/// Measures stores on a server of PostgreSQL's beside plain calls of libpq: needs the package's trait `PostgreSQL`.
@main
struct Program {
    static let usage = """
        OVERVIEW: Measures stores in PostgreSQL beside plain calls of libpq, in the same run, on a server of its own.

        USAGE: bench-postgresql [--only P1,P2] [--rows 100000] [--rounds 5] [--fsync on] [--profile P2,10]

          --only     Only these: P1 … P6n (beside libpq), P7 (siblings of faults, a millisecond away),
                     P8 (a copy of an SQLite store, beside COPY of its largest table).
          --rows     Number of rows (100,000).
          --rounds   Rounds after one to warm up, the sides in turn (5).
          --fsync    Whether the server waits for the disk at each commit, as it does by itself (off).
          --profile  Does our side's work over and over, for a profiler; nothing is measured.

        A ratio is the median of the rounds' own: of the clock's time, and of processor time, that of the program and of the server's
        processes together. ✗ marks a ratio above its goal, whichever of both is lower.
        """

    static func main() {
        do {
            var words = CommandLine.arguments.dropFirst()
            var (rows, rounds) = (100_000, 5)
            var kinds = ServerWorkload.allCases
            var waitsForDisk = false
            var profile: (ServerWorkload, Int)?
            while let word = words.popFirst() {
                if word == "--help" || word == "-h" { return print(usage) }
                guard let value = words.popFirst() else { throw MeasuringFailure("\(word) needs a value.\n\n\(usage)") }
                let parts = value.split(separator: ",").map(String.init)
                switch word {
                case "--rows": rows = try number(value)
                case "--rounds": rounds = try number(value)
                case "--only": kinds = try parts.map(kind)
                case "--fsync" where ["on", "off"].contains(value): waitsForDisk = value == "on"
                case "--profile": profile = (try kind(parts[0]), parts.count > 1 ? try number(parts[1]) : 10)
                default: throw MeasuringFailure("Unknown argument '\(word)'.\n\n\(usage)")
                }
            }
            #if PostgreSQL
                try ServerMeasurement(rows: rows, rounds: rounds, waitsForDisk: waitsForDisk).run(kinds, profile)
            #else
                _ = (rows, rounds, waitsForDisk, kinds, profile)
                throw MeasuringFailure("build it with --traits PostgreSQL")
            #endif
        } catch {
            FileHandle.standardError.write(Data("bench-postgresql: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number > 0 else { throw MeasuringFailure("'\(text)' is not a number above 0.") }
        return number
    }

    private static func kind(_ text: String) throws -> ServerWorkload {
        guard let kind = ServerWorkload(rawValue: text) else {
            throw MeasuringFailure("No workload '\(text)'.\n\n\(usage)")
        }
        return kind
    }
}

/// What is measured on a server.
enum ServerWorkload: String, CaseIterable {
    case insert = "P1"
    case fetchAll = "P2"
    case fetchKeys = "P3"
    case prefetch = "P4"
    case update = "P5"
    case saveEach = "P6"
    case saveEachNoted = "P6n"
    case siblings = "P7"
    case copy = "P8"

    var title: String {
        switch self {
        case .insert: "insert all, one save"
        case .fetchAll: "fetch all, read three values"
        case .fetchKeys: "each by ID, random order"
        case .prefetch: "fetch all with a prefetched to-one"
        case .update: "change all, one save"
        case .saveEach: "saves of one object"
        case .saveEachNoted: "the same, beside libpq that notes its commits"
        case .siblings: "a to-one of each, a millisecond away"
        case .copy: "copy a store in a file to the server"
        }
    }

    /// Ours divided by libpq's.
    var goal: Double? {
        switch self {
        case .insert, .prefetch, .update: 1.5
        case .fetchAll, .copy: 2
        case .fetchKeys, .saveEach: 1.3
        case .siblings, .saveEachNoted: nil
        }
    }

    var changesStore: Bool { [.insert, .update, .saveEach, .saveEachNoted].contains(self) }
    var hasItems: Bool { self != .insert }

    /// How many objects the work is about.
    func count(rows: Int) -> Int {
        switch self {
        case .fetchKeys: min(rows, 10_000)
        case .saveEach, .saveEachNoted: min(rows, 10_000)
        case .siblings: min(rows, 1000)
        default: rows
        }
    }
}
