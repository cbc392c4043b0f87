import CoreData
import Foundation
import Measuring
import RawSQLite
import Sides

/// W14: from nothing to the first objects of a store whose model is large.
struct StartUpMeasurement {
    let rounds: Int
    let stores: Stores

    func run() throws -> StartUpResult {
        var result = StartUpResult()
        try FileManager.default.createDirectory(at: stores.folder, withIntermediateDirectories: true)
        // The first round warms up.
        for round in 0...rounds {
            let store = stores.folder.appendingPathComponent("start-up-\(round).sqlite")
            defer { try? stores.remove(store) }
            var found = StartUpResult()
            let ours = try measureOurs(store, into: &found)
            let raw = try measureRaw(store, into: &found)
            guard ours == raw, ours.rows == StartUpResult.fetched else {
                throw MeasuringFailure("W14: the sides did different work: [\(ours)] and [\(raw)].")
            }
            guard round > 0 else { continue }
            result.milliseconds.merge(found.milliseconds) { $0 + $1 }
            result.raw.merge(found.raw) { $0 + $1 }
        }
        return result
    }

    private func measureOurs(_ store: URL, into result: inout StartUpResult) throws -> Digest {
        let firstModel = LargeModel.make()
        let (creating, first) = try Stopwatch.time { try open(firstModel, store) }
        result.note(.create, creating)
        try fill(first)
        try CoreDataSide.close(first)
        // A model of its own for each opening: one that a container has used is frozen and compiled already.
        let (making, model) = Stopwatch.time { LargeModel.make() }
        result.note(.model, making)
        let (opening, container) = try Stopwatch.time { try open(model, store) }
        result.note(.open, opening)
        let context = container.newBackgroundContext()
        let (fetching, digest) = try Stopwatch.time { try context.performAndWait { try fetch(context) } }
        result.note(.fetch, fetching)
        try CoreDataSide.close(container)
        return digest
    }

    private func measureRaw(_ store: URL, into result: inout StartUpResult) throws -> Digest {
        let (opening, session) = try Stopwatch.time {
            var session: OpaquePointer?
            let code = raw_open_store(store.path, &session)
            guard let session else { throw MeasuringFailure("SQLite: cannot open \(store.path).") }
            let opened = RawSession(session)
            try opened.check(code)
            return opened
        }
        result.noteRaw(.open, opening)
        let (fetching, digest) = try Stopwatch.time {
            try session.digest { raw_sum($0, LargeModel.firstFetch, $1) }
        }
        result.noteRaw(.fetch, fetching)
        return digest
    }

    private func open(_ model: NSManagedObjectModel, _ store: URL) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Large", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: store)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    private func fill(_ container: NSPersistentContainer) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<StartUpResult.fetched {
                let object = NSEntityDescription.insertNewObject(
                    forEntityName: LargeModel.firstEntity, into: context)
                for position in 0..<StartUpResult.attributes {
                    object.setValue(
                        LargeModel.isNumber(position) ? number : "text \(number)",
                        forKey: LargeModel.attributeName(position))
                }
            }
            try context.save()
        }
    }

    private func fetch(_ context: NSManagedObjectContext) throws -> Digest {
        let request = NSFetchRequest<NSManagedObject>(entityName: LargeModel.firstEntity)
        request.fetchLimit = StartUpResult.fetched
        var digest = Digest()
        for object in try context.fetch(request) {
            digest.rows += 1
            for position in 0..<StartUpResult.attributes {
                let value = object.value(forKey: LargeModel.attributeName(position))
                if let text = value as? String { digest.bytes += text.utf8.count }
                if let number = value as? Int64 { digest.number += Double(number) }
            }
        }
        return digest
    }
}
