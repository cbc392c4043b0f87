import CoreDataStore

// New objects get their keys while the store is locked for other writers.
extension SavePreparation {
    /// How many keys each root entity's new objects need.
    func neededKeys() -> [Int: Int] {
        var counts: [Int: Int] = [:]
        // Objects of one entity come in runs: a run looks the root up once.
        var run = (root: -1, count: 0)
        inserted.forEachHeld { object in
            guard object.hasTemporaryKey else { return }
            if object.home.root != run.root {
                if run.count > 0 { counts[run.root, default: 0] += run.count }
                run = (object.home.root, 0)
            }
            run.count += 1
        }
        if run.count > 0 { counts[run.root, default: 0] += run.count }
        return counts
    }

    func takeKeys(_ ranges: [Int: ClosedRange<Int64>]) {
        var next = ranges.mapValues(\.lowerBound)
        var run: (root: Int, key: Int64) = (-1, 0)
        inserted.forEachHeld { object in
            guard object.hasTemporaryKey else { return }
            if object.home.root != run.root {
                next[run.root] = run.key
                run = (object.home.root, next[object.home.root] ?? 0)
            }
            object.take(key: run.key)
            run.key += 1
        }
    }
}
