import CoreData
import CoreDataAccounts
import CoreDataPermissions
import CoreDataRemoteSync
import CoreDataSync
import Foundation
import Logging
import Synchronization

@testable import CoreDataService

/// A service with a hub, whose accounts share a household.
struct HubHousehold: Sendable {
    let client: RawClient
    let accounts: Accounts
    let folder: URL
    let hub: SyncHub
    let kills: Kills
    let household: UUID
    let makeHub: @Sendable () throws -> SyncHub
    private let people: [String: SignedIn]
    static let password = "four plain words here"
    static let from = Client(address: "127.0.0.1", device: "test")

    /// Where the hub's process dies next.
    final class Kills: Sendable {
        private let next = Mutex<String?>(nil)

        func kill(at step: String?) { next.withLock { $0 = step } }

        func check(_ step: String) throws {
            let isHere = next.withLock { next in
                guard next == step else { return false }
                next = nil
                return true
            }
            if isHere { throw Killed(step: step) }
        }

        /// Whether the step was reached.
        var hasHappened: Bool { next.withLock { $0 == nil } }
    }

    struct Killed: Error { let step: String }

    static func run(
        model makeModel: @Sendable () throws -> NSManagedObjectModel = HubModel.make,
        _ test: @escaping @Sendable (HubHousehold) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Hub-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = AccountSettings()
        settings.passwordCost = PasswordCost(costBits: 4, blockSize: 1, parallelism: 1)
        let accounts = try Accounts(at: folder.appendingPathComponent("Accounts.sqlite"), settings: settings)
        let model = try makeModel()
        let (coordinator, store) = try await StoreOpening.open(
            model, at: folder.appendingPathComponent("Lists.sqlite"), migrates: true)
        var people: [String: SignedIn] = [:]
        for name in ["ann", "ben", "eve", "mallory"] {
            people[name] = try await accounts.signUp(name: name, password: password, from: from)
        }
        guard let ann = people["ann"] else { return }
        let household = try await accounts.createGroup(named: "Home", by: ann.account.id).groupID
        let rules = try AccessRules(model)
        let served = try ServedModel(model) { AccountAccess.isOpen($0, rules) }
        let access = AccountAccess(coordinator: coordinator, rules: rules, accounts: accounts)
        let (watcher, kills) = (PlaceWatcher(), Kills())
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let log = logger
        let makeHub = { @Sendable () throws -> SyncHub in
            var settings = SyncHub.Settings(folder: folder.appendingPathComponent("replicas"))
            settings.checkpoint = { try kills.check($0) }
            settings.interval = .milliseconds(100)
            return try SyncHub(
                settings, coordinator: coordinator, store: store, model: served, rules: rules, accounts: accounts,
                logger: log
            ) { watcher.announce($0) }
        }
        let hub = try makeHub()
        let routes = HubRoutes(
            hub: hub, accounts: accounts, watcher: watcher, limits: ServiceLimits(), access: access)
        var responding = ServiceResponder.Settings()
        responding.extra = { try await routes.respond(to: $0, context: $1) }
        let servedStore = ServedStore(
            coordinator: coordinator, store: store, model: served, access: access, limits: ServiceLimits())
        let (signedIn, place) = (people, folder)
        try await TestService.serve(ServiceResponder(store: servedStore, settings: responding)) { port in
            let test = { (household: HubHousehold) async throws in try await test(household) }
            do {
                try await test(
                    HubHousehold(
                        client: RawClient(port: port), accounts: accounts, folder: place, hub: hub, kills: kills,
                        household: household, makeHub: makeHub, people: signedIn))
            } catch {
                await hub.stop()
                throw error
            }
            await hub.stop()
        }
        await accounts.close()
        try coordinator.remove(store)
    }

    // MARK: Accounts

    func id(_ name: String) -> UUID { people[name]?.account.id ?? UUID() }

    func session(_ name: String) throws -> ServiceSession {
        var service = URLComponents()
        (service.scheme, service.host, service.port) = ("http", "127.0.0.1", client.port)
        guard let url = service.url else { throw ClientFailure(description: "no address") }
        return try ServiceSession(service: url, token: people[name]?.token ?? "")
    }

    func join(_ name: String, _ role: Role) async throws {
        let link = try await accounts.invite(to: household, as: role, by: id("ann"))
        _ = try await accounts.join(token: link.token, account: id(name), from: Self.from)
    }

    /// A device of an account, with a store of its own.
    func device(_ name: String, of account: String, model: NSManagedObjectModel? = nil) throws -> HubDevice {
        try HubDevice(
            folder.appendingPathComponent("\(name).sqlite"), name, ServicePlace(session: try session(account)),
            model: model)
    }

    /// A client of REST.
    func rest(_ name: String) -> RawClient {
        var client = client
        client.token = people[name]?.token
        return client
    }

    /// All bytes of files that the devices of an account can read.
    func bytes(of account: String) async throws -> Data {
        let place = ServicePlace(session: try session(account))
        var all = Data()
        for folder in try await place.list(nil) {
            for file in try await place.list(folder) {
                all += Data("\(folder)/\(file)\n".utf8)
                all += try await place.read(file, in: folder) ?? Data()
            }
        }
        return all
    }
}

/// A store of lists, and its synchronisation.
final class HubDevice {
    let container: NSPersistentContainer
    let sync: Sync

    init(_ url: URL, _ name: String, _ place: any SyncPlace, model: NSManagedObjectModel? = nil) throws {
        container = NSPersistentContainer(name: "Lists", managedObjectModel: try model ?? HubModel.make())
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        sync = try Sync(container, to: place, device: name)
    }

    /// Sends, receives the answers, and receives what others did since.
    func exchange() async throws { _ = try await sync.syncNow() }

    func change(_ body: (NSManagedObjectContext) throws -> Void) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            try body(context)
            try context.save()
        }
    }

    @discardableResult
    func add(_ entity: String, _ values: [String: Any], to list: String? = nil) throws -> UUID {
        let id = UUID()
        try change { context in
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            object.setValue(id, forKey: "id")
            for (name, value) in values { object.setValue(value, forKey: name) }
            if let list { object.setValue(try Self.find("List", list, context), forKey: "list") }
        }
        return id
    }

    func set(_ entity: String, _ name: String, _ values: [String: Any?]) throws {
        try change { context in
            let object = try Self.find(entity, name, context)
            for (key, value) in values { object?.setValue(value, forKey: key) }
        }
    }

    func delete(_ entity: String, _ name: String) throws {
        try change { context in
            if let object = try Self.find(entity, name, context) { context.delete(object) }
        }
    }

    static func find(_ entity: String, _ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "name == %@", name)
        return try context.fetch(request).first
    }

    func names(_ entity: String) throws -> [String] {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
                .map { $0.value(forKey: "name") as? String ?? "-" }.sorted()
        }
    }

    func value<Value>(_ key: String, of entity: String, _ name: String) throws -> Value? {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            try Self.find(entity, name, context)?.value(forKeyPath: key) as? Value
        }
    }
}
