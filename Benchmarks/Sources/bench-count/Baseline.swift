import Foundation
import Measuring
import RawSQLite

/// Instructions by workload and side, and what they depend on beside our own code.
struct Baseline: Codable {
    /// The workloads that `make bench-baseline` counts.
    static let workloads = [Workload.insert, .fetchAll, .fetchKeys, .update]

    let rows: Int
    let versions: Versions
    var counts: [String: [String: Int]] = [:]

    init(rows: Int, versions: Versions) {
        self.rows = rows
        self.versions = versions
    }

    init(contentsOf file: URL) throws {
        guard let data = try? Data(contentsOf: file) else {
            throw MeasuringFailure("cannot read \(file.path). `make bench-baseline` writes it.")
        }
        do { self = try JSONDecoder().decode(Self.self, from: data) } catch {
            throw MeasuringFailure("\(file.path) is no baseline: \(error). `make bench-baseline` writes one.")
        }
        guard rows > 0 else { throw MeasuringFailure("\(file.path) counted \(rows) rows.") }
    }

    func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try (encoder.encode(self) + Data("\n".utf8)).write(to: file)
    }

    func count(_ workload: String, _ side: SideName) -> Int? { counts[workload]?[side.rawValue] }

    /// How many times the instructions of plain C calls.
    func ratio(_ workload: String) -> Double? {
        guard let ours = count(workload, .ours), let raw = count(workload, .raw), raw > 0 else { return nil }
        return Double(ours) / Double(raw)
    }

    var table: Table {
        var table = Table(["workload", "", "n", "ours", "raw", "ratio"], leading: [0, 1])
        for name in counts.keys.sorted() {
            table.add([
                name, Workload(rawValue: name)?.title ?? "", Report.grouped(rows), Self.text(count(name, .ours)),
                Self.text(count(name, .raw)), Self.text(ratio(name)),
            ])
        }
        return table
    }

    static func text(_ count: Int?) -> String { count.map(Report.grouped) ?? "–" }
    static func text(_ ratio: Double?) -> String { ratio.map { String(format: "%.3f", $0) } ?? "–" }
}

/// What changes the counts although our code stays.
struct Versions: Codable, Equatable {
    let swift: String
    let sqlite: String
    let valgrind: String
    let libc: String
    let processor: String

    static func here() throws -> Versions {
        let swift = ProcessInfo.processInfo.environment["SWIFT"] ?? "swift"
        return Versions(
            swift: try Command.firstLine(of: [swift, "--version"]), sqlite: String(cString: raw_sqlite_version()),
            valgrind: try Command.firstLine(of: ["valgrind", "--version"]),
            libc: String(cString: raw_libc_version()), processor: Machine.instructionSet)
    }

    /// One line for each that differs.
    func differences(from other: Versions) -> [String] {
        let pairs = [
            ("Swift", swift, other.swift), ("SQLite", sqlite, other.sqlite), ("valgrind", valgrind, other.valgrind),
            ("libc", libc, other.libc), ("processor", processor, other.processor),
        ]
        return pairs.compactMap { name, here, there in here == there ? nil : "\(name): \(here) here, \(there) there" }
    }
}
