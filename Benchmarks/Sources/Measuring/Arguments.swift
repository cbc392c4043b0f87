import Foundation

/// What the caller wants measured.
package struct Arguments {
    package var workloads: [Workload] = Workload.allCases
    package var measuresSharing = true
    package var measuresObjects = true
    package var measuresStartUp = true
    package var growth: [GrowthKind] = GrowthKind.allCases
    package var calls: [CallKind] = CallKind.allCases
    package var features: [FeatureKind] = FeatureKind.allCases
    package var measuresPeaks = true
    package var rows = [1000, 10_000, 100_000]
    package var rounds = 7
    package var json: String?
    package var includesMillion = false
    package var time = TimeKind.elapsed
    package var folder = NSTemporaryDirectory()
    package var child: Child?

    /// One piece of work in a process of its own, which the program starts by itself.
    package enum Child {
        case time(Workload, rows: Int)
        case peak(Workload, SideName, rows: Int)
        case hold(ObjectKind, SideName, rows: Int)
        case sharing(rows: Int)
        case startUp
        case growth(GrowthKind, count: Int)
        case call(CallKind)
        case feature(FeatureKind, rows: Int)
        /// Does the work over and over for a profiler: `--profile W2,ours,10`.
        case profile(Workload, SideName, rows: Int, times: Int)
    }

    package static let usage = """
        OVERVIEW: Measures OpenCoreData beside plain SQLite calls and GRDB, in the same run, on the same files.

        USAGE: benchmarks [--only W2,W6,W13] [--rows 1000,10000] [--rounds 7] [--json FILE]
                          [--processor] [--million] [--no-peaks] [--folder FOLDER]

          --only      Only these: W1 … W11, W3i (W3 with an index), W4r (W4 of registered objects), W9o (W9, and
                      every side raises the owners' versions), W10d, W10t and W10r (three columns, decoded, as tuples and
                      as a FetchedRow),
                      W1h, W6h, W7h, W9h (with a history; W9h raises the owners' versions too), W12 (a
                      reader beside a writer), W13 (bytes per object), W14 (start with a large model),
                      G1 … G20 (cost of each as their number grows), C1 … C10 (single calls), F1 … F18 (children,
                      merging, undo, upserts, batches, lists, migrations, files, searches); W, G, C or F: all of the kind.
          --rows      Numbers of rows; 1000,10000,100000 unless told otherwise.
          --rounds    Rounds after one to warm up, the sides in turn (7).
          --json      Writes everything, each round's time too, to a file.
          --processor Judges by processor time, which other programs disturb less than the clock's.
          --million   W13, G1 … G14, G19, G20, F5 … F7 and F14 … F18 with 1,000,000 rows also.
          --no-peaks  Leaves out the processes that measure peak memory.
          --folder    Where the stores are made; some 100 MB.
          --profile WORKLOAD,SIDE,TIMES  Does that work over and over, for a profiler; nothing is measured.

        A ratio is the median of the rounds' own, a side's time divided by plain C's; ✗ marks one above its goal, which is
        meant for 100,000 rows. W14, G, C and F are of processor time always; W12 is of the clock's.
        """

    package init(_ words: [String]) throws {
        var words = words[...]
        var child: [String]?
        while let word = words.popFirst() {
            func value() throws -> String {
                guard let value = words.popFirst() else { throw MeasuringFailure("\(word) needs a value.") }
                return value
            }
            switch word {
            case "--only": try setOnly(value())
            case "--rows": rows = try value().split(separator: ",").map { try Self.number($0, of: word) }
            case "--rounds": rounds = try Self.number(value()[...], of: word)
            case "--json": json = try value()
            case "--processor": time = .processor
            case "--million": includesMillion = true
            case "--no-peaks": measuresPeaks = false
            case "--folder": folder = try value()
            case "--child": child = try value().split(separator: ",").map(String.init)
            case "--profile": child = try ["profile"] + value().split(separator: ",").map(String.init)
            default: throw MeasuringFailure("Unknown argument '\(word)'.\n\n\(Self.usage)")
            }
        }
        guard rounds > 0, !rows.isEmpty, rows.allSatisfy({ $0 > 0 }) else {
            throw MeasuringFailure("--rounds and --rows take numbers above 0.")
        }
        self.child = try child.map { try Self.child($0, rows: rows[0]) }
    }

    private mutating func setOnly(_ text: String) throws {
        let codes = Workload.allCases.map(\.rawValue) + ["W12", "W13", "W14"]
        let kinds =
            GrowthKind.allCases.map(\.rawValue) + CallKind.allCases.map(\.rawValue)
            + FeatureKind.allCases.map(\.rawValue)
        var wanted: Set<String> = []
        for name in text.split(separator: ",").map(String.init) {
            let named = (codes + kinds).filter {
                ["W", "G", "C", "F"].contains(name) ? $0.hasPrefix(name) : $0 == name
            }
            guard !named.isEmpty else {
                throw MeasuringFailure("No workload '\(name)'; there are \((codes + kinds).joined(separator: ", ")).")
            }
            wanted.formUnion(named)
        }
        workloads = workloads.filter { wanted.contains($0.rawValue) }
        growth = growth.filter { wanted.contains($0.rawValue) }
        calls = calls.filter { wanted.contains($0.rawValue) }
        features = features.filter { wanted.contains($0.rawValue) }
        measuresSharing = wanted.contains("W12")
        measuresObjects = wanted.contains("W13")
        measuresStartUp = wanted.contains("W14")
    }

    private static func number(_ text: Substring, of word: String) throws -> Int {
        guard let number = Int(text) else { throw MeasuringFailure("\(word): '\(text)' is not a number.") }
        return number
    }

    private static func child(_ words: [String], rows: Int) throws -> Child {
        let side = words.count > 2 ? SideName(rawValue: words[2]) : nil
        switch (words.first, words.count > 1 ? words[1] : "") {
        case ("time", let name):
            if let workload = Workload(rawValue: name) { return .time(workload, rows: rows) }
        case ("peak", let name):
            if let workload = Workload(rawValue: name), let side { return .peak(workload, side, rows: rows) }
        case ("hold", let name):
            if let kind = ObjectKind(rawValue: name), let side { return .hold(kind, side, rows: rows) }
        case ("sharing", _): return .sharing(rows: rows)
        case ("start-up", _): return .startUp
        case ("growth", let name):
            if let kind = GrowthKind(rawValue: name) { return .growth(kind, count: rows) }
        case ("call", let name):
            if let kind = CallKind(rawValue: name) { return .call(kind) }
        case ("feature", let name):
            if let kind = FeatureKind(rawValue: name) { return .feature(kind, rows: rows) }
        case ("profile", let name):
            if let workload = Workload(rawValue: name), let side {
                let times = words.count > 3 ? Int(words[3]) : nil
                return .profile(workload, side, rows: rows, times: times ?? 10)
            }
        default: break
        }
        throw MeasuringFailure("Cannot tell what '\(words.joined(separator: ","))' means.")
    }
}
