import CoreDataRemoteSync
import Foundation

extension ServiceStore {
    /// Where the answers of requests come from.
    ///
    /// | Policy | Fetches and reads | Saves |
    /// | --- | --- | --- |
    /// | `networkOnly` | the service | the service; without a connection they fail |
    /// | `networkElseCache` | the service; without a connection the cache | the service; without a connection the queue |
    /// | `cacheOnly` | the cache | the queue |
    /// | `cacheElseNetwork` | the cache, if the service answered the same fetch before; else the service | as `networkElseCache` |
    public enum CachePolicy: String, CaseIterable, Sendable {
        /// Asks the service. A request without a connection fails.
        case networkOnly
        /// Asks the service, and the cache if the service cannot be reached.
        case networkElseCache
        /// Asks the cache, and sends no request.
        case cacheOnly
        /// Asks the cache if it has the answer of an earlier request, else the service.
        case cacheElseNetwork

        /// Whether saves without a connection are queued.
        var queues: Bool { self != .networkOnly }
    }

    /// How a store works.
    ///
    ///     var options = ServiceStore.Options()
    ///     options.cacheFolder = folder
    ///     options.cachePolicy = .networkElseCache
    ///     let store = try ServiceStore.add(to: container.persistentStoreCoordinator, session: session, options: options)
    public struct Options: Sendable {
        /// The folder of the cache and of the queue; without one the store has neither, and only the policy
        /// ``ServiceStore/CachePolicy/networkOnly``. Use a folder for each store.
        public var cacheFolder: URL?
        /// The policy of requests that name none.
        public var cachePolicy = CachePolicy.networkOnly
        /// The number of objects in the cache. The objects that were answered longest ago are deleted first.
        public var cacheLimit = 10_000
        /// What happens to queued changes of objects that another writer has changed.
        public var conflictPolicy = ConflictPolicy.serverWins
        /// Whether queued changes are sent by themselves: after one second, later after up to a minute.
        public var sendsQueuedChanges = true
        /// The number of objects in one answer of the service, at most 1,000.
        public var pageSize = 200
        /// The number of objects that are read for a fetch of which memory evaluates a part. A fetch that needs more
        /// fails.
        public var localEvaluationLimit = 10_000
        /// Whether bytes of attributes that allow external storage are read with their object, a request for each.
        /// Without it they are nil until ``ServiceStore/loadLargeValue(_:of:)`` is called.
        public var loadsLargeValues = true
        /// Whether a request that would block the main thread is refused, instead of a warning in the log.
        public var refusesMainThread = false

        /// Makes the default options: no cache, and the service is asked each time.
        public init() {}
    }

    /// The session and the options of a store, as the value of an option of a store's description.
    final class Setup: NSObject, Sendable {
        let session: ServiceSession
        let options: Options

        init(_ session: ServiceSession, _ options: Options) {
            self.session = session
            self.options = options
        }
    }
}
