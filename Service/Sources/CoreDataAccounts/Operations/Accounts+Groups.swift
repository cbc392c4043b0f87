import CoreData
import Foundation

extension Accounts {
    /// Creates a group, whose owner is the account.
    ///
    /// - Parameter name: 1 to 100 characters.
    /// - Throws: ``AccountError/invalidGroupName(reason:)``; ``AccountError/limitReached(name:maximum:)`` beyond
    ///   ``AccountSettings/groupsPerAccount``.
    public func createGroup(named name: String, by account: UUID) async throws(AccountError) -> Membership {
        let name = try GroupName.checked(name)
        let settings = settings
        return try await write { transaction in
            let group = StoredGroup(context: transaction.context)
            group.id = UUID()
            group.name = name
            group.createdAt = transaction.now
            let membership = try transaction.add(try transaction.account(account), to: group, as: .owner, settings)
            transaction.record(.groupCreated, account: account, group: group.id)
            guard let value = membership.membership else { throw AccountError.groupNotFound }
            return value
        }
    }

    /// Returns the groups of an account with its role in each, by name.
    public func groups(of account: UUID) async throws(AccountError) -> [Membership] {
        try await read { try $0.memberships(of: account) }
    }

    /// Changes the name of a group, for an owner.
    ///
    /// - Throws: ``AccountError/groupNotFound`` for accounts that are no members, ``AccountError/notAllowed`` for
    ///   members that are no owners, ``AccountError/invalidGroupName(reason:)``.
    public func renameGroup(_ id: UUID, to name: String, by account: UUID) async throws(AccountError) {
        let name = try GroupName.checked(name)
        try await write { try $0.group(id, ownedBy: account).name = name }
    }

    /// Deletes a group with its memberships and invitations, for an owner. The objects of the group are the app's to
    /// delete.
    ///
    /// - Throws: ``AccountError/groupNotFound``, ``AccountError/notAllowed``.
    public func deleteGroup(_ id: UUID, by account: UUID) async throws(AccountError) {
        try await write { transaction in
            transaction.context.delete(try transaction.group(id, ownedBy: account))
            transaction.record(.groupDeleted, account: account, group: id)
        }
    }

    /// Returns the members of a group, by name, for a member.
    ///
    /// - Throws: ``AccountError/groupNotFound``.
    public func members(of group: UUID, by account: UUID) async throws(AccountError) -> [Member] {
        try await read { transaction in
            _ = try transaction.membership(of: account, in: group)
            let request = transaction.request("Membership", "group.id == %@", [group], as: StoredMembership.self)
            request.relationshipKeyPathsForPrefetching = ["account"]
            return try transaction.context.fetch(request).compactMap(\.member).sorted { $0.name < $1.name }
        }
    }

    /// Changes the role of a member, for an owner.
    ///
    /// - Throws: ``AccountError/groupNotFound``, ``AccountError/notAllowed``, ``AccountError/memberNotFound``,
    ///   ``AccountError/lastOwner``.
    public func setRole(
        _ role: Role, of member: UUID, in group: UUID, by account: UUID
    ) async throws(AccountError) {
        try await write { transaction in
            let stored = try transaction.group(group, ownedBy: account)
            let membership = try transaction.member(member, of: group)
            guard membership.role != role.rawValue else { return }
            if membership.role == Role.owner.rawValue {
                try transaction.requireOtherOwner(of: group, than: member)
                // Only owners invite.
                try transaction.endInvitations(of: member, in: group)
            }
            membership.role = role.rawValue
            transaction.touch(stored)
            transaction.record(.roleChanged, account: member, actor: account, group: group, detail: role.rawValue)
        }
    }

    /// Removes a member from a group, for an owner. The invitations that the member created end.
    ///
    /// - Throws: ``AccountError/groupNotFound``, ``AccountError/notAllowed``, ``AccountError/memberNotFound``,
    ///   ``AccountError/lastOwner``.
    public func removeMember(_ member: UUID, from group: UUID, by account: UUID) async throws(AccountError) {
        try await write { transaction in
            _ = try transaction.group(group, ownedBy: account)
            let membership = try transaction.member(member, of: group)
            try transaction.removeMembership(membership, account: member, group: group)
            transaction.record(.memberRemoved, account: member, actor: account, group: group)
        }
    }

