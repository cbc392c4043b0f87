import CoreDataRemote
import Foundation

extension ServiceSession {
    /// An account of a service.
    public struct Account: Codable, Hashable, Sendable, Identifiable {
        /// The identity, which never changes.
        public let id: UUID
        /// The name with which the person signs in.
        public let name: String
        /// The confirmed e-mail address.
        public let email: String?
        /// Whether it administers the service.
        public let isAdministrator: Bool
    }

    /// A group to which the account belongs.
    public struct Membership: Codable, Hashable, Sendable {
        /// The identity of the group.
        public let groupID: UUID
        /// The name that its owners gave it.
        public let groupName: String
        /// `owner`, `editor` or `viewer`.
        public let role: String
    }

    /// The account of a session and its groups.
    public struct Person: Codable, Hashable, Sendable {
        /// The account.
        public let account: Account
        /// The groups to which it belongs.
        public let memberships: [Membership]
    }

    /// Signs a device in.
    ///
    /// - Parameters:
    ///   - service: the address, such as `https://groceries.example.com`.
    ///   - device: the name by which the person recognises the device among the sessions of the account.
    /// - Throws: ``ServiceError``, with status 401 for a wrong name or password, 429 after too many tries, and 0 if the
    ///   service cannot be reached.
    public static func signIn(
        to service: URL, name: String, password: String, device: String, limits: RemoteLimits = RemoteLimits()
    ) async throws -> ServiceSession {
        try await make(service, device, limits, "/sessions", ["name": name, "password": password])
    }

    /// Creates an account, and signs the device in.
    ///
    /// - Parameter invitation: the token of an invitation to a group, which a service may require.
    /// - Throws: ``ServiceError``, with status 409 for a name that is taken, and 422 for one that is not valid or for a
    ///   password that is too short or too common.
    public static func signUp(
        at service: URL, name: String, password: String, email: String? = nil, invitation: String? = nil,
        device: String, limits: RemoteLimits = RemoteLimits()
    ) async throws -> ServiceSession {
        var body = ["name": name, "password": password]
        body["email"] = email
        body["invitation"] = invitation
        return try await make(service, device, limits, "/accounts", body)
    }

    private static func make(
        _ service: URL, _ device: String, _ limits: RemoteLimits, _ path: String, _ body: [String: String]
    ) async throws -> ServiceSession {
        struct SignedIn: Decodable { let token: String }
        let session = try ServiceSession(service: service, token: "", limits: limits)
        var body = body
        body["device"] = device
        session.renew(try await session.exchange("POST", path, body, as: SignedIn.self).token)
        return session
    }

    /// Returns the account and its groups, as they are now.
    ///
    /// - Throws: ``ServiceError``, with status 401 if the session has ended.
    public func person() async throws -> Person { try await exchange("GET", "/accounts/me") }

    /// Creates a group, whose owner is the account: a household, a team.
    ///
    /// - Throws: ``ServiceError``.
    public func createGroup(named name: String) async throws -> Membership {
        try await exchange("POST", "/groups", ["name": name])
    }

    /// Makes an invitation to a group, for an owner. It serves one account, and ends after a week.
    ///
    /// - Parameter role: `owner`, `editor` or `viewer`.
    /// - Returns: the token, which the invited person gives to ``join(invitation:)``.
    /// - Throws: ``ServiceError``, with status 403 for members that are no owners.
    public func invite(to group: UUID, as role: String) async throws -> String {
        struct Invitation: Decodable { let token: String }
        return try await exchange(
            "POST", "/groups/\(group.uuidString)/invitations", ["role": role], as: Invitation.self
        ).token
    }

    /// Joins the group of an invitation.
    ///
    /// - Throws: ``ServiceError``, with status 404 for an invitation that has ended or is not valid.
    public func join(invitation token: String) async throws -> Membership {
        try await exchange("POST", "/memberships", ["token": token])
    }

    /// Ends the session. The token is of no use afterwards.
    public func signOut() async throws { try await answer("DELETE", "/sessions/current") }
}
