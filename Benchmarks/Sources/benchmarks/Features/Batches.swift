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
        let contents: StoreContents = inserts ? .places : .full
        try stores.prepare(contents, rows: rows)
        let store = try stores.copy(contents, rows: rows, for: "batches")
        defer { try? stores.remove(store) }
        let seconds = try isRaw ? raw(store) : ours(store)
        var digest = Digest()
        digest.table = try Stores.tableDigest(store)
        return (seconds, digest)
    }

    private var inserts: Bool {
        switch kind {
        case .batchInsert, .batchInsertList, .batchInsertObjects, .batchInsertRows: true
        default: false
        }
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
        case .batchInsert, .batchInsertList, .batchInsertObjects, .batchInsertRows: return try insertion(context)
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

    /// The values are there before; what hands them over is part of the work, as it is of every program's.
    private func insertion(_ context: NSManagedObjectContext) throws -> NSBatchInsertRequest {
        func places<Place: NSManagedObject>(_ entity: String, by key: String) throws -> [Place] {
            let request = NSFetchRequest<Place>(entityName: entity)
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
            return try context.fetch(request)
        }
        let homes: [LocationAtHome] = try places("LocationAtHome", by: "storedIn")
        let shops: [LocationAtShop] = try places("LocationAtShop", by: "aisle")
        let units: [Sides.Unit] = try places("Unit", by: "name")
        let samples = Samples.items(from: 1, count: rows, rows: rows)
        switch kind {
        case .batchInsertList: return list(samples, homes, shops, units)
        case .batchInsertObjects: return objects(samples, homes, shops, units)
        case .batchInsertRows: return try rows(samples, homes, shops, units)
        default: return dictionaries(samples, homes, shops, units)
        }
    }

    private func list(
        _ samples: [ItemValues], _ homes: [LocationAtHome], _ shops: [LocationAtShop], _ units: [Sides.Unit]
    ) -> NSBatchInsertRequest {
        let (homes, shops, units) = (homes.map(\.objectID), shops.map(\.objectID), units.map(\.objectID))
        return NSBatchInsertRequest(
            entityName: "Item",
            objects: samples.map { sample in
                [
                    "name": sample.name, "quantity": Float(sample.quantity), "collected": sample.collected,
                    "listed": sample.listed, "locationAtHome": homes[sample.home - 1],
                    "locationAtShop": shops[sample.shop - 1], "unit": units[sample.unit - 1],
                ]
            })
    }

    private func dictionaries(
        _ samples: [ItemValues], _ homes: [LocationAtHome], _ shops: [LocationAtShop], _ units: [Sides.Unit]
    ) -> NSBatchInsertRequest {
        let (homes, shops, units) = (homes.map(\.objectID), shops.map(\.objectID), units.map(\.objectID))
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

    private func objects(
        _ samples: [ItemValues], _ homes: [LocationAtHome], _ shops: [LocationAtShop], _ units: [Sides.Unit]
    ) -> NSBatchInsertRequest {
        var next = 0
        return NSBatchInsertRequest(
            entityName: "Item",
            managedObjectHandler: { object in
                guard next < samples.count else { return true }
                let sample = samples[next]
                next += 1
                let item = unsafeDowncast(object, to: Item.self)
                item.name = sample.name
                item.quantity = Float(sample.quantity)
                item.collected = sample.collected
                item.listed = sample.listed
                item.locationAtHome = homes[sample.home - 1]
                item.locationAtShop = shops[sample.shop - 1]
                item.unit = units[sample.unit - 1]
                return false
            })
    }

    private func rows(
        _ samples: [ItemValues], _ homes: [LocationAtHome], _ shops: [LocationAtShop], _ units: [Sides.Unit]
    ) throws -> NSBatchInsertRequest {
        let (homes, shops, units) = (homes.map(\.persistentID), shops.map(\.persistentID), units.map(\.persistentID))
        var next = 0
        return try NSBatchInsertRequest(
            \Item.name, \.quantity, \.collected, \.listed, \.locationAtHome?.persistentID,
            \.locationAtShop?.persistentID,
            \.unit?.persistentID
        ) {
            guard next < samples.count else { return nil }
            let sample = samples[next]
            next += 1
            return (
                sample.name, Float(sample.quantity), sample.collected, sample.listed, homes[sample.home - 1],
                shops[sample.shop - 1], units[sample.unit - 1]
            )
        }
    }

    private func raw(_ store: URL) throws -> Double {
        let session = try RawSession(store)
        switch kind {
        case .batchInsert, .batchInsertList, .batchInsertObjects, .batchInsertRows:
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
