import CoreDataPrimitives
import Synchronization

/// The rows of one store that contexts hold, so that each row at one version is in memory once.
///
/// Rows come in by fetches and saves, a batch under one lock; they go when nobody but the cache holds them and
/// the context lets go of them. Keys are those of ``RowTable``, one table per root entity.
///
///     var rows = try engine.rows(plan)
///     cache.adopt(&rows, at: now)          // rows that were known are the known instances again
///     cache.row(root: 0, primaryKey: 7)    // without a statement
package final class RowCache: Sendable {
    /// A row with the time at which the store had it so, in seconds since 2001-01-01 UTC.
    package struct Entry: Sendable {
        package var row: RowSnapshot
        package var readTime: Double
    }

    /// Guards everything: one lock a batch, not one a row.
    private let tables: Mutex<[RowTable<Entry>]>
    /// The root of each entity, by ordinal.
    private let roots: [Int]

    /// `roots[ordinal]` is the root of that entity.
    package init(roots: [Int]) {
        self.roots = roots
        tables = Mutex(Array(repeating: RowTable(), count: roots.count))
    }

    package var count: Int { tables.withLock { $0.reduce(0) { $0 + $1.count } } }

    // MARK: Reading

    package func row(root: Int, primaryKey: Int64) -> RowSnapshot? {
        tables.withLock { $0[root][primaryKey]?.row }
    }

    /// The row with the time of its reading, for deciding whether it is stale.
    package func entry(root: Int, primaryKey: Int64) -> Entry? {
        tables.withLock { $0[root][primaryKey] }
    }

    /// The rows that are here, in the keys' order; `nil` for the others.
    package func rows(root: Int, primaryKeys: [Int64]) -> [RowSnapshot?] {
        tables.withLock { tables in primaryKeys.map { tables[root][$0]?.row } }
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
                let root = roots[row.entity]
                let known = tables[root].update(row.primaryKey) { entry -> RowSnapshot in
                    if entry.row.version == row.version {
                        entry.readTime = max(entry.readTime, time)
                        return entry.row
                    }
                    if row.version > entry.row.version { entry = Entry(row: row, readTime: time) }
                    return row
                }
                if let known {
                    rows[index] = known
                } else {
                    tables[root].set(row.primaryKey, Entry(row: row, readTime: time))
                }
            }
        }
    }

    // MARK: After a save

    /// Puts rows here as they are now, whatever their version.
    package func replace(_ rows: [RowSnapshot], at time: Double) {
        tables.withLock { tables in
            for row in rows { tables[roots[row.entity]].set(row.primaryKey, Entry(row: row, readTime: time)) }
        }
    }

    package func remove(_ keys: [RowKey]) {
        tables.withLock { tables in
            for key in keys { tables[roots[key.entity]].remove(key.primaryKey) }
        }
    }

    // MARK: Letting go

    /// Drops the row if nobody but the cache holds it.
    ///
    /// Call it after giving up the last reference of one's own.
    package func release(root: Int, primaryKey: Int64) {
        tables.withLock { tables in Self.release(&tables[root], primaryKey) }
    }

    /// Drops those of the rows that nobody but the cache holds.
    package func release(root: Int, primaryKeys: [Int64]) {
        tables.withLock { tables in
            for key in primaryKeys { Self.release(&tables[root], key) }
        }
    }

    package func removeAll() {
        tables.withLock { tables in
            for index in tables.indices { tables[index].removeAll() }
        }
    }

    private static func release(_ table: inout RowTable<Entry>, _ primaryKey: Int64) {
        let isOurs = table.update(primaryKey) { $0.row.isUniquelyReferenced() } ?? false
        if isOurs { table.remove(primaryKey) }
    }
}
