import CoreDataPrimitives
import Synchronization

/// A part of a ``RowCache``, with its own lock.
final class RowCacheShard: @unchecked Sendable {
    // Safe because the lock guards the tables.

    private struct State {
        /// The bit patterns of the times when rows were read, in seconds since 2001; recorded only after a client
        /// requested rows with a maximum age.
        var times: [KeyTable] = []
    }

    /// Guards all mutable state.
    private let state = Mutex(State())
    /// The rows' words, a table for each root, retained for the lifetime of the cache, so that look-ups count no
    /// references.
    private let tables: [Unmanaged<KeyTable>]
    /// The root of each entity, by ordinal.
    private let roots: [Int]
    /// The kinds of each entity's columns, by ordinal.
    private let kinds: [[ColumnKind]]
    private let commits: CommitCount

    /// Makes a part; `roots[ordinal]` is the root of the entity, `kinds[ordinal]` the kinds of its columns.
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

    /// Returns a word that holds the row for the caller; 0 if it is not cached.
    func heldWord(root: Int, primaryKey: Int64) -> UInt {
        state.withLock { _ in held(word(root, primaryKey)) }
    }

    /// Returns a word that holds the row for the caller, if it was read after that time; else 0.
    func heldWord(root: Int, primaryKey: Int64, after time: Double) -> UInt {
        state.withLock { state in
            guard !state.times.isEmpty else { return 0 }
            let bits = state.times[root].word(primaryKey)
            guard bits != 0, Double(bitPattern: UInt64(bits)) > time else { return 0 }
            return held(word(root, primaryKey))
        }
    }

    /// Records from now on when rows were read.
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

    /// Inserts a range of the list's rows; see ``RowCache/adopt(_:readSince:at:)``.
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

    /// Inserts one row: takes over the word's hold, and returns a word that the caller holds.
    func adopt(word: UInt, readSince moment: RowCache.Moment, at now: Double) -> UInt {
        state.withLock { state in adopt(word, isCurrent(moment), now, &state) }
    }

    /// Returns whether nothing was saved since. Call it under the lock: later saves are inserted after that.
    private func isCurrent(_ moment: RowCache.Moment) -> Bool { commits.now == moment.commits }

    // MARK: After a save

    /// Replaces a row after a save; calls are in the order of the commits.
    func replace(_ row: RowSnapshot, at now: Double) {
        let root = roots[row.entity]
        state.withLock { state in put(row, root, at: now, &state) }
    }

    func remove(_ key: Int64, root: Int) {
        state.withLock { state in take(key, root, &state) }
    }

    /// Updates the cache after a conflict; see ``RowCache/correct(_:knownAt:by:readSince:at:)``.
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
            // The row that was read is current, unless another client has saved since.
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

    // MARK: Releasing

    /// Releases the row of the word, and removes the key's cached row if only the cache holds it.
    func giveUp(_ word: UInt, root: Int, primaryKey: Int64) {
        state.withLock { state in
            if word != 0, RowSnapshot.holders(of: word) == 2, remove(primaryKey, ifWord: word, root) {
                // Releases both the caller's and the cache's hold at once: the common case.
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
        // Nearly every row is new: insert it first, and put the previous one back if it must stay.
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
            // A newer row may have been cached and removed, or the row may have been deleted.
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

    /// Removes a row that was changed without a new version: by a trigger for a derived attribute, during a save of
    /// another coordinator, or by another program.
    ///
    /// It is unknown which of two such rows is newer, because they may have been read concurrently. The next client
    /// reads the store, and reads that began earlier are not cached.
    private func forget(_ key: Int64, _ root: Int, _ state: inout State) {
        take(key, root, &state)
        commits.increment()
    }

    private func take(_ key: Int64, _ root: Int, _ state: inout State) {
        if !state.times.isEmpty { state.times[root].remove(key) }
        Self.drop(tables[root]._withUnsafeGuaranteedRef { $0.remove(key) })
    }

    /// Releases a row, and marks it as superseded for its other holders; the word may be 0.
    private static func drop(_ word: UInt) {
        RowSnapshot.supersede(word)
        RowSnapshot.release(word)
    }

    /// Ignore an earlier time: it belongs to a slower reader.
    private func setTime(_ time: Double, _ key: Int64, _ root: Int, _ state: inout State) {
        let known = Double(bitPattern: UInt64(state.times[root].word(key)))
        state.times[root].set(key, UInt(max(time, known, .leastNonzeroMagnitude).bitPattern))
    }
}
