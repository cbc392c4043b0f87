import CoreData
import CoreDataAccounts
import CoreDataPermissions
import Foundation
import HTTPTypes
import Hummingbird

/// The service as a part of another server: an app with pages of its own answers programs through it, on the same
/// store, with the same accounts and the same rules.
///
///     let service = try EmbeddedService(
///         coordinator: coordinator, store: store, rules: AccessRules(model), accounts: accounts, name: "Groceries")
///     if EmbeddedService.answers(request.uri.path) {
///         return try await service.respond(to: request, source: source)
///     }
///
/// Open the store with `NSPersistentStore.transactionNotesOption`, for idempotency keys, and with
/// `NSPersistentHistoryTrackingKey`. The requests of programs carry `Authorization: Bearer`; cookies are ignored, since
/// the pages of the app decide what a browser may do.
public struct EmbeddedService: Sendable {
    private let responder: ServiceResponder

    /// Makes the service of an open store.
    ///
    /// - Parameters:
    ///   - name: the name in the OpenAPI document.
    ///   - isBehindProxy: whether the address that a proxy adds to `X-Forwarded-For` is the client's.
    /// - Throws: an error that says what to add to a model that cannot be served.
    public init(
        coordinator: NSPersistentStoreCoordinator, store: NSPersistentStore, rules: AccessRules, accounts: Accounts,
        name: String, limits: ServiceLimits = ServiceLimits(), isBehindProxy: Bool = false
    ) throws {
        let digits = store.url?.isFileURL ?? true ? 15 : 38
        let served = try ServedModel(coordinator.managedObjectModel, decimalDigits: digits) {
            AccountAccess.isOpen($0, rules)
        }
        let access = AccountAccess(coordinator: coordinator, rules: rules, accounts: accounts)
        var settings = ServiceResponder.Settings()
        settings.name = name
        settings.isBehindProxy = isBehindProxy
        let routes = AccountRoutes(accounts, limits: limits)
        let places = PlaceRoutes(accounts: accounts, limits: limits, access: access)
        settings.extra = { request, context in
            if let response = try await routes.answer(request, context) { return response }
            return try await places.respond(to: request, context: context)
        }
        responder = ServiceResponder(
            store: ServedStore(
                coordinator: coordinator, store: store, model: served, access: access, limits: limits),
            settings: settings)
    }

    private static let roots: Set<Substring> = [
        "api", "accounts", "sessions", "groups", "memberships", "invitations", "password-resets",
        "email-confirmations", "schema", "openapi.json", "health", "metrics",
    ]

    /// Whether a path is one of the service. `/`, `/style.css` and the audit trail `/events` are left to the app.
    public static func answers(_ path: String) -> Bool {
        path.split(separator: "/", maxSplits: 1).first.map(roots.contains) ?? false
    }

    /// Answers a request of a program.
    ///
    /// - Parameter source: the connection that the request came by.
    public func respond(to request: Request, source: ApplicationRequestContextSource) async throws -> Response {
        var head = request.head
        head.headerFields[.cookie] = nil
        return try await responder.respond(
            to: Request(head: head, body: request.body), context: ServiceRequestContext(source: source))
    }
}
