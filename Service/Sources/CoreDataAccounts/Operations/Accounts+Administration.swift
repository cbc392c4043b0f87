import CoreData
import Foundation

extension Accounts {
    /// Returns an account.
    ///
    /// - Throws: ``AccountError/accountNotFound``.
    public func account(_ id: UUID) async throws(AccountError) -> Account {
        try await read { try $0.account(id).value }
    }

    /// Returns the accounts of the service, by name, for an administrator.
    ///
    /// - Parameters:
    ///   - after: ``AccountPage/next`` of the page before.
    ///   - limit: at most 200.
    /// - Throws: ``AccountError/notAllowed``.
    public func accounts(
        by administrator: UUID, after: String? = nil, limit: Int = 50
    ) async throws(AccountError) -> AccountPage {
        let limit = try Self.checked(limit, "limit", 1...200)
        return try await read { transaction in
            try transaction.requireAdministrator(administrator)
            let request = transaction.request("Account", "nameKey > %@", [after ?? ""], as: StoredAccount.self)
            request.sortDescriptors = [NSSortDescriptor(key: "nameKey", ascending: true)]
            request.fetchLimit = limit + 1
            let found = try transaction.context.fetch(request)
            return AccountPage(
                accounts: try found.prefix(limit).map { try $0.value },
                next: found.count > limit ? found[limit - 1].nameKey : nil)
        }
    }

    /// Makes an account an administrator, or makes it none any longer.
    ///
    /// - Throws: ``AccountError/notAllowed``, ``AccountError/accountNotFound``, ``AccountError/lastAdministrator``.
    public func setAdministrator(
        _ isAdministrator: Bool, of account: UUID, by administrator: UUID, from client: Client
    ) async throws(AccountError) {
        try await write { transaction in
            try transaction.requireAdministrator(administrator)
            let account = try transaction.account(account)
            guard account.isAdministrator != isAdministrator else { return }
            if !isAdministrator { try transaction.requireOtherAdministrator(than: account) }
            try transaction.touchAdministration()
            account.isAdministrator = isAdministrator
            transaction.record(
                isAdministrator ? .administratorAdded : .administratorRemoved, account: account.id,
                actor: administrator, client: client)
        }
    }

    /// Suspends an account, which ends its sessions and links, or ends the suspension.
    ///
    /// - Throws: ``AccountError/notAllowed``, ``AccountError/accountNotFound``, ``AccountError/lastAdministrator``.
    public func setSuspended(
        _ isSuspended: Bool, of account: UUID, by administrator: UUID, from client: Client
    ) async throws(AccountError) {
        try await write { transaction in
            try transaction.requireAdministrator(administrator)
            let account = try transaction.account(account)
            guard account.isSuspended != isSuspended, let id = account.id else { return }
            if isSuspended, account.isAdministrator { try transaction.requireOtherAdministrator(than: account) }
            try transaction.touchAdministration()
            account.isSuspended = isSuspended
            transaction.touch(account)
            if isSuspended {
                _ = try transaction.endSessions(of: id)
                try transaction.endLinks(.passwordReset, of: id)
                try transaction.endLinks(.emailConfirmation, of: id)
            }
            transaction.record(
                isSuspended ? .accountSuspended : .accountRestored, account: id, actor: administrator, client: client)
        }
    }

    /// Ends all sessions of another account, for an administrator.
    ///
    /// - Returns: how many ended.
    /// - Throws: ``AccountError/notAllowed``, ``AccountError/accountNotFound``.
    @discardableResult public func endSessions(
        of account: UUID, by administrator: UUID, from client: Client
    ) async throws(AccountError) -> Int {
        try await write { transaction in
            try transaction.requireAdministrator(administrator)
            _ = try transaction.account(account)
            let count = try transaction.endSessions(of: account)
            transaction.record(
                .sessionsEnded, account: account, actor: administrator, client: client, detail: "\(count)")
            return count
        }
    }

