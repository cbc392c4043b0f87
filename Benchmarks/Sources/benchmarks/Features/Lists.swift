import CoreData
import Foundation
import Measuring
import RawSQLite
import Sides

/// A fetched results controller of all items, in sections by their units.
struct Lists {
    let rows: Int
    let stores: Stores

    private static let page = 20
    private static let edits = 1000

    /// To fetch the list and to look at what a screen shows of it.
    func firstPage(isRaw: Bool) throws -> (seconds: Double, digest: Digest) {
        try stores.prepare(.full, rows: rows)
        let store = try stores.copy(.full, rows: rows, for: "lists")
        defer { try? stores.remove(store) }
        return try isRaw ? rawPage(store) : ourPage(store)
    }

    private func makeList(_ context: NSManagedObjectContext, batchSize: Int) -> NSFetchedResultsController<Item> {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.sortDescriptors = [
            NSSortDescriptor(key: "unit.name", ascending: true), NSSortDescriptor(key: "name", ascending: true),
        ]
        request.fetchBatchSize = batchSize
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "unit.name", cacheName: nil)
    }

    private func ourPage(_ store: URL) throws -> (seconds: Double, digest: Digest) {
        let container = try CoreDataSide().open(store)
        let context = container.newBackgroundContext()
        let (seconds, digest) = try Stopwatch.time {
            try context.performAndWait {
                let list = makeList(context, batchSize: Self.page)
                try list.performFetch()
                let sections = list.sections ?? []
                var bytes = 0
                for item in 0..<Self.page {
                    bytes += list.object(at: IndexPath(item: item, section: 0)).name?.utf8.count ?? 0
                }
                return Digest(
                    rows: sections.reduce(0) { $0 + $1.numberOfObjects }, number: Double(sections.count), bytes: bytes)
            }
        }
        try CoreDataSide.close(container)
        return (seconds, digest)
    }

    private func rawPage(_ store: URL) throws -> (seconds: Double, digest: Digest) {
        let session = try RawSession(store)
        let source = "FROM ZITEM t0 LEFT OUTER JOIN ZUNIT t1 ON t1.Z_PK = t0.ZUNIT"
        let order = "ORDER BY t1.ZNAME, t0.ZNAME"
        let (seconds, digests) = try Stopwatch.time {
            // What follows the third column is summed: here, nothing.
            let keys = try session.digest { raw_sum($0, "SELECT t0.Z_PK, t0.Z_ENT, NULL \(source) \(order)", $1) }
            let groups = try session.digest {
                raw_sum($0, "SELECT t1.ZNAME, COUNT(*), NULL \(source) GROUP BY t1.ZNAME ORDER BY t1.ZNAME", $1)
            }
            return (keys, groups)
        }
        let first = try session.text(
            "SELECT GROUP_CONCAT(Z_PK) FROM (SELECT t0.Z_PK \(source) \(order) LIMIT \(Self.page))")
        let (more, page) = try Stopwatch.time {
            try session.digest {
                raw_sum($0, "SELECT Z_PK, Z_ENT, Z_OPT, ZNAME FROM (SELECT * FROM ZITEM WHERE Z_PK IN (\(first)))", $1)
            }
        }
        return (seconds + more, Digest(rows: digests.0.rows, number: Double(digests.1.rows), bytes: page.bytes))
    }

    /// Counts what it is told.
    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        var changes = 0

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) { changes += 1 }
    }

    /// Seconds that it takes to change one item's name, and to tell of it.
    func edit(isGoal: Bool) throws -> (seconds: Double, digest: Digest) {
        guard !isGoal else { return (50e-6, Digest(rows: Self.edits, number: 0, bytes: 0)) }
        try stores.prepare(.full, rows: rows)
        let store = try stores.copy(.full, rows: rows, for: "lists")
        defer { try? stores.remove(store) }
        let container = try CoreDataSide().open(store)
        let context = container.newBackgroundContext()
        let result = try context.performAndWait {
            let list = makeList(context, batchSize: 0)
            let listener = Listener()
            list.delegate = listener
            try list.performFetch()
            let items = list.fetchedObjects ?? []
            let chosen = Samples.shuffledPositions(items.count)
            // The first change makes what the others use.
            items[0].name = "first"
            context.processPendingChanges()
            listener.changes = 0
            let (seconds, _) = Stopwatch.time {
                for edit in 0..<Self.edits {
                    items[chosen[edit % chosen.count]].name = "edit \(edit)"
                    context.processPendingChanges()
                }
            }
            context.rollback()
            return (seconds / Double(Self.edits), Digest(rows: min(listener.changes, Self.edits), number: 0, bytes: 0))
        }
        try CoreDataSide.close(container)
        return result
    }
}
