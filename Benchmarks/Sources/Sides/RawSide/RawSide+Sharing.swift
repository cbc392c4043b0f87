import Foundation
import Measuring
import RawSQLite

extension RawSide {
    /// A connection for the reader and one for the writer.
    package func sharedWork(store: URL, rows: Int) throws -> SharedWork {
        let reader = try RawSession(store)
        let writer = try RawSession(store)
        let items = Samples.rawItems(from: rows + 1, count: SharedWork.savedRows, rows: rows)
        return SharedWork(
            read: { try reader.digest { raw_fetch_some($0, Int64(SharedWork.readRows), $1) } },
            write: { try writer.check(raw_insert(writer.session, items, Int64(items.count))) },
            finish: { withExtendedLifetime((reader, writer)) {} })
    }
}
