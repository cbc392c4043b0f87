import CoreData
import CoreDataAccounts
import CoreDataPermissions
import CoreDataRemoteSync
import CoreDataSync
import Foundation

@testable import CoreDataService

/// A service with accounts and a group.
struct Household: Sendable {
    let client: RawClient
    let accounts: Accounts
    let folder: URL
    let group: UUID
    private let people: [String: SignedIn]
    private static let password = "four plain words here"
    private static let from = Client(address: "127.0.0.1", device: "test")

    /// Runs a test with a service whose group has an owner, and accounts that belong to no group.
    static func run(
        _ limits: FileLimits = FileLimits(), _ test: @escaping @Sendable (Household) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Household-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = AccountSettings()
        settings.passwordCost = PasswordCost(costBits: 4, blockSize: 1, parallelism: 1)
        settings.files = limits
        let accounts = try Accounts(at: folder.appendingPathComponent("Accounts.sqlite"), settings: settings)
        let model = ShopModel.make()
        let (coordinator, store) = try await StoreOpening.open(
            model, at: folder.appendingPathComponent("Shop.sqlite"), migrates: true)
        var people: [String: SignedIn] = [:]
        for name in ["ann", "ben", "eve", "mallory"] {
            people[name] = try await accounts.signUp(name: name, password: password, from: from)
        }
        guard let ann = people["ann"] else { return }
        let group = try await accounts.createGroup(named: "Home", by: ann.account.id).groupID
        let access = AccountAccess(
            coordinator: coordinator, rules: try AccessRules(model), accounts: accounts)
        let routes = PlaceRoutes(accounts: accounts, limits: ServiceLimits(), access: access)
        var extra = ServiceResponder.Settings()
        extra.extra = { try await routes.respond(to: $0, context: $1) }
        let served = ServedStore(
            coordinator: coordinator, store: store,
            model: try ServedModel(model) { $0.name != "Secret" }, access: access, limits: ServiceLimits())
        let (members, signedIn) = (people, folder)
        try await TestService.serve(ServiceResponder(store: served, settings: extra)) { port in
            try await test(
                Household(
                    client: RawClient(port: port), accounts: accounts, folder: signedIn, group: group, people: members))
        }
        await accounts.close()
        try coordinator.remove(store)
    }

    func id(_ name: String) -> UUID { people[name]?.account.id ?? UUID() }

    private func session(_ name: String) throws -> ServiceSession {
        var service = URLComponents()
        (service.scheme, service.host, service.port) = ("http", "127.0.0.1", client.port)
        guard let url = service.url else { throw ClientFailure(description: "no address") }
        return try ServiceSession(service: url, token: people[name]?.token ?? "")
    }

    func owner() async throws -> ServiceSession { try session("ann") }
    func stranger() async throws -> ServiceSession { try session("mallory") }

    /// Lets an account join the group.
    func member(_ role: Role, _ name: String) async throws -> ServiceSession {
        let link = try await accounts.invite(to: group, as: role, by: id("ann"))
        _ = try await accounts.join(token: link.token, account: id(name), from: Self.from)
        return try session(name)
    }

    /// A device with a store of its own.
    func device(_ name: String, _ session: ServiceSession) throws -> Device {
        try Device(folder.appendingPathComponent("\(name).sqlite"), name, ServicePlace(session: session, group: group))
    }
}

/// A store of a shopping list, and its synchronisation.
final class Device {
    let container: NSPersistentContainer
    let sync: Sync

    init(_ url: URL, _ name: String, _ place: any SyncPlace) throws {
        let model = try NSManagedObjectModel {
            ModelEntity("Thing") { ModelAttribute("name", .string) }
        }
        container = NSPersistentContainer(name: "Things", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        sync = try Sync(container, to: place, device: name)
    }

    func add(_ name: String) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            thing.setValue(name, forKey: "name")
            try context.save()
        }
    }

    func names() throws -> [String] {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted()
        }
    }
}
