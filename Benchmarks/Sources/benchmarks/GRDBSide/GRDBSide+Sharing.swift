import Foundation
import GRDB
import Measuring
import Sides

extension GRDBSide {
    /// A pool, whose readers do not wait for its writer.
    func sharedWork(store: URL, rows: Int) throws -> SharedWork {
        let pool = try DatabasePool(path: store.path, configuration: Self.configuration)
        let samples = Samples.items(from: rows + 1, count: SharedWork.savedRows, rows: rows)
        return SharedWork(
            read: {
                try pool.read { try Self.digest(ItemRecord.limit(SharedWork.readRows).fetchAll($0)) }
            },
            write: {
                try pool.write { database in
                    var key = try Self.takeKeys(samples.count, database)
                    for sample in samples {
                        try ItemRecord(sample, key: key).insert(database)
                        key += 1
                    }
                }
            },
            finish: { try pool.close() })
    }
}
