import CoreData
import Foundation
import Measuring
import RawSQLite
import Sides

/// Items whose names are unique, made anew with other quantities: of the store's model with a uniqueness constraint.
struct Upserts {
    let rows: Int
    /// How many of them are there.
    let present: Int
    let stores: Stores

    /// One save of all of them, on a file of its own.
    func round(isRaw: Bool) throws -> (seconds: Double, digest: Digest) {
        let store = stores.folder.appendingPathComponent("upserts.sqlite")
        try FileManager.default.createDirectory(at: stores.folder, withIntermediateDirectories: true)
        try stores.remove(store)
        defer { try? stores.remove(store) }
        let side = CoreDataSide(uniqueNames: true)
        try CoreDataSide.close(side.open(store))
        do {
            let session = try RawSession(store)
            try session.check(raw_fill(session.session, Int64(present), 1))
            try session.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        let seconds = try isRaw ? raw(store) : ours(side, store)
        // Which keys new rows have does not matter: the C side takes one for each row that it offers.
        let table = try RawSession(store).text(
            "SELECT COUNT(*), TOTAL(Z_OPT), TOTAL(ZQUANTITY), TOTAL(LENGTH(ZNAME)), COUNT(ZUNIT) FROM ZITEM")
        var digest = Digest()
        digest.table = table
        return (seconds, digest)
    }

    private func ours(_ side: CoreDataSide, _ store: URL) throws -> Double {
        let container = try side.open(store)
        let context = container.newBackgroundContext()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let samples = Samples.items(from: 1, count: rows, rows: rows)
        let (seconds, _) = try Stopwatch.time {
            try context.performAndWait {
                for sample in samples {
                    let item = Item(context: context)
                    item.name = sample.name
                    item.quantity = Float(sample.quantity) + 100
                }
                try context.save()
            }
        }
        try CoreDataSide.close(container)
        return seconds
    }

    private func raw(_ store: URL) throws -> Double {
        let session = try RawSession(store)
        let items = Samples.rawItems(from: 1, count: rows, rows: rows)
        return try Stopwatch.time {
            try session.check(raw_upsert(session.session, items, Int64(items.count), 100))
        }.seconds
    }
}
