import CoreData
import CoreDataRemoteSync
import Foundation
import Logging
import Synchronization

/// What a store does without contexts: requests, the cache, the queue and the account.
///
/// Objects are identified by entity and UUID here. Everything may be called on any thread.
final class ServiceCore: Sendable {
    let model: ServiceModel
    let options: ServiceStore.Options
    let cache: CacheStore?
    let queue: ChangeQueue?
    /// The queue is sent by one task at a time.
    let line = TaskLine()
    private let state: Mutex<State>
    static let logger = Logger(label: "CoreDataServiceClient")

    private struct State: Sendable {
        var session: ServiceSession
        var policy: ServiceStore.CachePolicy
        var conflictPolicy: ServiceStore.ConflictPolicy
        /// The account of the session, once it is known, and the token by which it was recognised.
        var account: String?
        var token: String?
        /// Numbers of versions whose values contexts know under another number.
        var aliases: [UUID: [String: UInt64]] = [:]
        var didWarn = false
        var sender: Task<Void, Never>?
        var isClosed = false
        /// Called with what was sent, on any thread, while the store may wait for it.
        var observer: (@Sendable (QueueSender.Report) -> Void)?
    }

    init(_ setup: ServiceStore.Setup, _ model: NSManagedObjectModel) throws {
        options = setup.options
        let served = ServiceModel(model)
        self.model = served
        guard options.cachePolicy == .networkOnly || options.cacheFolder != nil else { throw Self.noCache }
        guard (1...1000).contains(options.pageSize) else {
            throw ServiceErrors.make(
                NSPersistentStoreOpenError, "ServiceStore.Options.pageSize is 1 to 1,000, not \(options.pageSize).")
        }
        if let folder = options.cacheFolder {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            cache = try CacheStore(
                at: folder.appendingPathComponent("Cache.sqlite"), served, model, limit: options.cacheLimit)
            queue = try ChangeQueue(at: folder.appendingPathComponent("Queue.sqlite"))
        } else {
            (cache, queue) = (nil, nil)
        }
        state = Mutex(
            State(
                session: setup.session, policy: setup.options.cachePolicy,
                conflictPolicy: setup.options.conflictPolicy))
    }

    static var noCache: CocoaError {
        ServiceErrors.make(
            NSPersistentStoreOperationError,
            "The store has no cache: set ServiceStore.Options.cacheFolder, or use the policy networkOnly.")
    }

    /// Closes the cache and the queue.
    func close() {
        let sender = state.withLock { state in
            state.isClosed = true
            defer { state.sender = nil }
            return state.sender
        }
        sender?.cancel()
        do {
            try cache?.close()
            try queue?.close()
        } catch { Self.logger.warning("The cache was not closed: \(error.localizedDescription)") }
    }

    // MARK: State

    var session: ServiceSession { state.withLock { $0.session } }

    var policy: ServiceStore.CachePolicy {
        get { state.withLock { $0.policy } }
        set { state.withLock { $0.policy = newValue } }
    }

    var conflictPolicy: ServiceStore.ConflictPolicy {
        get { state.withLock { $0.conflictPolicy } }
        set { state.withLock { $0.conflictPolicy = newValue } }
    }

    var observer: (@Sendable (QueueSender.Report) -> Void)? {
        get { state.withLock { $0.observer } }
        set { state.withLock { $0.observer = newValue } }
    }

    func use(_ session: ServiceSession) {
        state.withLock { state in
            state.session = session
            (state.account, state.token) = (nil, nil)
            state.aliases = [:]
        }
    }

    var knownAccount: (account: String, token: String)? {
        get { state.withLock { state in state.account.flatMap { account in state.token.map { (account, $0) } } } }
        set { state.withLock { ($0.account, $0.token) = (newValue?.account, newValue?.token) } }
    }

    /// Runs at most one task that sends the queue.
    func setSender(_ make: () -> Task<Void, Never>) {
        state.withLock { if $0.sender == nil, !$0.isClosed { $0.sender = make() } }
    }

    func clearSender() { state.withLock { $0.sender = nil } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    // MARK: Versions

    /// The number that contexts know a version by.
    func number(of tag: String, _ id: UUID) -> UInt64 {
        state.withLock { $0.aliases[id]?[tag] } ?? VersionNumber.number(of: tag)
    }

    func setAlias(_ tag: String, of queued: String, _ id: UUID) {
        state.withLock { state in
            let number = state.aliases[id]?[queued] ?? VersionNumber.number(of: queued)
            // Only the last version can be answered again.
            state.aliases[id] = [tag: number]
        }
    }

    // MARK: Requests

    /// Whether the caller waits for requests on the main thread.
    @TaskLocal static var blocksMainThread = false

    /// The client of the session, for a request that is about to be sent.
    func client() throws(ServiceFailure) -> ServiceClient {
        if Self.blocksMainThread { try noteMainThread() }
        return ServiceClient(session: session)
    }

    private func noteMainThread() throws(ServiceFailure) {
        if options.refusesMainThread {
            throw ServiceFailure(
                status: 0, type: "main-thread",
                message: """
                    A request to the service would block the main thread. Use ServiceStore.fetch(_:in:), or a context \
                    with a queue of its own.
                    """)
        }
        let isFirst = state.withLock { state in
            defer { state.didWarn = true }
            return !state.didWarn
        }
        guard isFirst else { return }
        Self.logger.warning(
            "A request to the service blocks the main thread. Use ServiceStore.fetch(_:in:), or a context with a queue of its own."
        )
        NotificationCenter.default.post(name: ServiceStore.didBlockMainThread, object: nil)
    }

    /// Runs requests, and waits for them.
    ///
    /// - Parameter isMain: whether the caller runs on the main queue.
    func wait<R: Sendable>(
        isMain: Bool, _ body: @escaping @Sendable () async throws -> R
    ) throws -> R {
        let isMain = isMain || Thread.isMainThread
        return try NetworkWork.wait { try await Self.$blocksMainThread.withValue(isMain) { try await body() } }
    }
}
