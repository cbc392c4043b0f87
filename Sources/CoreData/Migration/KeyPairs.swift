/// Pairs of keys, in the order of insertion. Consecutive pairs of consecutive keys are one run, so a table whose keys
/// have few gaps takes as much memory as a table of a few rows.
///
///     1 → 1, 2 → 2, 3 → 3, 7 → 4     // 1… → 1…, three pairs; 7 → 4
struct KeyPairs {
    typealias Key = MigrationAssociations.Key

    private struct Run {
        var source: Key
        var destination: Key
        var count: Int
        /// How many pairs are before it.
        var first: Int
    }

    /// How one side of the pairs is found.
    private struct Side {
        let key: KeyPath<Run, Key>
        /// Whether each run begins after the end of the previous one.
        var isAscending = true
        /// Otherwise the runs sorted by their beginnings, and the greatest end of each and its predecessors; empty
        /// until the first lookup.
        var order: [Int32] = []
        var reach: [Key] = []
    }

    private var runs: [Run] = []
    private var sources = Side(key: \.source)
    private var destinations = Side(key: \.destination)
    /// How many pairs there are.
    private(set) var count = 0

    mutating func append(_ source: Key, _ destination: Key) {
        if var last = runs.last, last.source.follows(by: last.count, source),
            last.destination.follows(by: last.count, destination)
        {
            last.count += 1
            runs[runs.count - 1] = last
        } else {
            if let last = runs.last {
                if !(last.source.advanced(by: last.count - 1) < source) { sources.isAscending = false }
                if !(last.destination.advanced(by: last.count - 1) < destination) { destinations.isAscending = false }
            }
            runs.append(Run(source: source, destination: destination, count: 1, first: count))
        }
        count += 1
        if !sources.order.isEmpty { (sources.order, sources.reach) = ([], []) }
        if !destinations.order.isEmpty { (destinations.order, destinations.reach) = ([], []) }
    }

    // MARK: By place

    /// The pairs of a range of places.
    func pairs(_ range: Range<Int>) -> [(source: Key, destination: Key)] {
        guard !range.isEmpty else { return [] }
        var found: [(source: Key, destination: Key)] = []
        found.reserveCapacity(range.count)
        var run = Self.partition(runs.count) { runs[$0].first <= range.lowerBound } - 1
        var offset = range.lowerBound - runs[run].first
        while found.count < range.count {
            if offset == runs[run].count { (run, offset) = (run + 1, 0) }
            found.append((runs[run].source.advanced(by: offset), runs[run].destination.advanced(by: offset)))
            offset += 1
        }
        return found
    }

    // MARK: By key

    /// Returns the destinations of the key, in the order of insertion.
    mutating func destinations(of source: Key) -> [Key] {
        find(source, in: &sources).map { runs[$0.run].destination.advanced(by: $0.offset) }
    }

    /// Returns the sources of the key.
    mutating func sources(of destination: Key) -> [Key] {
        find(destination, in: &destinations).map { runs[$0.run].source.advanced(by: $0.offset) }
    }

    private func find(_ key: Key, in side: inout Side) -> [(run: Int, offset: Int)] {
        func offset(_ run: Int) -> Int? {
            let start = runs[run][keyPath: side.key]
            guard start.root == key.root else { return nil }
            let (offset, overflows) = key.primaryKey.subtractingReportingOverflow(start.primaryKey)
            return !overflows && offset >= 0 && offset < runs[run].count ? Int(offset) : nil
        }
        if side.isAscending {
            let run = Self.partition(runs.count) { !(key < runs[$0][keyPath: side.key]) } - 1
            return run >= 0 ? offset(run).map { [(run, $0)] } ?? [] : []
        }
        if side.order.isEmpty { sort(&side) }
        var found: [(run: Int, offset: Int)] = []
        var place = Self.partition(runs.count) { !(key < runs[Int(side.order[$0])][keyPath: side.key]) } - 1
        while place >= 0, !(side.reach[place] < key) {
            let run = Int(side.order[place])
            if let offset = offset(run) { found.append((run, offset)) }
            place -= 1
        }
        return found.sorted { $0.run < $1.run }
    }

    private func sort(_ side: inout Side) {
        let key = side.key
        side.order = (0..<Int32(runs.count)).sorted { a, b in
            let (x, y) = (runs[Int(a)][keyPath: key], runs[Int(b)][keyPath: key])
            return x < y || !(y < x) && a < b
        }
        side.reach = []
        side.reach.reserveCapacity(runs.count)
        for index in side.order {
            let run = runs[Int(index)]
            let end = run[keyPath: key].advanced(by: run.count - 1)
            side.reach.append(side.reach.last.map { $0 < end ? end : $0 } ?? end)
        }
    }

    /// The first index for which that no longer holds.
    private static func partition(_ count: Int, _ isBefore: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension MigrationAssociations.Key {
    fileprivate func advanced(by count: Int) -> Self {
        var key = self
        key.primaryKey += Int64(count)
        return key
    }

    /// Whether the other key is this distance before this one, in the same table.
    fileprivate func follows(by count: Int, _ other: Self) -> Bool {
        root == other.root && entity == other.entity && primaryKey <= Int64.max - Int64(count)
            && primaryKey + Int64(count) == other.primaryKey
    }
}

/// Keys, in the order of insertion; consecutive ones are one run.
struct KeyRuns {
    private var pairs = KeyPairs()

    var count: Int { pairs.count }

    mutating func append(_ key: KeyPairs.Key) { pairs.append(key, key) }

    /// The keys of a range of places.
    func keys(_ range: Range<Int>) -> [KeyPairs.Key] { pairs.pairs(range).map(\.source) }
}
