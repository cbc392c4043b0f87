import CoreData
import Foundation
import Measuring
import RawSQLite
import Sides

/// Batch requests beside what plain C does, each on a file of its own.
struct Batches {
    let kind: FeatureKind
    let rows: Int
    let stores: Stores

    func round(isRaw: Bool) throws -> (seconds: Double, digest: Digest) {
        let contents: StoreContents = kind == .batchInsert ? .places : .full
        try stores.prepare(contents, rows: rows)
        let store = try stores.copy(contents, rows: rows, for: "batches")
        defer { try? stores.remove(store) }
        let seconds = try isRaw ? raw(store) : ours(store)
        var digest = Digest()
        digest.table = try Stores.tableDigest(store)
        return (seconds, digest)
    }

    private func ours(_ store: URL) throws -> Double {
        let container = try CoreDataSide().open(store)
        let context = container.newBackgroundContext()
        let request = try context.performAndWait { try self.request(context) }
        let (seconds, _) = try Stopwatch.time { try context.performAndWait { try context.execute(request) } }
        try CoreDataSide.close(container)
        return seconds
    }

    private func request(_ context: NSManagedObjectContext) throws -> NSPersistentStoreRequest {
        let listed = NSPredicate(format: "listed == YES")
        switch kind {
        case .batchInsert: return try insertion(context)
        case .batchUpdate:
            let request = NSBatchUpdateRequest(entityName: "Item")
            request.predicate = listed
            request.propertiesToUpdate = ["quantity": NSExpression(format: "quantity + 1")]
            return request
        default:
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
            fetch.predicate = listed
            return NSBatchDeleteRequest(fetchRequest: fetch)
        }
    }

    /// The values are there before; what puts them into dictionaries is part of the work, as it is of every program's.
    private func insertion(_ context: NSManagedObjectContext) throws -> NSBatchInsertRequest {
        func ids(_ entity: String, by key: String) throws -> [NSManagedObjectID] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
            return try context.fetch(request).map(\.objectID)
        }
        let homes = try ids("LocationAtHome", by: "storedIn")
        let shops = try ids("LocationAtShop", by: "aisle")
        let units = try ids("Unit", by: "name")
        let samples = Samples.items(from: 1, count: rows, rows: rows)
        var next = 0
        return NSBatchInsertRequest(
            entityName: "Item",
            dictionaryHandler: { row in
                guard next < samples.count else { return true }
                let sample = samples[next]
                next += 1
                row["name"] = sample.name
                row["quantity"] = Float(sample.quantity)
                row["collected"] = sample.collected
                row["listed"] = sample.listed
                row["locationAtHome"] = homes[sample.home - 1]
                row["locationAtShop"] = shops[sample.shop - 1]
                row["unit"] = units[sample.unit - 1]
                return false
            })
    }

    private func raw(_ store: URL) throws -> Double {
        let session = try RawSession(store)
        switch kind {
        case .batchInsert:
            let items = Samples.rawItems(from: 1, count: rows, rows: rows)
            return try Stopwatch.time { try session.check(raw_insert(session.session, items, Int64(items.count))) }
                .seconds
        case .batchUpdate:
            return try Stopwatch.time {
                try session.execute(
                    "UPDATE ZITEM SET ZQUANTITY = ZQUANTITY + 1, Z_OPT = IFNULL(Z_OPT, 0) + 1 WHERE ZLISTED = 1")
            }.seconds
        default: return try Stopwatch.time { try session.execute("DELETE FROM ZITEM WHERE ZLISTED = 1") }.seconds
        }
    }
}