    /// Deletes an account, which repeats its password, with its sessions, links, memberships and invitations. Groups in
    /// which no other account is are deleted, too. Objects of the app are the app's to delete; see the returned groups.
    ///
    /// The audit trail keeps the entries of the account by its identity, without addresses and devices.
    ///
    /// - Returns: the groups that were deleted.
    /// - Throws: ``AccountError/wrongCredentials``; ``AccountError/lastOwner`` if a group with other members would have
    ///   no owner; ``AccountError/lastAdministrator`` if a service with other accounts would have no administrator.
    @discardableResult public func deleteAccount(
        _ id: UUID, password: String, from client: Client
    ) async throws(AccountError) -> [UUID] {
        let attempt = try await confirm(password, of: id, from: client)
        return try await write { transaction in
            let account = try transaction.account(id)
            guard account.password == attempt.password.text else { throw AccountError.wrongCredentials }
            try transaction.giveBackTry(attempt.keys)
            let groups = try transaction.leaveAllGroups(account)
            try transaction.touchAdministration()
            if account.isAdministrator, try transaction.count("Account", "id != %@", id) > 0 {
                try transaction.requireOtherAdministrator(than: account)
            }
            for event: StoredEvent in try transaction.all("Event", "accountID == %@ OR actorID == %@", id, id) {
                event.address = nil
                if event.kind == SecurityEvent.Kind.signedIn.rawValue { event.detail = nil }
            }
            transaction.context.delete(account)
            transaction.record(.accountDeleted, account: id)
            return groups
        }
    }

    /// Returns everything that the store knows about an account, except digests of secrets.
    ///
    /// - Throws: ``AccountError/accountNotFound``.
    public func export(_ id: UUID) async throws(AccountError) -> AccountExport {
        try await read { transaction in
            let account = try transaction.account(id).value
            let invitations: [StoredInvitation] = try transaction.all(
                "Invitation", "creator.id == %@ AND endsAt > %@", id, transaction.now)
            let events = transaction.request(
                "Event", "accountID == %@ OR actorID == %@", [id, id], as: StoredEvent.self)
            events.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
            return AccountExport(
                account: account, sessions: try transaction.sessions(of: id),
                memberships: try transaction.memberships(of: id), invitations: try invitations.map { try $0.value },
                events: try transaction.context.fetch(events).compactMap(\.value))
        }
    }

    /// Returns the audit trail, the latest entry first, for an administrator.
    ///
    /// - Parameters:
    ///   - account: only entries that concern this account.
    ///   - before: only earlier entries.
    ///   - limit: at most 1,000.
    /// - Throws: ``AccountError/notAllowed``.
    public func events(
        of account: UUID? = nil, before: Date? = nil, limit: Int = 100, by administrator: UUID
    ) async throws(AccountError) -> [SecurityEvent] {
        let limit = try Self.checked(limit, "limit", 1...1000)
        return try await read { transaction in
            try transaction.requireAdministrator(administrator)
            return try transaction.events(of: account, before: before, limit: limit)
        }
    }

    /// Returns the entries of the audit trail that concern an account, the latest first, for the account itself.
    public func events(
        ofOwn account: UUID, before: Date? = nil, limit: Int = 100
    ) async throws(AccountError) -> [SecurityEvent] {
        let limit = try Self.checked(limit, "limit", 1...1000)
        return try await read { try $0.events(of: account, before: before, limit: limit) }
    }

    static func checked(_ value: Int, _ name: String, _ bounds: ClosedRange<Int>) throws(AccountError) -> Int {
        guard bounds.contains(value) else {
            throw AccountError.invalidValue(name: name, minimum: bounds.lowerBound, maximum: bounds.upperBound)
        }
        return value
    }
}

extension AccountTransaction {
    fileprivate func requireOtherAdministrator(than account: StoredAccount) throws {
        guard
            try count(
                "Account", "isAdministrator == YES AND isSuspended == NO AND id != %@", account.id ?? UUID()) > 0
        else { throw AccountError.lastAdministrator }
    }

    fileprivate func events(of account: UUID?, before: Date?, limit: Int) throws -> [SecurityEvent] {
        var (formats, arguments): ([String], [Any]) = (["TRUEPREDICATE"], [])
        if let account {
            formats.append("(accountID == %@ OR actorID == %@)")
            arguments += [account, account]
        }
        if let before {
            formats.append("date < %@")
            arguments.append(before)
        }
        let request = request("Event", formats.joined(separator: " AND "), arguments, as: StoredEvent.self)
        request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
        request.fetchLimit = limit
        return try context.fetch(request).compactMap(\.value)
    }
}
