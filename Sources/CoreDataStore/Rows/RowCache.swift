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
    /// Guards everything: one lock a batch, not one a row.
    private let tables: Mutex<[KeyTable]>
    /// The root of each entity, by ordinal.
    private let roots: [Int]

    /// `roots[ordinal]` is the root of that entity.
    package init(roots: [Int]) {
        self.roots = roots
        tables = Mutex(roots.map { _ in KeyTable() })
    }

    deinit { removeAll() }

    package var count: Int { tables.withLock { $0.reduce(0) { $0 + $1.count } } }

    // MARK: Reading

    /// The row, if it was read after that time (seconds since 2001-01-01 UTC).
    package func row(root: Int, primaryKey: Int64, after time: Double = -.infinity) -> RowSnapshot? {
        tables.withLock { tables in
            guard let row = RowSnapshot(word: tables[root].word(primaryKey)), row.readTime > time else { return nil }
            return row
        }
    }

    // MARK: After a fetch

    /// Takes rows that were read at `time`; those that are here at the same version become the instances that
    /// are here, the others are kept if they are newer.
    ///
    /// A row that is older than the one here was read before a save and stays as it is in `rows`, but not here.
    package func adopt(_ rows: RowList, at time: Double) {
        tables.withLock { tables in
            for index in 0..<rows.count {
                let word = rows.word(index)
                let row = RowView(word: word)
                let table = tables[roots[row.entity]]
                let knownWord = table.word(row.primaryKey)
                guard knownWord != 0 else {
                    Self.put(word, in: table, at: time)
                    continue
                }
                let known = RowView(word: knownWord)
                if known.version == row.version {
                    known.readTime = max(known.readTime, time)
                    guard known != row else { continue }
                    RowSnapshot.retain(knownWord)
                    RowSnapshot.release(rows.exchange(index, knownWord))
                } else if row.version > known.version {
                    Self.put(word, in: table, at: time)
                }
            }
        }
    }

    /// As above, for a few rows.
    package func adopt(_ rows: inout [RowSnapshot], at time: Double) {
        let list = RowList()
        for row in rows { list.append(row) }
        adopt(list, at: time)
        rows = Array(list)
    }

    // MARK: After a save

    /// Puts rows here as they are now, whatever their version.
    package func replace(_ rows: [RowSnapshot], at time: Double) {
        tables.withLock { tables in
            for row in rows {
                let word = row.retainedWord()
                Self.put(word, in: tables[roots[row.entity]], at: time)
                RowSnapshot.release(word)
            }
        }
    }

    package func remove(_ keys: [RowKey]) {
        tables.withLock { tables in
            for key in keys { RowSnapshot.release(tables[roots[key.entity]].remove(key.primaryKey)) }
        }
    }

    // MARK: Letting go

    /// Gives up the row that the word stands for, and drops the key's row if nobody but the cache holds it.
    package func giveUp(_ word: UInt, root: Int, primaryKey: Int64) {
        tables.withLock { tables in
            RowSnapshot.release(word)
            let table = tables[root]
            let known = table.word(primaryKey)
            guard known != 0, RowSnapshot.isHeldOnly(by: known) else { return }
            table.remove(primaryKey)
            RowSnapshot.release(known)
        }
    }

    package func removeAll() {
        tables.withLock { tables in
            for table in tables {
                table.forEach { RowSnapshot.release($1) }
                table.removeAll()
            }
        }
    }

    private static func put(_ word: UInt, in table: KeyTable, at time: Double) {
        let row = RowView(word: word)
        row.readTime = time
        RowSnapshot.retain(word)
        RowSnapshot.release(table.set(row.primaryKey, word))
    }
}
