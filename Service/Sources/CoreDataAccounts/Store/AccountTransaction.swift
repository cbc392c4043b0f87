import CoreData
import Foundation

/// What an operation reads and changes in one transaction. It is used on its context's queue only.
struct AccountTransaction {
    let context: NSManagedObjectContext
    /// The time of the operation.
    let now: Date

    // MARK: Finding

    func request<Stored: NSManagedObject>(
        _ entity: String, _ format: String, _ arguments: [Any], as type: Stored.Type = Stored.self
    ) -> NSFetchRequest<Stored> {
        let request = NSFetchRequest<Stored>(entityName: entity)
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return request
    }

    func all<Stored: NSManagedObject>(
        _ entity: String, _ format: String, _ arguments: Any..., as type: Stored.Type = Stored.self
    ) throws -> [Stored] {
        try context.fetch(request(entity, format, arguments))
    }

    func first<Stored: NSManagedObject>(
        _ entity: String, _ format: String, _ arguments: Any..., as type: Stored.Type = Stored.self
    ) throws -> Stored? {
        let request = request(entity, format, arguments, as: Stored.self)
        request.fetchLimit = 1
        return try context.fetch(request).first
    }

    func count(_ entity: String, _ format: String, _ arguments: Any...) throws -> Int {
        try context.count(for: request(entity, format, arguments, as: NSManagedObject.self))
    }

    func account(_ id: UUID) throws -> StoredAccount {
        guard let account: StoredAccount = try first("Account", "id == %@", id) else {
            throw AccountError.accountNotFound
        }
        return account
    }

    /// The account with the name or confirmed e-mail address.
    func account(called login: Login) throws -> StoredAccount? {
        switch login {
        case .name(let key): try first("Account", "nameKey == %@", key)
        case .email(let email): try first("Account", "email == %@", email)
        }
    }

    /// The membership, for which the group must exist; a group of others looks like none.
    func membership(of account: UUID, in group: UUID) throws -> StoredMembership {
        let request = request(
            "Membership", "account.id == %@ AND group.id == %@", [account, group], as: StoredMembership.self)
        request.relationshipKeyPathsForPrefetching = ["account", "group"]
        guard let membership = try context.fetch(request).first, membership.group != nil, membership.account != nil
        else {
            throw AccountError.groupNotFound
        }
        return membership
    }

    /// The group, if the account is one of its owners.
    func group(_ id: UUID, ownedBy account: UUID) throws -> StoredGroup {
        let membership = try membership(of: account, in: id)
        guard membership.role == Role.owner.rawValue, let group = membership.group else {
            throw AccountError.notAllowed
        }
        return group
    }

    /// Throws unless the account is an administrator.
    func requireAdministrator(_ id: UUID) throws {
        guard let account: StoredAccount = try first("Account", "id == %@", id), account.isAdministrator,
            !account.isSuspended
        else { throw AccountError.notAllowed }
    }

    // MARK: Changing

    /// Makes the transaction conflict with every other one that also depends on the account.
    func touch(_ account: StoredAccount) { account.revision &+= 1 }

    /// Makes the transaction conflict with every other one that also depends on the group.
    func touch(_ group: StoredGroup) { group.revision &+= 1 }

    /// Makes the transaction conflict with every other one that depends on who administers the service.
    ///
    /// Before the first account there is no row whose version could conflict; then its unique name does.
    func touchAdministration() throws {
        if let landmark: StoredLandmark = try first("Landmark", "name == %@", Self.administration) {
            landmark.revision &+= 1
        } else {
            StoredLandmark(context: context).name = Self.administration
        }
    }

    private static let administration = "administration"

    /// Adds an entry to the audit trail.
    func record(
        _ kind: SecurityEvent.Kind, account: UUID?, actor: UUID? = nil, group: UUID? = nil, client: Client? = nil,
        detail: String? = nil
    ) {
        let event = StoredEvent(context: context)
        event.id = UUID()
        event.date = now
        event.kind = kind.rawValue
        event.isRefusal = kind.isRefusal
        event.accountID = account
        event.actorID = actor == account ? nil : actor
        event.groupID = group
        event.address = client?.shownAddress
        event.detail = detail
    }
}
