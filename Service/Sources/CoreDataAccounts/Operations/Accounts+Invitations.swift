import CoreData
import Foundation

extension Accounts {
    /// Creates an invitation to a group, for an owner. Everybody who has the link can join until it ends or is used up.
    ///
    ///     let invitation = try await accounts.invite(to: home, as: .editor, uses: 2, lifetime: 3 * 86_400, by: ann)
    ///     let link = "https://example.com/join#\(invitation.token)"
    ///
    /// - Parameters:
    ///   - group: the group.
    ///   - role: the role of those who join.
    ///   - uses: how many accounts may join by it, 1 to 100.
    ///   - lifetime: seconds until it ends, from 60 to ``AccountSettings/longestInvitation``.
    ///   - account: the owner.
    /// - Throws: ``AccountError/groupNotFound``, ``AccountError/notAllowed``,
    ///   ``AccountError/invalidValue(name:minimum:maximum:)``, ``AccountError/limitReached(name:maximum:)``.
    public func invite(
        to group: UUID, as role: Role, uses: Int = 1, lifetime: TimeInterval = 7 * 86_400, by account: UUID
    ) async throws(AccountError) -> CreatedInvitation {
        let settings = settings
        let uses = try Self.checked(uses, "uses", 1...100)
        guard lifetime >= 60, lifetime <= settings.longestInvitation else {
            throw AccountError.invalidValue(
                name: "lifetime", minimum: 60, maximum: Int(settings.longestInvitation))
        }
        let token = try Secrets.makeToken()
        return try await write { transaction in
            let stored = try transaction.group(group, ownedBy: account)
            let open = try transaction.count("Invitation", "group.id == %@ AND endsAt > %@", group, transaction.now)
            guard open < settings.invitationsPerGroup else {
                throw AccountError.limitReached(
                    name: "open invitations to a group", maximum: settings.invitationsPerGroup)
            }
            let creator = try transaction.account(account)
            transaction.touch(stored)
            transaction.touch(creator)
            let invitation = StoredInvitation(context: transaction.context)
            invitation.id = UUID()
            invitation.digest = Secrets.digest(ofToken: token)
            invitation.role = role.rawValue
            invitation.usesLeft = Int64(uses)
            invitation.createdAt = transaction.now
            invitation.endsAt = transaction.now.addingTimeInterval(lifetime)
            invitation.creator = creator
            invitation.group = stored
            transaction.record(.invitationCreated, account: account, group: group, detail: "\(role.rawValue), \(uses)")
            return CreatedInvitation(token: token, invitation: try invitation.value)
        }
    }

    /// Returns the open invitations to a group, the one that ends first first, for an owner.
    ///
    /// - Throws: ``AccountError/groupNotFound``, ``AccountError/notAllowed``.
    public func invitations(to group: UUID, by account: UUID) async throws(AccountError) -> [Invitation] {
        try await read { transaction in
            _ = try transaction.group(group, ownedBy: account)
            let request = transaction.request(
                "Invitation", "group.id == %@ AND endsAt > %@", [group, transaction.now], as: StoredInvitation.self)
            request.sortDescriptors = [NSSortDescriptor(key: "endsAt", ascending: true)]
            request.relationshipKeyPathsForPrefetching = ["group"]
            return try transaction.context.fetch(request).map { try $0.value }
        }
    }

    /// Ends an invitation, for an owner of its group. Members that joined by it stay.
    ///
    /// - Throws: ``AccountError/groupNotFound``, ``AccountError/notAllowed``, ``AccountError/invitationNotFound``.
    public func revokeInvitation(_ id: UUID, to group: UUID, by account: UUID) async throws(AccountError) {
        try await write { transaction in
            _ = try transaction.group(group, ownedBy: account)
            guard
                let invitation: StoredInvitation = try transaction.first(
                    "Invitation", "id == %@ AND group.id == %@", id, group)
            else { throw AccountError.invitationNotFound }
            transaction.context.delete(invitation)
            transaction.record(.invitationRevoked, account: account, group: group)
        }
    }

    /// Returns what an invitation is to, for everybody who has its token. It does not use the invitation up.
    ///
    /// - Throws: ``AccountError/invalidInvitation``, ``AccountError/tooManyTries(retryAfter:)``.
    public func previewInvitation(token: String, from client: Client) async throws(AccountError) -> InvitationPreview {
        try await countInvitationTry(token, from: client) { transaction, digest in
            let invitation = try transaction.invitation(digest: digest)
            guard let group = invitation.group?.name, let role = Role(rawValue: invitation.role ?? ""),
                let end = invitation.endsAt
            else { throw AccountError.invalidInvitation }
            return InvitationPreview(groupName: group, role: role, endsAt: end)
        }
    }

    /// Lets an account join a group by an invitation. An account that is a member already keeps its role, and the
    /// invitation is not used; so a repeated request is harmless.
    ///
    /// - Throws: ``AccountError/invalidInvitation``, ``AccountError/limitReached(name:maximum:)``,
    ///   ``AccountError/tooManyTries(retryAfter:)``.
    public func join(
        token: String, account: UUID, from client: Client
    ) async throws(AccountError) -> Membership {
        try await countInvitationTry(token, from: client) { transaction, digest in
            _ = try transaction.invitation(digest: digest)
        }
        let settings = settings
        return try await write { transaction in
            let membership = try transaction.join(try transaction.account(account), by: token, settings)
            guard let value = membership.membership else { throw AccountError.invalidInvitation }
            return value
        }
    }

    private func countInvitationTry<T: Sendable>(
        _ token: String, from client: Client, _ body: @escaping @Sendable (AccountTransaction, Data) throws -> T
    ) async throws(AccountError) -> T {
        do { return try await countLinkTry(token, from: client, body).value } catch .invalidLink {
            throw AccountError.invalidInvitation
        }
    }
}

extension AccountTransaction {
    /// Finds the open invitation of a token.
    func invitation(token: String) throws -> StoredInvitation {
        guard let digest = Secrets.digest(ofToken: token) else { throw AccountError.invalidInvitation }
        return try invitation(digest: digest)
    }

    func invitation(digest: Data) throws -> StoredInvitation {
        guard let invitation: StoredInvitation = try first("Invitation", "digest == %@", digest),
            let stored = invitation.digest, Secrets.areEqual([UInt8](stored), [UInt8](digest)),
            let end = invitation.endsAt, end > now, invitation.usesLeft > 0
        else { throw AccountError.invalidInvitation }
        return invitation
    }

    /// Uses an invitation. The last use deletes it.
    @discardableResult func join(
        _ account: StoredAccount, by token: String, _ settings: AccountSettings
    ) throws -> StoredMembership {
        let invitation = try invitation(token: token)
        guard let group = invitation.group, let groupID = group.id, let role = Role(rawValue: invitation.role ?? "")
        else { throw AccountError.invalidInvitation }
        if let id = account.id, !account.isInserted,
            let present: StoredMembership = try first("Membership", "account.id == %@ AND group.id == %@", id, groupID)
        {
            return present
        }
        let membership = try add(account, to: group, as: role, settings)
        if invitation.usesLeft > 1 { invitation.usesLeft -= 1 } else { context.delete(invitation) }
        record(.memberJoined, account: account.id, group: groupID, detail: role.rawValue)
        return membership
    }

    /// Ends the invitations that an account created to a group.
    func endInvitations(of account: UUID, in group: UUID) throws {
        let invitations: [StoredInvitation] = try all(
            "Invitation", "creator.id == %@ AND group.id == %@", account, group)
        for invitation in invitations { context.delete(invitation) }
    }
}
