import CoreData
import Foundation
import Measuring

/// Inserts, updates and deletes; what they left is read from the file afterwards.
struct WritingTrials {
    let container: NSPersistentContainer
    let rows: Int

    func trial(_ workload: Workload) throws -> Trial {
        let container = container
        let context = container.newBackgroundContext()
        let run =
            switch workload {
            case .insert, .saveEach: try inserting(workload, context)
            default: try changing(workload, context)
            }
        return Trial(run: run, finish: { try CoreDataSide.close(container) })
    }

    private func inserting(
        _ workload: Workload, _ context: NSManagedObjectContext
    ) throws -> () throws -> Digest {
        let savesEach = workload == .saveEach
        let samples =
            savesEach
            ? Samples.items(from: rows + 1, count: Workload.saves, rows: rows)
            : Samples.items(from: 1, count: rows, rows: rows)
        let places = try context.performAndWait { try Places(context) }
        return {
            try context.performAndWait {
                for sample in samples {
                    places.insert(sample, into: context)
                    if savesEach { try context.save() }
                }
                if !savesEach { try context.save() }
            }
            return Digest()
        }
    }

    private func changing(
        _ workload: Workload, _ context: NSManagedObjectContext
    ) throws -> () throws -> Digest {
        let items = try context.performAndWait {
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.returnsObjectsAsFaults = false
            return try context.fetch(request)
        }
        if workload == .delete {
            return {
                try context.performAndWait {
                    for item in items { context.delete(item) }
                    try context.save()
                }
                return Digest()
            }
        }
        return {
            try context.performAndWait {
                for item in items { item.quantity += 1 }
                try context.save()
            }
            return Digest()
        }
    }
}

/// The objects that new items refer to, by primary key from 1 on.
package struct Places {
    let homes: [LocationAtHome]
    let shops: [LocationAtShop]
    let units: [Unit]

    package init(_ context: NSManagedObjectContext) throws {
        homes = try Self.all("LocationAtHome", by: "storedIn", context)
        shops = try Self.all("LocationAtShop", by: "aisle", context)
        units = try Self.all("Unit", by: "name", context)
    }

    /// A new item with its three to-ones.
    package func insert(_ values: ItemValues, into context: NSManagedObjectContext) {
        let item = Item(context: context)
        item.name = values.name
        item.quantity = Float(values.quantity)
        item.collected = values.collected
        item.listed = values.listed
        item.locationAtHome = homes[values.home - 1]
        item.locationAtShop = shops[values.shop - 1]
        item.unit = units[values.unit - 1]
    }

    private static func all<Object: NSManagedObject>(
        _ entity: String, by key: String, _ context: NSManagedObjectContext
    ) throws -> [Object] {
        let request = NSFetchRequest<Object>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        request.returnsObjectsAsFaults = false
        return try context.fetch(request)
    }
}
