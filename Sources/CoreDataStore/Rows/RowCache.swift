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
    package func adopt(_ rows: inout [RowSnapshot], at time: Double) {
        tables.withLock { tables in
            for index in rows.indices {
                let row = rows[index]
                let table = tables[roots[row.entity]]
                guard let known = RowSnapshot(word: table.word(row.primaryKey)) else {
                    row.readTime = time
                    table.set(row.primaryKey, row.retainedWord())
                    continue
                }
                if known.version == row.version {
                    known.readTime = max(known.readTime, time)
                    rows[index] = known
                } else if row.version > known.version {
                    Self.put(row, in: table, at: time)
                }
            }
        }
    }

    // MARK: After a save

    /// Puts rows here as they are now, whatever their version.
    package func replace(_ rows: [RowSnapshot], at time: Double) {
        tables.withLock { tables in
            for row in rows { Self.put(row, in: tables[roots[row.entity]], at: time) }
        }
    }

    package func remove(_ keys: [RowKey]) {
        tables.withLock { tables in
            for key in keys { RowSnapshot.release(tables[roots[key.entity]].remove(key.primaryKey)) }
        }
    }

    // MARK: Letting go

    /// Drops the row if nobody but the cache holds it.
    ///
    /// Call it after giving up the last reference of one's own.
    package func release(root: Int, primaryKey: Int64) {
        tables.withLock { Self.release(primaryKey, of: $0[root]) }
    }

    /// Drops those of the rows that nobody but the cache holds.
    package func release(root: Int, primaryKeys: [Int64]) {
        tables.withLock { tables in
            let table = tables[root]
            for key in primaryKeys { Self.release(key, of: table) }
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

    private static func put(_ row: RowSnapshot, in table: KeyTable, at time: Double) {
        row.readTime = time
        RowSnapshot.release(table.set(row.primaryKey, row.retainedWord()))
    }

    private static func release(_ primaryKey: Int64, of table: KeyTable) {
        let word = table.word(primaryKey)
        guard word != 0, RowSnapshot.isHeldOnly(by: word) else { return }
        table.remove(primaryKey)
        RowSnapshot.release(word)
    }
}
