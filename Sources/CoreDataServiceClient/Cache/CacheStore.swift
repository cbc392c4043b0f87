import CoreData
import CoreDataDigests
import Foundation

/// The cache: an SQLite store of objects that the service answered, of one account.
///
/// All methods may be called on any thread; they run one after another on the queue of the cache's context.
final class CacheStore: Sendable {
    let model: ServiceModel
    let context: NSManagedObjectContext
    private let store: NSPersistentStore
    private let limit: Int

    /// Opens the cache, or makes it. A cache of another version of the model is emptied.
    init(at url: URL, _ model: ServiceModel, _ original: NSManagedObjectModel, limit: Int) throws {
        self.model = model
        self.limit = limit
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: CacheModel(model, original).model)
        let options = [
            NSMigratePersistentStoresAutomaticallyOption: false, NSInferMappingModelAutomaticallyOption: false,
        ]
        func open() throws -> NSPersistentStore {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        }
        do { store = try open() } catch let error as CocoaError
            where error.errorCode == NSPersistentStoreIncompatibleVersionHashError
        {
            // Everything in it can be read from the service.
            try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
            store = try open()
        }
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
    }

    func close() throws {
        context.performAndWait { context.reset() }
        try context.persistentStoreCoordinator?.remove(store)
    }

    /// Runs the body on the cache's queue, and saves what it changes; a failed body changes nothing.
    func perform<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R {
        try context.performAndWait {
            defer { context.reset() }
            let result = try body(context)
            if context.hasChanges { try context.save() }
            return result
        }
    }

    // MARK: The account

    /// The account whose objects the cache has.
    struct Owner: Equatable, Sendable {
        var account: String
        /// A digest of the session's token, by which the session is recognised without a request.
        var tokenDigest: String

        static func digest(_ token: String) -> String { Digests.hex(Digests.sha256(Data(token.utf8))) }
    }

    private static let ownerKey = "CoreDataService.owner"
    private static let digestKey = "CoreDataService.token"

    var owner: Owner? {
        context.performAndWait {
            guard let account = store.metadata[Self.ownerKey] as? String, !account.isEmpty else { return nil }
            return Owner(account: account, tokenDigest: store.metadata[Self.digestKey] as? String ?? "")
        }
    }

    func setOwner(_ owner: Owner?) throws {
        try context.performAndWait {
            var metadata: [String: Any] = store.metadata
            metadata[Self.ownerKey] = owner?.account ?? ""
            metadata[Self.digestKey] = owner?.tokenDigest ?? ""
            store.metadata = metadata
            try context.save()
        }
    }

    // MARK: Contents

    /// Deletes everything.
    func empty() throws {
        try perform { context in
            for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? []
            where entity.superentity == nil {
                guard let name = entity.name else { continue }
                for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)) {
                    context.delete(object)
                }
            }
        }
    }

    /// The number of objects, without those that are known by their ID alone.
    func count() throws -> Int {
        try perform { context in
            try roots(context).reduce(0) { count, name in
                let request = NSFetchRequest<NSNumber>(entityName: name)
                request.predicate = NSPredicate(format: "%K != nil", CacheModel.tag)
                return try count + context.count(for: request)
            }
        }
    }

    private func roots(_ context: NSManagedObjectContext) -> [String] {
        (context.persistentStoreCoordinator?.managedObjectModel.entities ?? [])
            .filter { $0.superentity == nil && $0.name != CacheModel.answer }.compactMap(\.name).sorted()
    }

    /// Deletes the objects that were answered longest ago if there are too many. Then no answer is complete.
    ///
    /// - Parameter kept: objects that must stay, since the service does not have their values yet.
    func shrink(keeping kept: Set<UUID>) throws {
        let surplus = try count() - limit
        guard surplus > 0 else { return }
        try perform { context in
            // A tenth more, so that not every answer deletes.
            var remaining = surplus + limit / 10
            for name in roots(context) where remaining > 0 {
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                request.predicate = NSPredicate(format: "%K != nil", CacheModel.tag)
                request.sortDescriptors = [NSSortDescriptor(key: CacheModel.time, ascending: true)]
                request.fetchLimit = remaining
                for object in try context.fetch(request) {
                    guard let entity = model.entities[object.entity.name ?? ""],
                        let id = object.value(forKey: entity.identity) as? UUID, !kept.contains(id)
                    else { continue }
                    context.delete(object)
                    remaining -= 1
                }
            }
            try forgetAnswers(context)
        }
    }

    // MARK: Answers

    /// Whether a fetch or a relationship was answered since the cache was emptied.
    func knowsAnswer(_ key: String) throws -> Bool {
        try perform { context in try answer(key, context) != nil }
    }

    func noteAnswer(_ key: String) throws {
        try perform { context in
            guard try answer(key, context) == nil else { return }
            let answer = NSEntityDescription.insertNewObject(forEntityName: CacheModel.answer, into: context)
            answer.setValue(key, forKey: "key")
        }
    }

    private func answer(_ key: String, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: CacheModel.answer)
        request.predicate = NSPredicate(format: "key == %@", key)
        request.fetchLimit = 1
        return try context.fetch(request).first
    }

    private func forgetAnswers(_ context: NSManagedObjectContext) throws {
        for answer in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: CacheModel.answer)) {
            context.delete(answer)
        }
    }
}
