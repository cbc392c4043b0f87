import CoreDataSyncEngine

// Keys of new objects and what belongs to them. Objects that were saved together have keys that follow one another: a
// run of them costs as much as one key, where a dictionary would hash each of thousands.

/// Primary keys of inserted objects, with the numbers of the transactions that inserted them.
struct InsertedKeys: Hashable, Sendable {
    private struct Run: Hashable, Sendable {
        let first: Int64
        var last: Int64
        let transaction: Int64
    }

    /// Ascending.
    private var runs: [Run] = []
    /// Keys that came after greater ones; they count before the runs.
    private var others: [Int64: Int64] = [:]
    /// Keys in runs that do not count.
    private var removed: Set<Int64> = []

    init() {}

    var isEmpty: Bool { others.isEmpty && runs.allSatisfy { run in !removed.isEmpty && keys(of: run).isEmpty } }

    /// All keys, ascending.
    var sorted: [Int64] {
        var result: [Int64] = []
        result.reserveCapacity(others.count + runs.reduce(0) { $0 + Int($1.last - $1.first) + 1 })
        for run in runs { result += keys(of: run) }
        return others.isEmpty ? result : (result + others.keys).sorted()
    }

    private func keys(of run: Run) -> [Int64] {
        let keys = run.first...run.last
        if removed.isEmpty, others.isEmpty { return Array(keys) }
        return keys.filter { !removed.contains($0) && others[$0] == nil }
    }

    /// The transaction that inserted an object; `nil` for one that was not inserted.
    subscript(key: Int64) -> Int64? {
        get {
            if !others.isEmpty, let transaction = others[key] { return transaction }
            guard let run = run(of: key), removed.isEmpty || !removed.contains(key) else { return nil }
            return runs[run].transaction
        }
        set {
            guard let newValue else {
                others[key] = nil
                if run(of: key) != nil { removed.insert(key) }
                return
            }
            if !others.isEmpty { others[key] = nil }
            guard let last = runs.last else { return runs.append(Run(first: key, last: key, transaction: newValue)) }
            if last.last + 1 == key, last.transaction == newValue {
                runs[runs.count - 1].last = key
            } else if key > last.last {
                runs.append(Run(first: key, last: key, transaction: newValue))
            } else {
                others[key] = newValue
            }
        }
    }

    private func run(of key: Int64) -> Int? {
        runs.place(of: key, first: \.first).flatMap { runs[$0].last >= key ? $0 : nil }
    }
}

/// IDs by primary key.
struct KeyedIDs: Sendable {
    private struct Run: Sendable {
        let first: Int64
        var last: Int64
        /// That of the first key; those of the others follow it.
        let id: GlobalID

        func id(of key: Int64) -> GlobalID { GlobalID(high: id.high, low: id.low &+ UInt64(key &- first)) }
    }

    /// Ascending.
    private var runs: [Run] = []
    /// They count before the runs.
    private var others: [Int64: GlobalID] = [:]
    /// Keys in runs that have no ID any more.
    private var removed: Set<Int64> = []

    subscript(key: Int64) -> GlobalID? {
        get {
            if !others.isEmpty, let id = others[key] { return id }
            guard let run = runs.place(of: key, first: \.first), runs[run].last >= key,
                removed.isEmpty || !removed.contains(key)
            else { return nil }
            return runs[run].id(of: key)
        }
        set {
            others[key] = newValue
            if newValue == nil, self[key] != nil { removed.insert(key) }
        }
    }

    /// Gives an ID to a key that has none.
    mutating func append(_ key: Int64, _ id: GlobalID) {
        guard let last = runs.last else { return runs.append(Run(first: key, last: key, id: id)) }
        if last.last + 1 == key, last.id(of: key) == id {
            runs[runs.count - 1].last = key
        } else if key > last.last {
            runs.append(Run(first: key, last: key, id: id))
        } else {
            others[key] = id
        }
    }

    mutating func merge(_ ids: [Int64: GlobalID]) { others.merge(ids) { $1 } }
}

extension Array {
    /// The last element that does not begin after a key.
    fileprivate func place(of key: Int64, first: (Element) -> Int64) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if first(self[middle]) <= key { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? low - 1 : nil
    }
}
