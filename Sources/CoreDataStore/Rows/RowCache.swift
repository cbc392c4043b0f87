import CoreDataModel
import CoreDataPrimitives
import Synchronization

/// The cache of a store's rows that contexts use, so that each version of a row is in memory once.
///
/// Fetches and saves insert rows, many under one lock. A row is removed when its last context releases it.
///
///     let moment = cache.moment
///     let rows = try engine.rows(forKeys: [7, 9], root: 0)
///     cache.adopt(rows, readSince: moment, at: now)   // cached rows replace equal ones
///     cache.row(root: 0, primaryKey: 7)               // without a statement
///
/// A cached row is never replaced by an older one. Versions show which of two rows is newer. If only one row is
/// available, because the other was released or deleted, moments decide: a row that was read before a save is not
/// inserted after it. If a row was read with other values but the cached version, the cache removes it, and it is read
/// again.
///
/// The cache has two parts, so that contexts on several threads seldom wait for each other: sixteen adjacent keys, a
/// page of a ``KeyTable``, belong to one part, the next sixteen to the other. Each part has one table per root entity,
/// whose words hold the rows.
package final class RowCache: @unchecked Sendable {
    // Safe because each part has its lock, and everything else is immutable.

    /// Retained for the lifetime of the cache, so that calls count no references.
    private let shards: [Unmanaged<RowCacheShard>]
    /// The root of each entity, by ordinal.
    private let roots: [Int]
    /// Whether a client has requested rows with a maximum age.
    private let keepsTimes = Atomic(false)
    private let commits = CommitCount()
    /// Whether rows are cached; otherwise the cache is always empty.
    private let keepsRows: Bool

    /// Makes a cache; `roots[ordinal]` is the root of the entity, `kinds[ordinal]` the kinds of its columns.
    package init(roots: [Int], kinds: [[ColumnKind]], keepsRows: Bool = true) {
        self.roots = roots
        self.keepsRows = keepsRows
        let commits = commits
        shards = (0..<Self.shardCount).map { _ in
            .passRetained(RowCacheShard(roots: roots, kinds: kinds, commits: commits))
        }
    }

    package convenience init(model: CompiledModel, keepsRows: Bool = true) {
        self.init(
            roots: model.entities.map(\.root), kinds: model.entities.map(\.rowLayout.kinds), keepsRows: keepsRows)
    }

    deinit { shards.forEach { $0.release() } }

    private static var shardCount: Int { 2 }

    @inline(__always)
    private static func number(of key: Int64) -> Int { Int(truncatingIfNeeded: key >> 4) & (shardCount - 1) }

    @inline(__always)
    private func withShard<R>(of key: Int64, _ body: (RowCacheShard) -> R) -> R {
        shards[Self.number(of: key)]._withUnsafeGuaranteedRef(body)
    }

    package var count: Int { shards.reduce(0) { $0 + $1._withUnsafeGuaranteedRef { $0.count } } }

    // MARK: Reading

    /// Returns the row, if it is cached.
    package func row(root: Int, primaryKey: Int64) -> RowSnapshot? {
        heldRow(root: root, primaryKey: primaryKey)?.snapshot()
    }

    /// Returns a hold on the row; `nil` if it is not cached.
    package func heldRow(root: Int, primaryKey: Int64) -> HeldRow? {
        HeldRow(word: withShard(of: primaryKey) { $0.heldWord(root: root, primaryKey: primaryKey) })
    }

    /// Returns a hold on the row, if it was read after that time (seconds since 2001-01-01 UTC).
    ///
    /// Times are recorded from the first call on; rows that were read before count as too old.
    package func heldRow(root: Int, primaryKey: Int64, after time: Double) -> HeldRow? {
        if !keepsTimes.load(ordering: .relaxed) {
            shards.forEach { $0._withUnsafeGuaranteedRef { $0.keepTimes() } }
            keepsTimes.store(true, ordering: .relaxed)
        }
        return HeldRow(
            word: withShard(of: primaryKey) { $0.heldWord(root: root, primaryKey: primaryKey, after: time) })
    }

    /// Returns the time, if times are recorded.
    private func now(_ time: () -> Double) -> Double { keepsTimes.load(ordering: .relaxed) ? time() : 0 }

    // MARK: After a fetch

    /// A position in the sequence of saves; a reader gets it before reading rows.
    package struct Moment {
        fileprivate(set) var commits: Int
    }

    package var moment: Moment { Moment(commits: commits.now) }

    /// Inserts rows that were read at `time`, after `moment`. Rows that are cached at the same version are replaced by
    /// the cached instances. Others are cached if they are newer, or if nothing was saved since.
    ///
    /// A row older than the cached one was read before a save; it stays in `rows`, but is not cached.
    package func adopt(_ rows: RowList, readSince moment: Moment, at time: @autoclosure () -> Double) {
        guard keepsRows else { return }
        let now = now(time)
        var first = 0
        while first < rows.count {
            // Consecutive rows usually have consecutive keys.
            let number = Self.number(of: rows.view(first).primaryKey)
            var end = first + 1
            while end < rows.count, Self.number(of: rows.view(end).primaryKey) == number { end += 1 }
            shards[number]._withUnsafeGuaranteedRef { $0.adopt(rows, first..<end, readSince: moment, at: now) }
            first = end
        }
    }

    /// Inserts one row, and returns the instance to use.
    package func adopt(
        _ row: consuming HeldRow, readSince moment: Moment, at time: @autoclosure () -> Double
    ) -> HeldRow? {
        guard keepsRows else { return row }
        let now = now(time)
        let word = row.intoWord()
        return HeldRow(
            word: withShard(of: RowView(word: word).primaryKey) {
                $0.adopt(word: word, readSince: moment, at: now)
            })
    }

    /// Inserts a few rows, and replaces them by the instances to use.
    package func adopt(_ rows: inout [RowSnapshot], readSince moment: Moment, at time: @autoclosure () -> Double) {
        let list = RowList()
        for row in rows { list.append(row) }
        adopt(list, readSince: moment, at: time())
        rows = Array(list)
    }

    // MARK: After a save

    /// Inserts new and changed rows, and removes those that were deleted, or that the store itself changed.
    ///
    /// Call it after the commit and before another client can write, so that rows are inserted in the order of the
    /// saves.
    package func commit(_ changes: ChangeSet, changedByStore: [RowKey], at time: @autoclosure () -> Double) {
        // Reads that begin from now on see the commit; the counter distinguishes them from earlier ones.
        commits.increment()
        let now = now(time)
        for index in changes.insertions.indices { replace(changes.insertions[index].row, now) }
        for index in changes.updates.indices { replace(changes.updates[index].new, now) }
        for index in changes.deletions.indices { remove(changes.deletions[index].key) }
        for key in changedByStore { remove(key) }
    }

    /// Removes every row after a commit with unknown changes. Contexts keep their rows until they release them.
    ///
    /// Call it at the same time as ``commit(_:changedByStore:at:)``.
    package func commitOfUnknownRows() {
        commits.increment()
        removeAll()
    }

    /// Updates the cache after a conflict for a row that a context had at `version`. The current row was read after
    /// `moment`; `nil` if it was deleted.
    ///
    /// A stale row is removed, so that a refresh reads the current one. Returns the row that was cached.
    package func correct(
        _ key: RowKey, knownAt version: Int32, by persisted: RowSnapshot?, readSince moment: Moment,
        at time: @autoclosure () -> Double
    ) -> RowSnapshot? {
        let now = now(time)
        return withShard(of: key.primaryKey) {
            $0.correct(
                key.primaryKey, root: roots[key.entity], knownAt: version, by: persisted, readSince: moment, at: now)
        }
    }

    private func replace(_ row: RowSnapshot, _ now: Double) {
        withShard(of: row.primaryKey) { $0.replace(row, at: now) }
    }

    package func remove(_ keys: [RowKey]) {
        for key in keys { remove(key) }
    }

    private func remove(_ key: RowKey) {
        withShard(of: key.primaryKey) { $0.remove(key.primaryKey, root: roots[key.entity]) }
    }

    // MARK: Releasing

    /// Releases the row, and removes the key's cached row if only the cache holds it.
    package func giveUp(_ row: consuming HeldRow?, root: Int, primaryKey: Int64) {
        let word = HeldRow.word(of: row)
        withShard(of: primaryKey) { $0.giveUp(word, root: root, primaryKey: primaryKey) }
    }

    /// Removes every row of the hierarchy.
    package func removeAll(root: Int) {
        shards.forEach { $0._withUnsafeGuaranteedRef { $0.removeAll(root: root) } }
    }

    package func removeAll() {
        shards.forEach { $0._withUnsafeGuaranteedRef { $0.removeAll() } }
    }
}

/// Counts the contexts' saves to a store, and detections of rows that changed without a new version.
final class CommitCount: Sendable {
    private let count = Atomic<Int>(0)

    var now: Int { count.load(ordering: .acquiring) }

    func increment() { count.wrappingAdd(1, ordering: .releasing) }
}
