import CoreDataModel
import CoreDataPrimitives
import Synchronization

/// The rows of one store that contexts hold, so that each row at one version is in memory once.
///
/// Rows come in by fetches and saves, many under one lock; they go when nobody but the cache holds them and
/// the context lets go of them.
///
///     let moment = cache.moment
///     let rows = try engine.rows(forKeys: [7, 9], root: 0)
///     cache.adopt(rows, readSince: moment, at: now)   // rows that were known are the known instances again
///     cache.row(root: 0, primaryKey: 7)               // without a statement
///
/// A row never becomes older here. Versions tell which of two rows is newer; where only one is at hand, because the other was
/// given up or its row deleted, moments do: what was read before a save and comes after it is not taken in. A row that was read
/// with other values at the version that is here makes the cache forget it: the store is asked again.
///
/// It has two parts, so that contexts on several threads seldom wait for one another: sixteen neighbouring keys, a page of a
/// ``KeyTable``, are in one part, the next sixteen in the other. In each there is one table per root entity; its words
/// hold the rows.
package final class RowCache: @unchecked Sendable {
    // Safe because each part has its lock, and the rest does not change.

    /// Retained until the cache goes, to be called without counting a reference each time.
    private let shards: [Unmanaged<RowCacheShard>]
    /// The root of each entity, by ordinal.
    private let roots: [Int]
    /// Whether somebody has asked for rows of a certain age.
    private let keepsTimes = Atomic(false)
    private let commits = CommitCount()
    /// Whether rows that are read come here; else nothing is ever here, and each is read anew.
    private let keepsRows: Bool

    /// `roots[ordinal]` is the root of that entity, `kinds[ordinal]` what its rows' columns hold.
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

    /// The row, if it is here.
    package func row(root: Int, primaryKey: Int64) -> RowSnapshot? {
        heldRow(root: root, primaryKey: primaryKey)?.snapshot()
    }

    /// The row, held; `nil` if it is not here.
    package func heldRow(root: Int, primaryKey: Int64) -> HeldRow? {
        HeldRow(word: withShard(of: primaryKey) { $0.heldWord(root: root, primaryKey: primaryKey) })
    }

    /// The row, held, if it is known to have been read after that time (seconds since 2001-01-01 UTC).
    ///
    /// Times are kept from the first call on; what was read before counts as too old.
    package func heldRow(root: Int, primaryKey: Int64, after time: Double) -> HeldRow? {
        if !keepsTimes.load(ordering: .relaxed) {
            shards.forEach { $0._withUnsafeGuaranteedRef { $0.keepTimes() } }
            keepsTimes.store(true, ordering: .relaxed)
        }
        return HeldRow(
            word: withShard(of: primaryKey) { $0.heldWord(root: root, primaryKey: primaryKey, after: time) })
    }

    /// The time, where somebody has asked for rows of a certain age.
    private func now(_ time: () -> Double) -> Double { keepsTimes.load(ordering: .relaxed) ? time() : 0 }

    // MARK: After a fetch

    /// Between which saves of the store's contexts something happens; whoever reads rows asks before.
    package struct Moment {
        fileprivate(set) var commits: Int
    }

    package var moment: Moment { Moment(commits: commits.now) }

    /// Takes rows that were read at `time`, after `moment`; those that are here at the same version become the instances that
    /// are here, the others are kept if they are newer, or if nothing was saved since.
    ///
    /// A row that is older than the one here was read before a save and stays as it is in `rows`, but not here.
    package func adopt(_ rows: RowList, readSince moment: Moment, at time: @autoclosure () -> Double) {
        guard keepsRows else { return }
        let now = now(time)
        var first = 0
        while first < rows.count {
            // Rows that come one after the other most often have keys that do.
            let number = Self.number(of: rows.view(first).primaryKey)
            var end = first + 1
            while end < rows.count, Self.number(of: rows.view(end).primaryKey) == number { end += 1 }
            shards[number]._withUnsafeGuaranteedRef { $0.adopt(rows, first..<end, readSince: moment, at: now) }
            first = end
        }
    }

    /// Adopts one row, and gives back the one that is kept.
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

    /// Adopts a few rows, and puts in their place those that are kept.
    package func adopt(_ rows: inout [RowSnapshot], readSince moment: Moment, at time: @autoclosure () -> Double) {
        let list = RowList()
        for row in rows { list.append(row) }
        adopt(list, readSince: moment, at: time())
        rows = Array(list)
    }

    // MARK: After a save

    /// Puts new and changed rows here as they are now, and drops those that were deleted, or that the store itself changed
    /// meanwhile.
    ///
    /// To be called after the commit and before anybody else can write, so that rows come here in the order of the saves.
    package func commit(_ changes: ChangeSet, changedByStore: [RowKey], at time: @autoclosure () -> Double) {
        // Who begins to read from now on sees what was committed; who began before is told apart by this.
        commits.increment()
        let now = now(time)
        for index in changes.insertions.indices { replace(changes.insertions[index].row, now) }
        for index in changes.updates.indices { replace(changes.updates[index].new, now) }
        for index in changes.deletions.indices { remove(changes.deletions[index].key) }
        for key in changedByStore { remove(key) }
    }

    /// Drops every row after a commit that does not tell which rows it changed. What contexts hold stays theirs until they give it up.
    ///
    /// To be called as ``commit(_:changedByStore:at:)`` is.
    package func commitOfUnknownRows() {
        commits.increment()
        removeAll()
    }

    /// Learns from a conflict what became of a row that a context had at `version`: the row as it was read after `moment`,
    /// `nil` where it is gone.
    ///
    /// A row that the conflict proved stale goes, so that whoever refreshes the object finds another one. Returns what was
    /// here.
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

    // MARK: Letting go

    /// Gives up the row, and drops the key's row if nobody but the cache holds it.
    package func giveUp(_ row: consuming HeldRow?, root: Int, primaryKey: Int64) {
        let word = HeldRow.word(of: row)
        withShard(of: primaryKey) { $0.giveUp(word, root: root, primaryKey: primaryKey) }
    }

    /// Drops every row of the hierarchy.
    package func removeAll(root: Int) {
        shards.forEach { $0._withUnsafeGuaranteedRef { $0.removeAll(root: root) } }
    }

    package func removeAll() {
        shards.forEach { $0._withUnsafeGuaranteedRef { $0.removeAll() } }
    }
}

/// How often contexts have saved to a store, or rows were found to have changed without a version.
final class CommitCount: Sendable {
    private let count = Atomic<Int>(0)

    var now: Int { count.load(ordering: .acquiring) }

    func increment() { count.wrappingAdd(1, ordering: .releasing) }
}
