import Foundation
import Measuring
import RawSQLite
import Sides

/// The measurements, each in a process of its own: the program starts itself with `--child`.
struct Children {
    let folder: URL
    let rounds: Int
    let stores: Stores
    private let sides: [any Side]

    init(folder: URL, rounds: Int) {
        self.folder = folder
        self.rounds = rounds
        let ours = CoreDataSide()
        stores = Stores(folder: folder) { url in try CoreDataSide.close(ours.open(url)) }
        sides = [ours, RawSide(), GRDBSide()]
    }

    /// Runs a child and decodes what it prints.
    func start<Result: Decodable>(_ words: [String], rows: Int) throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            "--child", words.joined(separator: ","), "--rows", String(rows), "--rounds", String(rounds),
            "--folder", folder.path,
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw MeasuringFailure("\(words.joined(separator: " ")) at \(rows) rows failed.")
        }
        return try JSONDecoder().decode(Result.self, from: data)
    }

    /// Does a child's work and prints the result as JSON.
    func run(_ child: Arguments.Child) throws {
        switch child {
        case .time(let workload, let rows): try write(stopwatch(workload, rows: rows).measure())
        case .peak(let workload, let side, let rows): try write(peak(workload, side, rows: rows))
        case .hold(let kind, let side, let rows): try write(hold(kind, side, rows: rows))
        case .sharing(let rows):
            try write(SharingMeasurement(rows: rows, rounds: rounds, sides: sides, stores: stores).run())
        case .startUp: try write(StartUpMeasurement(rounds: rounds, stores: stores).run())
        case .growth(let kind, let count):
            try write(GrowthMeasurement(kind: kind, count: count, rounds: rounds, stores: stores).run())
        case .call(let kind): try write(CallMeasurement(kind: kind, rounds: rounds, stores: stores).run())
        case .feature(let kind, let rows):
            try write(FeatureMeasurement(kind: kind, rows: rows, rounds: rounds, stores: stores).run())
        case .profile(let workload, let side, let rows, let times):
            try profile(workload, side, rows: rows, times: times)
        }
    }

    private func write(_ result: some Encodable) throws {
        try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(result))
    }

    private func stopwatch(_ workload: Workload, rows: Int) -> Stopwatch {
        Stopwatch(
            workload: workload, rows: rows, rounds: rounds, sides: sides,
            copyStore: { workload, side in
                try stores.copy(workload.contents, rows: rows, for: side.rawValue)
            },
            removeStore: { try stores.remove($0) },
            tableDigest: { store in
                let items = try Stores.tableDigest(store)
                return workload.raisesOwners ? try items + "; " + Stores.ownersDigest(store) : items
            })
    }

    private func side(_ name: SideName) throws -> any Side {
        guard let side = sides.first(where: { $0.name == name }) else {
            throw MeasuringFailure("No side '\(name.rawValue)'.")
        }
        return side
    }

    /// The most memory that the workload needs, done once.
    private func peak(_ workload: Workload, _ name: SideName, rows: Int) throws -> Int {
        let store = try stores.copy(workload.contents, rows: rows, for: name.rawValue)
        defer { try? stores.remove(store) }
        guard let trial = try side(name).trial(workload, store: store, rows: rows) else { return 0 }
        _ = try trial.run()
        let peak = Machine.peakMemory
        try trial.reset()
        try trial.finish()
        return peak
    }

    /// Heap bytes per object that stay while the objects are held, SQLite's own aside.
    private func hold(_ kind: ObjectKind, _ name: SideName, rows: Int) throws -> MemoryResult {
        let store = try stores.copy(.full, rows: rows, for: name.rawValue)
        defer { try? stores.remove(store) }
        guard let holding = try side(name).hold(kind, store: store, rows: rows) else {
            throw MeasuringFailure("\(name.rawValue) holds no \(kind.rawValue).")
        }
        let before = raw_heap_in_use()
        let count = try holding.make()
        let after = raw_heap_in_use()
        let peak = Machine.peakMemory
        holding.letGo()
        guard count == rows else { throw MeasuringFailure("W13 \(kind.rawValue): \(count) objects of \(rows).") }
        return MemoryResult(
            kind: kind, side: name, rows: rows, bytesPerObject: Double(after - before) / Double(rows), peak: peak)
    }

    private func profile(_ workload: Workload, _ name: SideName, rows: Int, times: Int) throws {
        let own = Stores(
            folder: folder.appendingPathComponent("core-data-benchmarks-profile"), makeEmpty: stores.makeEmpty)
        try own.prepare(workload.contents, rows: rows)
        for _ in 0..<(workload.changesStore ? times : 1) {
            let store = try own.copy(workload.contents, rows: rows, for: name.rawValue)
            defer { try? own.remove(store) }
            guard let trial = try side(name).trial(workload, store: store, rows: rows) else { return }
            for _ in 0..<(workload.changesStore ? 1 : times) {
                _ = try trial.run()
                try trial.reset()
            }
            try trial.finish()
        }
    }
}
