import CoreDataAccounts
import Foundation

// The JSON of requests and answers. Keys are the names of the properties.

/// `POST /accounts`.
struct SignUpBody: Decodable, Sendable {
    let name: String
    let password: String
    let email: String?
    let invitation: String?
    let device: String?
    let cookie: Bool?
}

/// `POST /sessions`.
struct SignInBody: Decodable, Sendable {
    let name: String
    let password: String
    let device: String?
    let cookie: Bool?
}

/// `PUT /accounts/me/password`.
struct PasswordBody: Decodable, Sendable {
    let current: String
    let new: String
}

/// `PUT /accounts/me/email`. Without an address, it is removed.
struct EmailBody: Decodable, Sendable {
    let email: String?
    let password: String
}

/// `POST /accounts/me/deletion`.
struct DeletionBody: Decodable, Sendable {
    let password: String
}

/// `POST /password-resets`.
struct ResetRequestBody: Decodable, Sendable {
    let name: String
}

/// `PUT /password-resets`.
struct ResetBody: Decodable, Sendable {
    let token: String
    let password: String
}

/// The token of a link or an invitation.
struct TokenBody: Decodable, Sendable {
    let token: String
}

/// `POST /groups`, `PATCH /groups/<id>`.
struct GroupBody: Decodable, Sendable {
    let name: String
}

/// `PATCH /groups/<id>/members/<account>`.
struct RoleBody: Decodable, Sendable {
    let role: Role
}

/// `POST /groups/<id>/invitations`.
struct InvitationBody: Decodable, Sendable {
    let role: Role
    let uses: Int?
    /// Seconds.
    let lifetime: Double?
}

/// `PATCH /accounts/<id>`.
struct RightsBody: Decodable, Sendable {
    let isAdministrator: Bool?
    let isSuspended: Bool?
}

/// The answer to a sign-up or a sign-in. With a cookie, the token is in no answer that a script can read.
struct SignedInAnswer: Encodable, Sendable {
    let account: Account
    let session: Session
    let token: String?
}

/// The answer to `GET /accounts/me`.
struct MeAnswer: Encodable, Sendable {
    let account: Account
    let session: Session
    let memberships: [Membership]
}

/// The answer to `POST /groups/<id>/invitations`.
struct InvitationAnswer: Encodable, Sendable {
    let token: String
    let invitation: Invitation
}

/// A list; an object, so that members can be added later.
struct ListAnswer<Item: Encodable & Sendable>: Encodable, Sendable {
    let items: [Item]
}

/// The answer to `POST /accounts/<id>/password-reset`.
struct TokenAnswer: Encodable, Sendable {
    let token: String
}

/// The answer to a deletion of an account or a departure from a group.
struct DeletedGroupsAnswer: Encodable, Sendable {
    let deletedGroups: [UUID]
}