    /// Lets an account leave a group. If it is the only member, the group is deleted.
    ///
    /// - Returns: whether the group was deleted.
    /// - Throws: ``AccountError/groupNotFound``; ``AccountError/lastOwner`` if the other members would have no owner.
    @discardableResult public func leaveGroup(_ group: UUID, account: UUID) async throws(AccountError) -> Bool {
        try await write { transaction in
            let membership = try transaction.membership(of: account, in: group)
            transaction.record(.memberLeft, account: account, group: group)
            return try transaction.leave(membership, account: account, group: group)
        }
    }
}

/// The rules for names of groups.
enum GroupName {
    static func checked(_ name: String) throws(AccountError) -> String {
        let text = name.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
        guard !text.isEmpty else { throw AccountError.invalidGroupName(reason: "it is empty") }
        guard text.unicodeScalars.count <= 100 else {
            throw AccountError.invalidGroupName(reason: "it has more than 100 characters")
        }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw AccountError.invalidGroupName(reason: "it contains a control character, such as a line break")
        }
        return text
    }
}

extension AccountTransaction {
    /// The membership of another account in a group.
    fileprivate func member(_ account: UUID, of group: UUID) throws -> StoredMembership {
        do { return try membership(of: account, in: group) } catch AccountError.groupNotFound {
            throw AccountError.memberNotFound
        }
    }

    /// Adds an account to a group.
    func add(
        _ account: StoredAccount, to group: StoredGroup, as role: Role, _ settings: AccountSettings
    ) throws -> StoredMembership {
        if let id = account.id, !account.isInserted,
            try count("Membership", "account.id == %@", id) >= settings.groupsPerAccount
        {
            throw AccountError.limitReached(name: "groups of an account", maximum: settings.groupsPerAccount)
        }
        if let id = group.id, !group.isInserted,
            try count("Membership", "group.id == %@", id) >= settings.membersPerGroup
        {
            throw AccountError.limitReached(name: "members of a group", maximum: settings.membersPerGroup)
        }
        touch(account)
        touch(group)
        let membership = StoredMembership(context: context)
        membership.role = role.rawValue
        membership.since = now
        membership.account = account
        membership.group = group
        return membership
    }

    fileprivate func requireOtherOwner(of group: UUID, than account: UUID) throws {
        guard
            try count("Membership", "group.id == %@ AND role == %@ AND account.id != %@", group, "owner", account) > 0
        else { throw AccountError.lastOwner }
    }

    /// Removes a member; another owner remains.
    fileprivate func removeMembership(_ membership: StoredMembership, account: UUID, group: UUID) throws {
        if membership.role == Role.owner.rawValue { try requireOtherOwner(of: group, than: account) }
        // Two owners that leave at the same time both change the group's row, so that the second one looks again.
        if let stored = membership.group { touch(stored) }
        if let stored = membership.account { touch(stored) }
        try endInvitations(of: account, in: group)
        context.delete(membership)
    }

    /// Lets an account leave a group, and deletes the group with its last member.
    ///
    /// - Returns: whether the group was deleted.
    fileprivate func leave(_ membership: StoredMembership, account: UUID, group: UUID) throws -> Bool {
        guard try count("Membership", "group.id == %@ AND account.id != %@", group, account) == 0 else {
            try removeMembership(membership, account: account, group: group)
            return false
        }
        if let stored = membership.group { context.delete(stored) }
        record(.groupDeleted, account: account, group: group)
        return true
    }

    /// Lets an account leave all groups, before it is deleted.
    ///
    /// - Returns: the groups that were deleted with it.
    func leaveAllGroups(_ account: StoredAccount) throws -> [UUID] {
        guard let id = account.id else { return [] }
        let memberships: [StoredMembership] = try all("Membership", "account.id == %@", id)
        return try memberships.compactMap { membership in
            guard let group = membership.group?.id else { return nil }
            return try leave(membership, account: id, group: group) ? group : nil
        }
    }
}
