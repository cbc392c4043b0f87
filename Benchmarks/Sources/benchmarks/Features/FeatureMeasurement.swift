import CoreData
import Foundation
import Measuring
import Sides

/// F1 … F18: what children, merging, undo, upserts, batch requests, lists, migrations, stores of one file and searches take beside the same
/// without them, in turn, each on a file of its own.
struct FeatureMeasurement {
    let kind: FeatureKind
    let rows: Int
    let rounds: Int
    let stores: Stores

    func run() throws -> FeatureResult {
        var (seconds, other): ([Double], [Double]) = ([], [])
        // One round to warm up.
        for round in 0...rounds {
            let mine = try self.round(isBeside: false)
            let theirs = try self.round(isBeside: true)
            guard mine.digest == theirs.digest else {
                throw MeasuringFailure("\(kind.rawValue) did different work: [\(mine.digest)] and [\(theirs.digest)].")
            }
            guard round > 0 else { continue }
            seconds.append(mine.seconds)
            other.append(theirs.seconds)
        }
        return FeatureResult(kind: kind, rows: rows, seconds: seconds, other: other)
    }

    private func round(isBeside: Bool) throws -> (seconds: Double, digest: Digest) {
        switch kind {
        case .upsert, .upsertHalf:
            return try Upserts(rows: rows, present: kind == .upsert ? rows : rows / 2, stores: stores).round(
                isRaw: isBeside)
        case .batchInsert, .batchInsertList, .batchInsertObjects, .batchInsertRows, .batchUpdate, .batchDelete:
            return try Batches(kind: kind, rows: rows, stores: stores).round(isRaw: isBeside)
        case .list: return try Lists(rows: rows, stores: stores).firstPage(isRaw: isBeside)
        case .listEdit: return try Lists(rows: rows, stores: stores).edit(isGoal: isBeside)
        case .lightweight: return try Migrations(rows: rows, stores: stores).lightweight(isRaw: isBeside)
        case .mapping: return try Migrations(rows: rows, stores: stores).mapped(isRaw: isBeside)
        case .mappingPolicy:
            return try Migrations(rows: rows, stores: stores).mapped(isRaw: isBeside, policy: StarringPolicy.self)
        case .xml, .binary:
            return try FileStores(isXML: kind == .xml, rows: rows, stores: stores).round(isFoundation: isBeside)
        case .trigram, .trigramScan, .words, .prefix:
            return try Searches(kind: kind, rows: rows, stores: stores).round(isBeside: isBeside)
        case .groups: return try Groups(rows: rows, stores: stores).round(isRaw: isBeside)
        default: break
        }
        let contents: StoreContents = kind == .child ? .places : .full
        try stores.prepare(contents, rows: rows)
        let store = try stores.copy(contents, rows: rows, for: "features")
        defer { try? stores.remove(store) }
        let container = try CoreDataSide().open(store)
        let context = container.newBackgroundContext()
        let work: Work =
            switch kind {
            case .child: try inserts(context, inChild: !isBeside)
            case .merge: try merge(context, container, fetches: isBeside)
            default: try edits(context, undo: isBeside ? nil : UndoManager(), saves: kind == .undo)
            }
        let (seconds, _) = try Stopwatch.time { try context.performAndWait(work.run) }
        var digest = try context.performAndWait(work.finish)
        try CoreDataSide.close(container)
        digest.table = try Stores.tableDigest(store)
        return (seconds, digest)
    }

    private struct Work {
        /// What is timed.
        let run: () throws -> Void
        var finish: () throws -> Digest = { Digest() }
    }

    private func inserts(_ context: NSManagedObjectContext, inChild: Bool) throws -> Work {
        let samples = Samples.items(from: 1, count: rows, rows: rows)
        guard inChild else {
            let places = try context.performAndWait { try Places(context) }
            return Work(run: {
                for sample in samples { places.insert(sample, into: context) }
                try context.save()
            })
        }
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        let places = try child.performAndWait { try Places(child) }
        return Work(run: {
            try child.performAndWait {
                for sample in samples { places.insert(sample, into: child) }
                try child.save()
            }
            try context.save()
        })
    }

    private func merge(
        _ context: NSManagedObjectContext, _ container: NSPersistentContainer, fetches: Bool
    ) throws -> Work {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.returnsObjectsAsFaults = false
        let held = try context.performAndWait { try context.fetch(request) }
        let sibling = container.newBackgroundContext()
        nonisolated(unsafe) var saved: Notification?
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: sibling, queue: nil
        ) { saved = $0 }
        defer { NotificationCenter.default.removeObserver(token) }
        try sibling.performAndWait {
            for item in try sibling.fetch(request) { item.quantity += 1 }
            try sibling.save()
        }
        guard let notification = saved else { throw MeasuringFailure("The sibling's save was not told of.") }
        let refetch = NSFetchRequest<Item>(entityName: "Item")
        refetch.returnsObjectsAsFaults = false
        refetch.shouldRefreshRefetchedObjects = true
        return Work(
            run: {
                if fetches {
                    _ = try context.fetch(refetch)
                } else {
                    context.mergeChanges(fromContextDidSave: notification)
                }
            },
            finish: {
                withExtendedLifetime(sibling) {}
                return Digest(rows: held.count, number: held.reduce(0) { $0 + Double($1.quantity) }, bytes: 0)
            })
    }

    private func edits(_ context: NSManagedObjectContext, undo: UndoManager?, saves: Bool) throws -> Work {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.returnsObjectsAsFaults = false
        let items = try context.performAndWait {
            context.undoManager = undo
            return try context.fetch(request)
        }
        return Work(
            run: {
                for item in items { item.quantity += 1 }
                context.processPendingChanges()
                if saves { try context.save() }
            },
            finish: {
                let changed = items.reduce(0) { $0 + Double($1.quantity) }
                if let undo {
                    guard undo.canUndo else { throw MeasuringFailure("There is nothing to undo.") }
                    undo.undo()
                    let before = items.reduce(0) { $0 + Double($1.quantity) }
                    guard before == changed - Double(items.count) else {
                        throw MeasuringFailure("Undone, \(changed) became \(before).")
                    }
                }
                context.rollback()
                return Digest(rows: items.count, number: changed, bytes: 0)
            })
    }
}
