import Foundation

// Values of stored objects. An object that another process deleted meanwhile has no value.

extension StoredAccount {
    var value: Account {
        get throws {
            guard let id, let name, let createdAt else { throw AccountError.accountNotFound }
            return Account(
                id: id, name: name, email: email, isAdministrator: isAdministrator, isSuspended: isSuspended,
                createdAt: createdAt)
        }
    }
}

extension StoredSession {
    var value: Session {
        get throws {
            guard let id, let createdAt, let lastUsedAt, let endsAt else { throw AccountError.notSignedIn }
            return Session(
                id: id, device: device ?? "", address: address, createdAt: createdAt, lastUsedAt: lastUsedAt,
                endsAt: endsAt)
        }
    }
}

extension StoredMembership {
    var membership: Membership? {
        guard let group, let id = group.id, let name = group.name, let role = Role(rawValue: role ?? ""), let since
        else { return nil }
        return Membership(groupID: id, groupName: name, role: role, since: since)
    }

    var member: Member? {
        guard let account, let id = account.id, let name = account.name, let role = Role(rawValue: role ?? ""),
            let since
        else { return nil }
        return Member(accountID: id, name: name, role: role, since: since)
    }
}

extension StoredInvitation {
    var value: Invitation {
        get throws {
            guard let id, let groupID = group?.id, let role = Role(rawValue: role ?? ""), let createdAt, let endsAt
            else { throw AccountError.invitationNotFound }
            return Invitation(
                id: id, groupID: groupID, role: role, usesLeft: Int(usesLeft), createdAt: createdAt, endsAt: endsAt)
        }
    }
}

extension StoredEvent {
    /// The entry; `nil` if a later version of the program wrote a kind that this one does not know.
    var value: SecurityEvent? {
        guard let id, let date, let kind = SecurityEvent.Kind(rawValue: kind ?? "") else { return nil }
        return SecurityEvent(
            id: id, date: date, kind: kind, accountID: accountID, actorID: actorID, groupID: groupID, address: address,
            detail: detail)
    }
}
