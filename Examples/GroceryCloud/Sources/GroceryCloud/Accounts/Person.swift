import CoreDataAccounts
import CoreDataPermissions
import Foundation

/// The account that sent a request, with its households. The description contains no token.
struct Person: Sendable, CustomStringConvertible {
    let account: Account
    let session: Session
    let memberships: [Membership]
    /// The token of the session, with which it is ended.
    let token: String
    let client: Client

    /// What permissions know of the account.
    var accessor: Accessor { Accessor(account: account, memberships) }

    func membership(in household: UUID) -> Membership? { memberships.first { $0.groupID == household } }

    var description: String { "Person(\(account.id))" }
}

extension Accessor {
    init(account: Account, _ memberships: [Membership]) {
        self.init(account: account.id, memberships, isAdministrator: account.isAdministrator)
    }

    init(account: UUID, _ memberships: [Membership], isAdministrator: Bool) {
        self.init(
            account: account,
            groups: Dictionary(
                memberships.map { ($0.groupID, $0.role.rawValue) }, uniquingKeysWith: { first, _ in first }),
            isAdministrator: isAdministrator)
    }
}

extension Role {
    /// Whether members with the role change the objects of the household, as the rules of the model say.
    var mayChange: Bool { self != .viewer }

    /// What the role is good for, in words.
    var meaning: String {
        switch self {
        case .owner: "owner: changes everything, and invites"
        case .editor: "editor: changes the lists"
        case .viewer: "viewer: reads the lists"
        }
    }
}
