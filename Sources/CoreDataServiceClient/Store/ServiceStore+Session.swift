import CoreData
import CoreDataRemoteSync
import Foundation

// What apps do with a store, beside fetching and saving.
extension ServiceStore {
    // MARK: Policies

    /// The policy of requests that name none.
    ///
    ///     store.cachePolicy = isReachable ? .networkElseCache : .cacheOnly
    ///
    /// A store without ``Options/cacheFolder`` fails with any other policy than ``CachePolicy/networkOnly``.
    public var cachePolicy: CachePolicy {
        get { core.policy }
        set {
            core.policy = newValue
            if newValue != .cacheOnly { core.startSending() }
        }
    }

    /// What happens to queued changes of objects that another writer has changed.
    public var conflictPolicy: ConflictPolicy {
        get { core.conflictPolicy }
        set { core.conflictPolicy = newValue }
    }

    /// The policy of the requests that the present task or thread makes.
    @TaskLocal static var requestPolicy: CachePolicy?

    /// Runs a body whose requests to the stores of services have a policy of their own: fetches, faults and
    /// relationships. Saves have the policy of their store.
    ///
    ///     let total = try ServiceStore.withCachePolicy(.cacheOnly) { try context.fetch(request).reduce(0) { $0 + $1.price } }
    public static func withCachePolicy<R>(_ policy: CachePolicy, _ body: () throws -> R) rethrows -> R {
        try $requestPolicy.withValue(policy, operation: body)
    }

    var currentPolicy: CachePolicy { Self.requestPolicy ?? core.policy }

    // MARK: The session

    /// The session with which requests are sent.
    public var session: ServiceSession { core.session }

    /// Continues with another session: after the former one has ended, or for another account.
    ///
    ///     let session = try await ServiceSession.signIn(to: address, name: "ben", password: password, device: "Kitchen")
    ///     store.use(session)
    ///     context.reset()
    ///
    /// If the account is another one, the cache is emptied before the next request is answered. Queued changes stay
    /// with their account: they are sent when it signs in again.
    public func use(_ session: ServiceSession) {
        core.use(session)
        forgetEverything()
        core.startSending()
    }

    /// Ends the session and empties the cache.
    ///
    /// - Parameter discardingQueuedChanges: whether changes that the service does not have yet are given up.
    /// - Throws: an error if changes are queued, and nothing happens; ``CoreDataRemoteSync/ServiceError`` if the
    ///   service cannot be reached. Then the cache is empty, but the token is valid until it ends by itself.
    public func signOut(discardingQueuedChanges: Bool = false) async throws {
        let core = core
        let changes = try queuedChanges
        guard changes.isEmpty || discardingQueuedChanges else {
            throw ServiceErrors.make(
                NSPersistentStoreOperationError,
                "\(changes.count) saves have not been sent to the service: send them, or discard them.")
        }
        try core.queue?.update([], deleting: changes.map(\.id))
        try core.forgetAccount()
        try await NetworkWork.onThread { self.forgetEverything() }
        if !changes.isEmpty { core.notifyOfQueue() }
        try await core.session.signOut()
    }

    /// Empties the cache; the next requests ask the service.
    public func emptyCache() throws {
        try core.cache?.empty()
        forgetEverything()
    }

    /// The number of objects in the cache.
    public var cachedObjectCount: Int { get throws { try core.cache?.count() ?? 0 } }

    private func forgetEverything() {
        held.withLock { held in
            held.stale.formUnion(held.handed.keys)
            held.handed = [:]
            held.fresh = [:]
            held.entities = [:]
        }
        alone { self.forgetStaleRows() }
    }

    // MARK: The queue

    /// The saves of the session's account that the service does not have yet, in their order.
    ///
    /// Empty as long as the account is not known: before the first request of a new session.
    public var queuedChanges: [QueuedChange] {
        get throws {
            let core = core
            guard let queue = core.queue else { return [] }
            if core.knownAccount == nil, let owner = core.cache?.owner,
                owner.tokenDigest == CacheStore.Owner.digest(core.session.token)
            {
                return try queue.entries(of: owner.account).map(QueuedChange.init)
            }
            guard let account = core.knownAccount?.account else { return [] }
            return try queue.entries(of: account).map(QueuedChange.init)
        }
    }

    /// Sends the queued changes, in their order.
    ///
    ///     let results = try await store.sendQueuedChanges()
    ///     for result in results { print(result.outcomes) }
    ///
    /// A change that the service refuses stays in the queue, and the next one is sent.
    ///
    /// - Returns: the results of the changes that were sent.
    /// - Throws: an error if the service cannot be reached and nothing was sent, or the session has ended.
    @discardableResult
    public func sendQueuedChanges() async throws -> [QueuedChange.Result] {
        let core = core
        let report: QueueSender.Report
        do { report = try await core.sendQueue() } catch let failure as ServiceFailure {
            core.noteSession(failure)
            throw ServiceErrors.error(failure)
        }
        try await NetworkWork.onThread { self.alone { self.forgetStaleRows() } }
        if let failure = report.failure, report.results.isEmpty { throw ServiceErrors.error(failure) }
        return report.results
    }

    /// Removes a change from the queue: the service never gets it. Objects in contexts keep their values until they are
    /// refreshed.
    public func discardQueuedChange(_ id: UUID) throws {
        guard let queue = core.queue,
            let entry = try queue.entries(of: nil).first(where: { $0.origin == id })
        else { return }
        try queue.update([], deleting: [id])
        try core.cache?.delete(entry.objects.map { ($0.entity, $0.id) })
        let ids = try entry.objects.map { try objectID($0.entity, $0.id) }
        held.withLock { $0.stale.formUnion(ids) }
        core.notifyOfQueue()
    }

    /// Lets a refused change be sent again, for example after a rule of the service was changed.
    public func retryQueuedChange(_ id: UUID) throws {
        guard let queue = core.queue,
            var entry = try queue.entries(of: nil).first(where: { $0.origin == id })
        else { return }
        entry.refusal = nil
        entry.key = UUID()
        entry.isAttempted = false
        try queue.update([entry])
        core.notifyOfQueue()
        core.startSending()
    }

    /// Takes over what the service answered to queued changes. Called on any thread, also while the store waits.
    func take(_ report: QueueSender.Report) {
        var updated: Set<NSManagedObjectID> = []
        var deleted: Set<NSManagedObjectID> = []
        let applied = Set(report.aliases.map(\.id))
        for object in report.objects {
            guard let id = try? objectID(object.entity, object.id), !applied.contains(object.id) else { continue }
            updated.insert(id)
        }
        for (entity, id) in report.missing {
            if let id = try? objectID(entity, id) { deleted.insert(id) }
        }
        let (changed, missing) = (updated, deleted)
        held.withLock { held in
            held.stale.formUnion(changed)
            held.stale.formUnion(missing)
            for id in changed.union(missing) { (held.handed[id], held.fresh[id]) = (nil, nil) }
        }
        let userInfo = Passed<[AnyHashable: Any]>([
            Self.resultsKey: report.results, NSUpdatedObjectIDsKey: updated, NSDeletedObjectIDsKey: deleted,
        ])
        core.notifyOfQueue()
        // Observers may use the store.
        DispatchQueue.global().async {
            self.alone { self.forgetStaleRows() }
            NotificationCenter.default.post(
                name: Self.didSendQueuedChanges, object: self, userInfo: userInfo.value)
        }
    }
}
