import Callgrind
import Foundation
import Measuring
import Sides

/// What runs under valgrind: a workload once to warm up and once to count.
struct CountedWork {
    static let word = "--counted"

    private let workload: Workload
    private let side: any Side
    private let rows: Int
    private let stores: Stores

    /// The words are those of ``arguments(_:_:rows:folder:)``.
    init(words: [String]) throws {
        guard let workload = Workload(rawValue: words[1]), let rows = Int(words[3]) else {
            throw MeasuringFailure("Cannot tell what '\(words.joined(separator: " "))' means.")
        }
        self.workload = workload
        self.rows = rows
        let ours = CoreDataSide()
        side = words[2] == SideName.raw.rawValue ? RawSide() : ours
        stores = Stores(folder: URL(fileURLWithPath: words[4])) { try CoreDataSide.close(ours.open($0)) }
    }

    static func arguments(_ workload: Workload, _ side: SideName, rows: Int, folder: URL) -> [String] {
        [word, workload.rawValue, side.rawValue, String(rows), folder.path]
    }

    /// Prints what the counted run did, as JSON.
    func run() throws {
        guard callgrind_knows_valgrind() != 0 else {
            throw MeasuringFailure(
                "this was built without valgrind's headers. Install valgrind, touch Benchmarks/Sources/Callgrind/*.c "
                    + "and build again.")
        }
        guard callgrind_counts() != 0 else { throw MeasuringFailure("\(Self.word) is meant to run under valgrind.") }
        // A file and a trial of its own for each run that changes the file; what is made only once in a process
        // (metadata, caches) is made by the first run.
        var digest = Digest()
        if workload.changesStore {
            _ = try round(counts: false)
            digest = try round(counts: true)
        } else {
            let store = try stores.copy(workload.contents, rows: rows, for: side.name.rawValue)
            let trial = try trial(store)
            for counts in [false, true] {
                digest = try run(trial, counts: counts)
                try trial.reset()
            }
            try trial.finish()
            try stores.remove(store)
        }
        try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(digest))
    }

    private func trial(_ store: URL) throws -> Trial {
        guard let trial = try side.trial(workload, store: store, rows: rows) else {
            throw MeasuringFailure("\(side.name.rawValue) cannot do \(workload.rawValue).")
        }
        return trial
    }

    private func round(counts: Bool) throws -> Digest {
        let store = try stores.copy(workload.contents, rows: rows, for: side.name.rawValue)
        let trial = try trial(store)
        var digest = try run(trial, counts: counts)
        try trial.finish()
        digest.table = try Stores.tableDigest(store)
        try stores.remove(store)
        return digest
    }

    private func run(_ trial: Trial, counts: Bool) throws -> Digest {
        guard counts else { return try trial.run() }
        callgrind_begin()
        defer { callgrind_end() }
        return try trial.run()
    }
}
