import CoreData
import CoreDataAccounts
import CoreDataPermissions
import Foundation

@testable import CoreDataService

/// Takes messages and keeps none.
private struct NoMail: LinkDelivery {
    func deliver(_ message: AccountMessage) async throws {}
}

/// A service with rules and three accounts, whose passwords cost little.
struct PeopleService: Sendable {
    let anonymous: RawClient
    /// The administrator, then two accounts.
    let admin, ann, bob: RawClient
    let annID, bobID: String

    /// Runs the test with a service for the model, and ends it.
    static func run(
        _ model: NSManagedObjectModel, _ test: @escaping @Sendable (PeopleService) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("People-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let rules = try AccessRules(model)
        var settings = AccountSettings()
        settings.passwordCost = PasswordCost(costBits: 4, blockSize: 1, parallelism: 1)
        let accounts = try Accounts(
            at: folder.appendingPathComponent("accounts.sqlite"), settings: settings, delivery: NoMail())
        let (coordinator, store) = try await StoreOpening.open(
            model, at: folder.appendingPathComponent("Objects.sqlite"), migrates: true)
        let access = AccountAccess(coordinator: coordinator, rules: rules, accounts: accounts)
        let served = try ServedModel(model) { AccountAccess.isOpen($0, rules) }
        let client = Client(address: "127.0.0.1")
        var signedIn: [SignedIn] = []
        for name in ["root", "ann", "bob"] {
            signedIn.append(
                try await accounts.signUp(name: name, password: "a long enough password", from: client))
        }
        let (tokens, ids) = (signedIn.map(\.token), signedIn.map(\.account.id.uuidString))
        let servedStore = ServedStore(
            coordinator: coordinator, store: store, model: served, access: access, limits: ServiceLimits())
        let routes = AccountRoutes(accounts, limits: ServiceLimits())
        let places = PlaceRoutes(accounts: accounts, limits: ServiceLimits(), access: access)
        var responder = ServiceResponder.Settings()
        responder.hasAccounts = true
        responder.hasLinkPage = true
        responder.extra = { request, context in
            if let response = try await routes.answer(request, context) { return response }
            return try await places.respond(to: request, context: context)
        }
        try await TestService.serve(ServiceResponder(store: servedStore, settings: responder)) { port in
            func client(_ token: String?) -> RawClient { RawClient(port: port, token: token) }
            try await test(
                PeopleService(
                    anonymous: client(nil), admin: client(tokens[0]), ann: client(tokens[1]), bob: client(tokens[2]),
                    annID: ids[1], bobID: ids[2]))
        }
        await accounts.close()
    }
}
