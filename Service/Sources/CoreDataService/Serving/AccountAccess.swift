import CoreData
import CoreDataAccounts
import CoreDataPermissions
import Foundation
import HTTPTypes
import Hummingbird

/// Accounts by their tokens, and contexts that see what an account may see.
package struct AccountAccess: AccessControl {
    private let coordinator: NSPersistentStoreCoordinator
    private let rules: AccessRules
    private let accounts: Accounts?
    private let credentials: SessionCredentials

    /// - Parameter accounts: `nil` for a service without accounts: every token is refused.
    package init(
        coordinator: NSPersistentStoreCoordinator, rules: AccessRules, accounts: Accounts?,
        credentials: SessionCredentials = SessionCredentials()
    ) {
        self.credentials = credentials
        self.coordinator = coordinator
        self.rules = rules
        self.accounts = accounts
    }

    /// Whether the rules let anybody read or make objects of an entity.
    package static func isOpen(_ entity: NSEntityDescription, _ rules: AccessRules) -> Bool {
        rules.rows.contains { row in
            row.entity == entity.name && row.property == nil
                && [AccessVerb.read, .create].contains { (row.rules[$0] ?? "nobody") != "nobody" }
        }
    }

    package func caller(of request: Request, peer: String?) async throws -> Caller {
        guard let credential = try credentials.credential(of: request) else { return .anonymous }
        guard let accounts else { throw AccountError.notSignedIn }
        let client = Client(address: peer, device: request.headers[.userAgent] ?? "")
        let found = try await accounts.authenticate(token: credential.token, from: client)
        let accessor = Accessor(
            account: found.account.id, groups: found.roles.mapValues(\.rawValue),
            isAdministrator: found.account.isAdministrator)
        return Caller(accessor, renewal: credentials.renewal(of: found, credential, Date()))
    }

    package func makeContext(for caller: Caller) async throws -> NSManagedObjectContext {
        let context = ServedContext(coordinator)
        // The queue of a new context has no work, so that nothing waits.
        try context.performAndWait {
            context.transactionAuthor = caller.id
            try context.restrict(to: rules, as: caller.accessor)
        }
        return context
    }

    package func rules(of entity: String) -> [EntityRule] {
        rules.rows.filter { $0.entity == entity }.flatMap { row in
            AccessVerb.allCases.compactMap { verb in
                row.rules[verb].map { EntityRule(verb: verb.rawValue, property: row.property, who: $0) }
            }
        }
    }

    // MARK: Errors

    package func problem(_ error: any Error) -> Problem? {
        switch error {
        case let denied as AccessDenied:
            let subject = [denied.entity, denied.property].compactMap { $0 }.joined(separator: ".")
            return Problem(
                403, "denied", "You may not do that",
                "\(denied.verb.rawValue) \(subject): the rule is \(denied.rule).", entity: denied.entity,
                property: denied.property)
        case let error as AccountError: return Problem(error)
        default: return nil
        }
    }
}
