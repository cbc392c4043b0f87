import CoreDataPrimitives
import Synchronization

/// A part of a ``RowCache``, with a lock of its own.
final class RowCacheShard: @unchecked Sendable {
    // Safe because the lock guards the tables.

    private struct State {
        /// The bit patterns of the times at which they were read, in seconds since 2001; only once somebody asked for
        /// rows of a certain age.
        var times: [KeyTable] = []
    }

    /// Guards everything.
    private let state = Mutex(State())
    /// The rows' words, a table for each root, retained until the cache goes: to be asked without counting a reference each
    /// time.
    private let tables: [Unmanaged<KeyTable>]
    /// The root of each entity, by ordinal.
    private let roots: [Int]
    /// What the columns of each entity's rows hold, by ordinal.
    private let kinds: [[ColumnKind]]
    private let commits: CommitCount

    /// `roots[ordinal]` is the root of that entity, `kinds[ordinal]` what its rows' columns hold.
    init(roots: [Int], kinds: [[ColumnKind]], commits: CommitCount) {
        self.roots = roots
        self.kinds = kinds
        self.commits = commits
        tables = roots.map { _ in .passRetained(KeyTable()) }
    }

    deinit {
        removeAll()
        tables.forEach { $0.release() }
    }

    @inline(__always)
    private func word(_ root: Int, _ key: Int64) -> UInt {
        tables[root]._withUnsafeGuaranteedRef { $0.word(key) }
    }

    @inline(__always)
    private func set(_ root: Int, _ key: Int64, _ word: UInt) -> UInt {
        tables[root]._withUnsafeGuaranteedRef { $0.set(key, word) }
    }

    @inline(__always)
    private func remove(_ key: Int64, ifWord word: UInt, _ root: Int) -> Bool {
        tables[root]._withUnsafeGuaranteedRef { $0.remove(key, ifWord: word) }
    }

    var count: Int {
        state.withLock { _ in tables.reduce(0) { $0 + $1._withUnsafeGuaranteedRef { $0.count } } }
    }

    // MARK: Reading

    /// A word of the row, which the caller holds; 0 if it is not here.
    func heldWord(root: Int, primaryKey: Int64) -> UInt {
        state.withLock { _ in held(word(root, primaryKey)) }
    }

    /// A word of the row, which the caller holds, if the row is known to have been read after that time; else 0.
    func heldWord(root: Int, primaryKey: Int64, after time: Double) -> UInt {
        state.withLock { state in
            guard !state.times.isEmpty else { return 0 }
            let bits = state.times[root].word(primaryKey)
            guard bits != 0, Double(bitPattern: UInt64(bits)) > time else { return 0 }
            return held(word(root, primaryKey))
        }
    }

    /// From now on it is known when rows were read.
    func keepTimes() {
        state.withLock { state in
            if state.times.isEmpty { state.times = roots.map { _ in KeyTable() } }
        }
    }

    private func held(_ word: UInt) -> UInt {
        RowSnapshot.retain(word)
        return word
    }

    // MARK: After a fetch

    /// As ``RowCache/adopt(_:readSince:at:)``, those rows of the list.
    func adopt(_ rows: RowList, _ range: Range<Int>, readSince moment: RowCache.Moment, at now: Double) {
        state.withLock { state in
            let isCurrent = isCurrent(moment)
            for index in range {
                let word = rows.word(index)
                let adopted = adopt(word, isCurrent, now, &state)
                if adopted != word { _ = rows.exchange(index, adopted) }
            }
        }
    }

    /// Adopts one row: the caller gives up the word and holds the one that is returned.
    func adopt(word: UInt, readSince moment: RowCache.Moment, at now: Double) -> UInt {
        state.withLock { state in adopt(word, isCurrent(moment), now, &state) }
    }

    /// Whether nothing was saved since. Under the lock: what is saved from now on comes here later.
    private func isCurrent(_ moment: RowCache.Moment) -> Bool { commits.now == moment.commits }

    // MARK: After a save

    /// Puts a row here as it was saved; saves come in the order in which they were committed.
    func replace(_ row: RowSnapshot, at now: Double) {
        let root = roots[row.entity]
        state.withLock { state in put(row, root, at: now, &state) }
    }

    func remove(_ key: Int64, root: Int) {
        state.withLock { state in take(key, root, &state) }
    }

