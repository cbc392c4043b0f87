import CoreData
import CoreDataAccounts
import CoreDataPermissions
import CoreDataServiceClient
import Foundation
import Logging

@testable import CoreDataRemoteSync
@testable import CoreDataService

/// A service with two accounts, and a proxy through which stores reach it.
struct Shop: Sendable {
    let proxy: Proxy
    let folder: URL
    private let tokens: [String: String]
    let accounts: [String: UUID]
    static let password = "four plain words here"

    /// Runs a test with a service, and ends it.
    static func run(_ test: @escaping @Sendable (Shop) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Shop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = AccountSettings()
        settings.passwordCost = PasswordCost(costBits: 4, blockSize: 1, parallelism: 1)
        let accounts = try Accounts(at: folder.appendingPathComponent("Accounts.sqlite"), settings: settings)
        let model = try StoreModel.make()
        let (coordinator, store) = try await StoreOpening.open(
            model, at: folder.appendingPathComponent("Served.sqlite"), migrates: true)
        var tokens: [String: String] = [:]
        var ids: [String: UUID] = [:]
        for name in ["root", "ann", "ben"] {
            let person = try await accounts.signUp(
                name: name, password: password, from: Client(address: "127.0.0.1", device: "test"))
            (tokens[name], ids[name]) = (person.token, person.account.id)
        }
        let rules = try AccessRules(model)
        let access = AccountAccess(coordinator: coordinator, rules: rules, accounts: accounts)
        let routes = AccountRoutes(accounts, credentials: SessionCredentials(), limits: ServiceLimits())
        var responderSettings = ServiceResponder.Settings()
        responderSettings.extra = { try await routes.answer($0, $1) }
        let served = ServedStore(
            coordinator: coordinator, store: store, model: try ServedModel(model), access: access,
            limits: ServiceLimits())
        let (passed, people) = (tokens, ids)
        try await serve(ServiceResponder(store: served, settings: responderSettings)) { port in
            let proxy = try Proxy(to: port)
            defer { proxy.close() }
            try await test(Shop(proxy: proxy, folder: folder, tokens: passed, accounts: people))
        }
        await accounts.close()
        try coordinator.remove(store)
    }

    private static func serve(
        _ responder: ServiceResponder, _ test: @escaping @Sendable (_ port: Int) async throws -> Void
    ) async throws {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let service = HTTPService(responder: responder, host: "127.0.0.1", port: 0, logger: logger)
        let (ports, port) = AsyncStream<Int>.makeStream()
        let running = Task {
            defer { port.finish() }
            try await service.run(stopsAtSignals: false) { port.yield($0) }
        }
        var failure: (any Error)?
        do {
            guard let port = await ports.first(where: { _ in true }) else {
                try await running.value
                throw ClientTestFailure("the service did not start")
            }
            try await test(port)
        } catch { failure = error }
        running.cancel()
        _ = await running.result
        if let failure { throw failure }
    }

    // MARK: Clients

    /// A session of an account, which sends a request twice at most unless it is told otherwise: a connection that is
    /// used again may just have been closed.
    func session(_ name: String = "ann", attempts: Int = 2, seconds: Double = 30) throws -> ServiceSession {
        var limits = RemoteLimits()
        (limits.silence, limits.total) = (seconds, seconds)
        return try ServiceSession(
            service: proxy.url, token: tokens[name] ?? "", limits: limits,
            retries: RetryPolicy(attempts: attempts, delay: 0.05, longestDelay: 1))
    }

    /// A program with a store: its cache is in a folder of that name, or it has none.
    func device(
        _ folder: String? = nil, as account: String = "ann", policy: ServiceStore.CachePolicy? = nil,
        session: ServiceSession? = nil, _ change: (inout ServiceStore.Options) -> Void = { _ in }
    ) throws -> Device {
        var options = ServiceStore.Options()
        options.cacheFolder = folder.map { self.folder.appendingPathComponent($0) }
        options.cachePolicy = policy ?? (folder == nil ? .networkOnly : .networkElseCache)
        options.sendsQueuedChanges = false
        change(&options)
        return try Device(session ?? self.session(account), options)
    }
}

/// A program's coordinator with a store of the service.
final class Device: @unchecked Sendable {
    // Safe because its parts do not change.
    let coordinator: NSPersistentStoreCoordinator
    let store: ServiceStore
    let context: NSManagedObjectContext

    init(_ session: ServiceSession, _ options: ServiceStore.Options) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: try StoreModel.make())
        store = try ServiceStore.add(to: coordinator, session: session, options: options)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.retainsRegisteredObjects = true
    }

    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Ends the program.
    func quit() throws { try coordinator.remove(store) }

    /// Runs on the context's queue.
    func run<R>(_ body: @escaping @Sendable (NSManagedObjectContext) throws -> R) async throws -> R {
        let context = context
        return try await context.perform { Passed(try body(context)) }.value
    }

    struct Passed<Value>: @unchecked Sendable {
        // Safe because tests use it on the context's queue, or do not use it elsewhere.
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    /// The names of the objects of an entity, in order.
    func names(_ entity: String = "Item", _ format: String? = nil) async throws -> [String] {
        try await run { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = format.map { NSPredicate(format: $0) }
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            request.shouldRefreshRefetchedObjects = true
            return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
        }
    }

    /// Saves new items of these names.
    func add(_ names: String...) async throws {
        try await run { context in
            for name in names { context.item(name) }
            try context.save()
        }
    }

    /// Changes the item of a name, and saves it.
    func edit(_ name: String, _ change: @escaping @Sendable (NSManagedObject) -> Void) async throws {
        try await run { context in
            change(try context.one(name))
            try context.save()
        }
    }
}

extension NSManagedObjectContext {
    @discardableResult func item(_ name: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        make("Item", values.merging(["name": name]) { $1 })
    }

    @discardableResult func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// The object of a name.
    func one(_ name: String, _ entity: String = "Item") throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "name == %@", name)
        guard let object = try fetch(request).first else { throw ClientTestFailure("there is no \(entity) \(name)") }
        return object
    }
}
