import CoreData
import Foundation

// Fetches that block no queue.
extension ServiceStore {
    /// A fetch that was answered before its context executes it.
    struct Prepared: Sendable {
        let entity: String
        let limit: Int
        let offset: Int
        let answer: ServiceCore.FetchAnswer

        func answers(_ fetch: RemoteFetch) -> Bool {
            fetch.entity.name == entity && fetch.limit == limit && fetch.offset == offset
        }
    }

    @TaskLocal static var prepared: Prepared?

    /// Fetches objects without blocking the context's queue: the requests are sent before the context is used.
    ///
    ///     let request = Item.fetchRequest()
    ///     request.predicate = NSPredicate(format: "isListed == YES")
    ///     let items = try await store.fetch(request, in: container.viewContext)
    ///
    /// The objects belong to the context's queue. `NSAsynchronousFetchRequest` runs on the queue of its context, so it
    /// is right for contexts with a queue of their own, and blocks the main thread for those of the main queue.
    ///
    /// - Parameter policy: the policy of this fetch; `nil` for the store's.
    public func fetch<T: NSFetchRequestResult>(
        _ request: NSFetchRequest<T>, in context: NSManagedObjectContext, cachePolicy policy: CachePolicy? = nil
    ) async throws -> sending [T] {
        let copy = Passed(NSFetchRequest<T>(request))
        let policy = policy ?? core.policy
        let prepared = try await prepare(copy.value, policy)
        let found = try await context.perform {
            try Self.$prepared.withValue(prepared) {
                try Self.$requestPolicy.withValue(policy) { Passed(try context.fetch(copy.value)) }
            }
        }
        return found.value
    }

    /// Asks the service for the objects of a fetch.
    private func prepare(_ request: AnyFetchRequest, _ policy: CachePolicy) async throws -> Prepared? {
        guard request.resultType == .managedObjectResultType || request.resultType == .managedObjectIDResultType,
            policy != .cacheOnly
        else { return nil }
        let job = try job(request)
        do {
            var answer = try await core.objects(job, policy)
            if core.options.loadsLargeValues {
                answer.objects = try await core.addingLargeValues(answer.objects, policy)
            }
            return Prepared(
                entity: job.remote.entity.name, limit: job.remote.limit, offset: job.remote.offset, answer: answer)
        } catch let failure as ServiceFailure { throw ServiceErrors.error(failure) }
    }

    /// Reads the bytes of a large value, of a store that does not read them with their objects.
    ///
    ///     let photo = try await store.loadLargeValue("photo", of: item.objectID)
    ///
    /// - Returns: `nil` if the attribute has no value.
    public func loadLargeValue(_ name: String, of objectID: NSManagedObjectID) async throws -> Data? {
        guard let identity = identity(of: objectID), let entity = core.model.entities[identity.entity],
            entity.largeValues.contains(name)
        else {
            throw ServiceErrors.make(
                NSPersistentStoreOperationError,
                "\(objectID.entity.name ?? "").\(name) is not a large value of a saved object of the service.")
        }
        do {
            return try await core.asking {
                let path = "/api/\(entity.name)/\(identity.id.uuidString)/\(name)"
                guard let bytes = try await core.client().bytes(at: path) else {
                    throw ServiceErrors.missing(entity.name, identity.id)
                }
                return bytes
            }
        } catch let failure as ServiceFailure { throw ServiceErrors.error(failure) }
    }
}

extension NSManagedObjectContext {
    /// Fetches with a policy of its own for the stores of services, on the context's queue.
    ///
    ///     let items = try context.fetch(request, cachePolicy: .cacheOnly)
    ///
    /// Faults that the objects are, and relationships, are read later by the policy of the store.
    public nonisolated func fetch<T: NSFetchRequestResult>(
        _ request: NSFetchRequest<T>, cachePolicy policy: ServiceStore.CachePolicy
    ) throws -> [T] {
        try ServiceStore.$requestPolicy.withValue(policy) { try fetch(request) }
    }

    /// Counts with a policy of its own for the stores of services, on the context's queue.
    ///
    ///     let count = try context.count(for: request, cachePolicy: .cacheElseNetwork)
    public nonisolated func count(
        for request: AnyFetchRequest, cachePolicy policy: ServiceStore.CachePolicy
    ) throws -> Int {
        try ServiceStore.$requestPolicy.withValue(policy) { try count(for: request) }
    }
}