    /// As ``RowCache/correct(_:knownAt:by:readSince:at:)``.
    func correct(
        _ key: Int64, root: Int, knownAt version: Int32, by persisted: RowSnapshot?, readSince moment: RowCache.Moment,
        at now: Double
    ) -> RowSnapshot? {
        state.withLock { state in
            let knownWord = word(root, key)
            let known = RowSnapshot(word: knownWord)
            guard let persisted else {
                take(key, root, &state)
                return known
            }
            // What was read is how it is, unless somebody has saved since.
            let isCurrent = isCurrent(moment)
            guard knownWord != 0 else {
                if isCurrent { put(persisted, root, at: now, &state) }
                return nil
            }
            let knownVersion = RowView(word: knownWord).version
            if knownVersion == persisted.version {
                let isSame = persisted.withView { isEqual(RowView(word: knownWord), $0) }
                if !isSame {
                    forget(key, root, &state)
                } else if !state.times.isEmpty {
                    setTime(now, key, root, &state)
                }
            } else if isCurrent || knownVersion == version || knownVersion < persisted.version {
                put(persisted, root, at: now, &state)
            }
            return known
        }
    }

    // MARK: Letting go

    /// Gives up the row that the word stands for, and drops the key's row if nobody but the cache holds it.
    func giveUp(_ word: UInt, root: Int, primaryKey: Int64) {
        state.withLock { state in
            if word != 0, RowSnapshot.holders(of: word) == 2, remove(primaryKey, ifWord: word, root) {
                // The caller's hold and the cache's go in one: this is what happens to nearly every row.
                if !state.times.isEmpty { state.times[root].remove(primaryKey) }
                return RowSnapshot.release(word, times: 2)
            }
            RowSnapshot.release(word)
            let known = self.word(root, primaryKey)
            if known != 0, RowSnapshot.holders(of: known) == 1 { take(primaryKey, root, &state) }
        }
    }

    func removeAll() {
        for root in tables.indices { removeAll(root: root) }
    }

    func removeAll(root: Int) {
        state.withLock { state in
            tables[root]._withUnsafeGuaranteedRef {
                $0.forEach { Self.drop($1) }
                $0.removeAll()
            }
            if !state.times.isEmpty { state.times[root].removeAll() }
        }
    }

    // MARK: Under the lock

    private func put(_ row: RowSnapshot, _ root: Int, at now: Double, _ state: inout State) {
        let word = row.retainedWord()
        let known = set(root, row.primaryKey, word)
        if known == word { RowSnapshot.release(word) } else { Self.drop(known) }
        if !state.times.isEmpty { setTime(now, row.primaryKey, root, &state) }
    }

    private func adopt(_ word: UInt, _ isCurrent: Bool, _ now: Double, _ state: inout State) -> UInt {
        let row = RowView(word: word)
        let (root, key) = (roots[row.entity], row.primaryKey)
        // Nearly every row is new: it is put here first, and the one that was here put back where it stays.
        let knownWord = set(root, key, word)
        if knownWord != 0 {
            let known = RowView(word: knownWord)
            if known.version >= row.version {
                _ = set(root, key, knownWord)
                guard known.version == row.version else {
                    RowSnapshot.supersede(word)
                    return word
                }
                guard knownWord == word || isEqual(known, row) else {
                    forget(key, root, &state)
                    return word
                }
                if !state.times.isEmpty { setTime(now, key, root, &state) }
                guard knownWord != word else { return word }
                RowSnapshot.retain(knownWord)
                RowSnapshot.release(word)
                return knownWord
            }
            Self.drop(knownWord)
        } else if !isCurrent {
            // A newer one may have been here and gone, or the row may have been deleted.
            _ = remove(key, ifWord: word, root)
            RowSnapshot.supersede(word)
            return word
        }
        RowSnapshot.retain(word)
        if !state.times.isEmpty { setTime(now, key, root, &state) }
        return word
    }

    private func isEqual(_ known: RowView, _ read: RowView) -> Bool {
        known.isEqual(to: read, kinds: read.entity < kinds.count ? kinds[read.entity] : [])
    }

    /// Forgets a row that somebody wrote without giving it a version: a trigger for a derived attribute, while another
    /// coordinator saved, or another program.
    ///
    /// Which of two such rows is newer nobody can tell, as their readers may have read at once: who asks next reads the store,
    /// and nobody who has begun to read before puts here what was read.
    private func forget(_ key: Int64, _ root: Int, _ state: inout State) {
        take(key, root, &state)
        commits.increment()
    }

    private func take(_ key: Int64, _ root: Int, _ state: inout State) {
        if !state.times.isEmpty { state.times[root].remove(key) }
        Self.drop(tables[root]._withUnsafeGuaranteedRef { $0.remove(key) })
    }

    /// Gives up a row that whoever else holds it shall not take for what the store has; the word may be 0.
    private static func drop(_ word: UInt) {
        RowSnapshot.supersede(word)
        RowSnapshot.release(word)
    }

    /// A time before the one that is known came from a slower reader.
    private func setTime(_ time: Double, _ key: Int64, _ root: Int, _ state: inout State) {
        let known = Double(bitPattern: UInt64(state.times[root].word(key)))
        state.times[root].set(key, UInt(max(time, known, .leastNonzeroMagnitude).bitPattern))
    }
}
