import CoreDataPrimitives
import Synchronization

/// The rows of one store that contexts hold, so that each row at one version is in memory once.
///
/// Rows come in by fetches and saves, a batch under one lock; they go when nobody but the cache holds them and
/// the context lets go of them. There is one ``KeyTable`` per root entity; its words hold the rows.
///
///     var rows = try engine.rows(plan)
///     cache.adopt(&rows, at: now)          // rows that were known are the known instances again
///     cache.row(root: 0, primaryKey: 7)    // without a statement
package final class RowCache: Sendable {
    private struct State {
        /// The rows' words, a table for each root.
        var tables: [KeyTable]
        /// The bit patterns of the times at which they were read, in seconds since 2001; only once somebody asked for
        /// rows of a certain age.
        var times: [KeyTable] = []
    }

    /// Guards everything: one lock a batch, not one a row.
    private let state: Mutex<State>
    /// The root of each entity, by ordinal.
    private let roots: [Int]

    /// `roots[ordinal]` is the root of that entity.
    package init(roots: [Int]) {
        self.roots = roots
        state = Mutex(State(tables: roots.map { _ in KeyTable() }))
    }

    deinit { removeAll() }

    package var count: Int { state.withLock { $0.tables.reduce(0) { $0 + $1.count } } }

    // MARK: Reading

    /// The row, if it is here.
    package func row(root: Int, primaryKey: Int64) -> RowSnapshot? {
        state.withLock { RowSnapshot(word: $0.tables[root].word(primaryKey)) }
    }

    /// The row, if it is known to have been read after that time (seconds since 2001-01-01 UTC).
    ///
    /// Times are kept from the first call on; what was read before counts as too old.
    package func row(root: Int, primaryKey: Int64, after time: Double) -> RowSnapshot? {
        state.withLock { state in
            if state.times.isEmpty { state.times = roots.map { _ in KeyTable() } }
            let bits = state.times[root].word(primaryKey)
            guard bits != 0, Double(bitPattern: UInt64(bits)) > time else { return nil }
            return RowSnapshot(word: state.tables[root].word(primaryKey))
        }
    }

    // MARK: After a fetch

    /// Takes rows that were read at `time`; those that are here at the same version become the instances that
    /// are here, the others are kept if they are newer.
    ///
    /// Only those from `start` on are looked at. A row that is older than the one here was read before a save and stays as it is in `rows`, but not here.
    package func adopt(_ rows: RowList, from start: Int = 0, at time: @autoclosure () -> Double) {
        state.withLock { state in
            let now = state.times.isEmpty ? 0 : time()
            for index in start..<rows.count {
                let word = rows.word(index)
                let row = RowView(word: word)
                let root = roots[row.entity]
                let knownWord = state.tables[root].word(row.primaryKey)
                guard knownWord != 0 else {
                    put(word, root, now, &state)
                    continue
                }
                let known = RowView(word: knownWord)
                if known.version == row.version {
                    if !state.times.isEmpty { setTime(now, row.primaryKey, root, &state) }
                    guard known != row else { continue }
                    RowSnapshot.retain(knownWord)
                    RowSnapshot.release(rows.exchange(index, knownWord))
                } else if row.version > known.version {
                    put(word, root, now, &state)
                }
            }
        }
    }

    /// As above, for a few rows.
    package func adopt(_ rows: inout [RowSnapshot], at time: @autoclosure () -> Double) {
        let list = RowList()
        for row in rows { list.append(row) }
        adopt(list, at: time())
        rows = Array(list)
    }

    // MARK: After a save

    /// Puts rows here as they are now, whatever their version.
    package func replace(_ rows: [RowSnapshot], at time: @autoclosure () -> Double) {
        state.withLock { state in
            let now = state.times.isEmpty ? 0 : time()
            for row in rows {
                let word = row.retainedWord()
                put(word, roots[row.entity], now, &state)
                RowSnapshot.release(word)
            }
        }
    }

    package func remove(_ keys: [RowKey]) {
        state.withLock { state in
            for key in keys { take(key.primaryKey, roots[key.entity], &state) }
        }
    }

    // MARK: Letting go

    /// Gives up the row that the word stands for, and drops the key's row if nobody but the cache holds it.
    package func giveUp(_ word: UInt, root: Int, primaryKey: Int64) {
        state.withLock { state in
            RowSnapshot.release(word)
            let known = state.tables[root].word(primaryKey)
            if known != 0, RowSnapshot.isHeldOnly(by: known) { take(primaryKey, root, &state) }
        }
    }

    package func removeAll() {
        state.withLock { state in
            for table in state.tables {
                table.forEach { RowSnapshot.release($1) }
                table.removeAll()
            }
            state.times.forEach { $0.removeAll() }
        }
    }

    // MARK: Under the lock

    private func put(_ word: UInt, _ root: Int, _ time: Double, _ state: inout State) {
        let key = RowView(word: word).primaryKey
        RowSnapshot.retain(word)
        RowSnapshot.release(state.tables[root].set(key, word))
        if !state.times.isEmpty { setTime(time, key, root, &state) }
    }

    private func take(_ key: Int64, _ root: Int, _ state: inout State) {
        RowSnapshot.release(state.tables[root].remove(key))
        if !state.times.isEmpty { state.times[root].remove(key) }
    }

    /// A time before the one that is known came from a slower reader.
    private func setTime(_ time: Double, _ key: Int64, _ root: Int, _ state: inout State) {
        let known = Double(bitPattern: UInt64(state.times[root].word(key)))
        state.times[root].set(key, UInt(max(time, known, .leastNonzeroMagnitude).bitPattern))
    }
}
