import CoreData
import CoreDataSyncEngine
import Foundation

/// The row of an ``EntryBlock``.
final class BlockObject: NSManagedObject {
    private static let keys = (
        PropertyKey<UUID>("firstID"), PropertyKey<UUID>("lastID"), PropertyKey<Int64>("firstPlace"),
        PropertyKey<Int64>("lastPlace"), PropertyKey<Int64>("entries"), PropertyKey<Data>("bytes")
    )

    var range: EntryBlock.Range {
        EntryBlock.Range(
            first: GlobalID(self[Self.keys.0]), last: GlobalID(self[Self.keys.1]), firstPlace: self[Self.keys.2],
            lastPlace: self[Self.keys.3])
    }
    var entries: Int64 { self[Self.keys.4] }
    var bytes: Data { self[Self.keys.5] }

    func take(_ block: EntryBlock) {
        self[Self.keys.0] = block.range.first.uuid
        self[Self.keys.1] = block.range.last.uuid
        self[Self.keys.2] = block.range.firstPlace
        self[Self.keys.3] = block.range.lastPlace
        self[Self.keys.4] = Int64(block.count)
        self[Self.keys.5] = block.bytes
    }
}
