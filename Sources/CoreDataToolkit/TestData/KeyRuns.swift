/// The keys of objects by their numbers: stores assign consecutive keys, so a few runs represent all.
struct KeyRuns {
    private struct Run {
        let number: Int
        let key: Int64
        var count: Int
        /// The difference between two keys.
        var step: Int64
    }

    private var runs: [Run] = []
    private(set) var count = 0

    mutating func append(_ key: Int64) {
        defer { count += 1 }
        guard let last = runs.last else { return runs.append(Run(number: 0, key: key, count: 1, step: 1)) }
        if last.count == 1, abs(key - last.key) < 1 << 20 {
            runs[runs.count - 1].step = key - last.key
        } else if key != last.key + Int64(last.count) * last.step {
            return runs.append(Run(number: count, key: key, count: 1, step: 1))
        }
        runs[runs.count - 1].count += 1
    }

    subscript(number: Int) -> Int64 {
        var (low, high) = (0, runs.count)
        while low + 1 < high {
            let middle = (low + high) / 2
            if runs[middle].number <= number { low = middle } else { high = middle }
        }
        return runs[low].key + Int64(number - runs[low].number) * runs[low].step
    }
}
