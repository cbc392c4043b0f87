import CoreData
import Foundation
import Measuring

/// Fetches, counts and faults; each run has a context of its own, so that nothing is registered yet.
struct ReadingTrials {
    let container: NSPersistentContainer
    let rows: Int

    func trial(_ workload: Workload) throws -> Trial? {
        let container = container
        switch workload {
        case .fetchRegistered: return try registeredTrial()
        case .fetchKeys: return try keysTrial()
        default:
            guard let work = Self.work(workload) else { return nil }
            return Trial(
                run: {
                    let context = container.newBackgroundContext()
                    return try context.performAndWait { try work(context) }
                },
                finish: { try CoreDataSide.close(container) })
        }
    }

    private static func work(_ workload: Workload) -> ((NSManagedObjectContext) throws -> Digest)? {
        switch workload {
        case .fetchAll:
            return { Digest(try $0.fetch(NSFetchRequest<Item>(entityName: "Item"))) }
        case .fetchPage, .fetchPageIndexed:
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.predicate = NSPredicate(format: "listed == YES AND quantity >= 20")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            request.fetchLimit = 20
            return { Digest(try $0.fetch(request)) }
        case .prefetch:
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.relationshipKeyPathsForPrefetching = ["locationAtHome"]
            return { context in
                var digest = Digest()
                for item in try context.fetch(request) {
                    digest.rows += 1
                    digest.bytes += item.locationAtHome?.storedIn?.utf8.count ?? 0
                }
                return digest
            }
        case .count:
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.predicate = NSPredicate(format: "listed == YES AND quantity >= 20")
            return { Digest(rows: try $0.count(for: request), number: 0, bytes: 0) }
        case .dictionaries:
            let request = NSFetchRequest<NSDictionary>(entityName: "Item")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["name", "quantity"]
            return { context in
                var digest = Digest()
                for row in try context.fetch(request) {
                    digest.rows += 1
                    digest.bytes += (row["name"] as? String)?.utf8.count ?? 0
                    digest.number += (row["quantity"] as? NSNumber)?.doubleValue ?? 0
                }
                return digest
            }
        case .decodedRows:
            let request = NSFetchRequest<Item>(entityName: "Item")
            return { context in
                var digest = Digest()
                for row in try context.fetch(request, as: ItemRow.self) {
                    digest.rows += 1
                    digest.bytes += row.name?.utf8.count ?? 0
                    digest.number += Double(row.quantity) + (row.listed ? 1 : 0)
                }
                return digest
            }
        case .rows:
            let request = NSFetchRequest<Item>(entityName: "Item")
            return { context in
                var digest = Digest()
                for row in try context.fetch(request, as: DirectRow.self) {
                    digest.rows += 1
                    digest.bytes += row.name?.utf8.count ?? 0
                    digest.number += Double(row.quantity) + (row.listed ? 1 : 0)
                }
                return digest
            }
        case .tuples:
            let request = NSFetchRequest<Item>(entityName: "Item")
            return { context in
                var digest = Digest()
                for (name, quantity, listed) in try context.fetch(request, \.name, \.quantity, \.listed) {
                    digest.rows += 1
                    digest.bytes += name?.utf8.count ?? 0
                    digest.number += Double(quantity) + (listed ? 1 : 0)
                }
                return digest
            }
        default: return nil
        }
    }

    private struct DirectRow: FetchedRow {
        var name: String?
        var quantity: Float
        var listed: Bool
    }

    /// A row of three columns.
    private struct ItemRow: Decodable {
        var name: String?
        var quantity: Float
        var listed: Bool
    }

    /// The IDs of all items in random order.
    private func shuffledIDs(_ context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
        request.resultType = .managedObjectIDResultType
        let ids = try context.fetch(request)
        return Samples.shuffledPositions(ids.count).map { ids[$0] }
    }

    private func keysTrial() throws -> Trial {
        let container = container
        let asking = container.newBackgroundContext()
        let ids = try asking.performAndWait { try shuffledIDs(asking) }
        return Trial(
            run: {
                let context = container.newBackgroundContext()
                return try context.performAndWait { try Self.digest(ids, context) }
            },
            finish: { try CoreDataSide.close(container) })
    }

    private func registeredTrial() throws -> Trial {
        let container = container
        let context = container.newBackgroundContext()
        var held: [Item] = []
        let ids = try context.performAndWait {
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.returnsObjectsAsFaults = false
            held = try context.fetch(request)
            return try shuffledIDs(context)
        }
        return Trial(
            run: { try context.performAndWait { try Self.digest(ids, context) } },
            finish: {
                context.performAndWait { withExtendedLifetime(held) { held = [] } }
                try CoreDataSide.close(container)
            })
    }

    private static func digest(_ ids: [NSManagedObjectID], _ context: NSManagedObjectContext) throws -> Digest {
        var digest = Digest()
        for id in ids {
            guard let item = context.object(with: id) as? Item else {
                throw MeasuringFailure("\(id) is no item.")
            }
            digest.add(item)
        }
        return digest
    }
}
