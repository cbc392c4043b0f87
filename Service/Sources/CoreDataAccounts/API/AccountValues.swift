import Foundation

/// An account, as a value.
public struct Account: Codable, Hashable, Sendable, Identifiable {
    /// The identity, which an app's objects hold.
    public let id: UUID
    /// The name as its owner wrote it. No two accounts have names that differ only in case.
    public let name: String
    /// The confirmed e-mail address, in lower case; `nil` if there is none.
    public let email: String?
    /// Whether the account administers the service.
    public let isAdministrator: Bool
    /// Whether an administrator suspended the account. A suspended account cannot sign in.
    public let isSuspended: Bool
    /// When the account signed up.
    public let createdAt: Date
}

/// A session: one sign-in of one device.
public struct Session: Codable, Hashable, Sendable, Identifiable {
    /// The identity of the session. It is no secret and does not authenticate.
    public let id: UUID
    /// The name of the device, as the client gave it.
    public let device: String
    /// The network address of the sign-in.
    public let address: String?
    /// When the session began.
    public let createdAt: Date
    /// When the session was used last, to the precision of ``AccountSettings/lastUsePrecision``.
    public let lastUsedAt: Date
    /// When the session ends unless it is used before.
    public let endsAt: Date
}

/// The result of a sign-up or a sign-in. It contains the only copy of the token.
public struct SignedIn: Sendable {
    /// The token of the session: 256 random bits as 43 characters of `A-Z a-z 0-9 - _`. The store has its digest only.
    public let token: String
    /// The new session.
    public let session: Session
    /// The account.
    public let account: Account
}

/// The account and the session of a valid token, with everything that permissions depend on.
public struct Authenticated: Sendable {
    /// The account.
    public let account: Account
    /// The session.
    public let session: Session
    /// The groups of the account, with its role in each.
    public let memberships: [Membership]
    /// A new token if half of the life of the sent one is over. The client must use it from now on. The sent token
    /// stays valid until the new one is used, so that a lost answer does not end the session.
    public let renewedToken: String?

    /// The roles by group.
    public var roles: [UUID: Role] {
        Dictionary(memberships.map { ($0.groupID, $0.role) }, uniquingKeysWith: { first, _ in first })
    }
}

/// What a member of a group may do.
public enum Role: String, Codable, Hashable, Sendable, CaseIterable {
    /// Changes the group, its members and their roles, and invites.
    case owner
    /// Changes the objects of the group.
    case editor
    /// Reads the objects of the group.
    case viewer
}

/// The membership of an account in a group.
public struct Membership: Codable, Hashable, Sendable {
    /// The identity of the group.
    public let groupID: UUID
    /// The name of the group.
    public let groupName: String
    /// The role of the account.
    public let role: Role
    /// When the account joined.
    public let since: Date
}

/// A member of a group.
public struct Member: Codable, Hashable, Sendable {
    /// The identity of the account.
    public let accountID: UUID
    /// The name of the account.
    public let name: String
    /// The role of the account.
    public let role: Role
    /// When the account joined.
    public let since: Date
}

/// An invitation to a group, as its owners see it.
public struct Invitation: Codable, Hashable, Sendable, Identifiable {
    /// The identity of the invitation. It is no secret and does not admit.
    public let id: UUID
    /// The identity of the group.
    public let groupID: UUID
    /// The role of accounts that join by the invitation.
    public let role: Role
    /// How many accounts may still join by it.
    public let usesLeft: Int
    /// When it was created.
    public let createdAt: Date
    /// When it ends.
    public let endsAt: Date
}

/// A new invitation. It contains the only copy of the token.
public struct CreatedInvitation: Sendable {
    /// The token for the link: 256 random bits. The store has its digest only.
    public let token: String
    /// The invitation.
    public let invitation: Invitation
}

/// What the holder of an invitation's token sees before joining.
public struct InvitationPreview: Codable, Hashable, Sendable {
    /// The name of the group.
    public let groupName: String
    /// The role of accounts that join.
    public let role: Role
    /// When the invitation ends.
    public let endsAt: Date
}

/// A part of a list, and where the next part begins.
public struct AccountPage: Codable, Hashable, Sendable {
    /// The accounts, ordered by name.
    public let accounts: [Account]
    /// The value of `after` for the next page; `nil` at the end.
    public let next: String?
}

/// Everything that the store knows about an account, except digests of secrets.
public struct AccountExport: Codable, Hashable, Sendable {
    /// The account.
    public let account: Account
    /// Its sessions.
    public let sessions: [Session]
    /// Its groups and roles.
    public let memberships: [Membership]
    /// The invitations that it created and that have not ended.
    public let invitations: [Invitation]
    /// Its entries of the audit trail.
    public let events: [SecurityEvent]
}
