import Foundation

extension Accounts {
    /// Changes the password of a signed-in account, which repeats its present one. The other sessions of the account
    /// end.
    ///
    /// - Parameter session: the session that goes on; `nil` ends all.
    /// - Throws: ``AccountError/wrongCredentials``, ``AccountError/tooManyTries(retryAfter:)``, errors of the new
    ///   password.
    public func changePassword(
        of account: UUID, from current: String, to new: String, keeping session: UUID?, from client: Client
    ) async throws(AccountError) {
        let attempt = try await confirm(current, of: account, from: client)
        let stored = try await self.account(account)
        try policy.check(new, name: stored.name, email: stored.email)
        let digest = try await computed(new)
        let message = try await write { transaction in
            let account = try transaction.account(account)
            guard account.password == attempt.password.text else { throw AccountError.wrongCredentials }
            try transaction.giveBackTry(attempt.keys)
            transaction.record(.passwordChanged, account: account.id, client: client)
            return try transaction.setPassword(digest, of: account, keeping: session)
        }
        deliveries.add(message)
    }

    /// Sends a link for a new password to the confirmed address of the account with the name or address.
    ///
    /// The account is looked for after the answer. So neither the answer nor its time depends on whether there is one.
    ///
    /// - Throws: ``AccountError/tooManyTries(retryAfter:)``, ``AccountError/deliveryUnavailable``.
    public func requestPasswordReset(name: String, from client: Client) async throws(AccountError) {
        guard hasDelivery else { throw AccountError.deliveryUnavailable }
        let login = Login(name)
        let keys = [
            TryKey("reset from", client.network, settings.limits.resetsOfAddress),
            TryKey("reset of", login.key, settings.limits.resetsOfAccount),
        ]
        try await write { try $0.countTry(keys, account: nil, client: client) }
        let (settings, store, clock) = (settings, store, clock)
        deliveries.add {
            let token = try Secrets.makeToken()
            return try await store.write(at: clock()) { transaction in
                let account = try transaction.account(called: login)
                transaction.record(.passwordResetRequested, account: account?.id, client: client)
                guard let account, let name = account.name, let email = account.email, !account.isSuspended else {
                    return nil
                }
                let link = try transaction.makeLink(.passwordReset, account: account, token: token, settings)
                return AccountMessage(
                    purpose: .passwordReset, email: email, accountName: name, token: token, endsAt: link.endsAt)
            }
        }
    }

    /// Returns the token of a link for a new password, which an administrator brings to the owner of an account. The
    /// administrator does not get to know the password, and the owner is told when it was changed.
    ///
    /// - Throws: ``AccountError/notAllowed``, ``AccountError/accountNotFound``.
    public func makePasswordReset(
        for account: UUID, by administrator: UUID, from client: Client
    ) async throws(AccountError) -> String {
        let settings = settings
        let token = try Secrets.makeToken()
        return try await write { transaction in
            try transaction.requireAdministrator(administrator)
            let account = try transaction.account(account)
            _ = try transaction.makeLink(.passwordReset, account: account, token: token, settings)
            transaction.record(.passwordResetRequested, account: account.id, actor: administrator, client: client)
            return token
        }
    }

    /// Sets a password with the token of a link. All sessions of the account end, and all its links for passwords.
    ///
    /// The account is not signed in: its owner uses the new password.
    ///
    /// - Throws: ``AccountError/invalidLink`` for a link that is unknown, was used or has ended; errors of the new
    ///   password, after which the link stays valid.
    public func resetPassword(
        token: String, to new: String, from client: Client
    ) async throws(AccountError) {
        let digest = try await countLinkTry(token, from: client) { transaction, digest in
            try transaction.link(.passwordReset, digest).owner.value
        }
        try policy.check(new, name: digest.value.name, email: digest.value.email)
        let password = try await computed(new)
        let settings = settings
        let message = try await write { transaction in
            let (_, account) = try transaction.link(.passwordReset, digest.digest)
            transaction.record(.passwordReset, account: account.id, client: client)
            // The owner can sign in even if another person used up the tries.
            try transaction.forgetTries(.signIn(of: account.id, nil, settings))
            return try transaction.setPassword(password, of: account, keeping: nil)
        }
        deliveries.add(message)
    }

    private func computed(_ password: String) async throws(AccountError) -> PasswordDigest {
        let cost = settings.passwordCost
        return try await computer.compute { () throws(AccountError) in try PasswordDigest(of: password, cost: cost) }
    }

    /// Reads what a link's or an invitation's token refers to. A token that refers to nothing counts as a try of the
    /// address.
    func countLinkTry<T: Sendable>(
        _ token: String, from client: Client, _ body: @escaping @Sendable (AccountTransaction, Data) throws -> T
    ) async throws(AccountError) -> (digest: Data, value: T) {
        let key = TryKey("link from", client.network, settings.limits.linksOfAddress)
        do throws(AccountError) {
            guard let digest = Secrets.digest(ofToken: token) else { throw AccountError.invalidLink }
            return (digest, try await read { transaction in try body(transaction, digest) })
        } catch {
            if error == .invalidLink || error == .invalidInvitation {
                try await write { try $0.countTry([key], account: nil, client: client) }
            }
            throw error
        }
    }
}

/// What a link is for.
enum LinkPurpose: String, Sendable {
    case passwordReset
    case emailConfirmation
}

extension AccountTransaction {
    /// Makes a link. The links of the same purpose that the account had before end.
    func makeLink(
        _ purpose: LinkPurpose, account: StoredAccount, email: String? = nil, token: String,
        _ settings: AccountSettings
    ) throws -> StoredLink {
        touch(account)
        if let id = account.id, !account.isInserted { try endLinks(purpose, of: id) }
        let link = StoredLink(context: context)
        link.digest = Secrets.digest(ofToken: token)
        link.purpose = purpose.rawValue
        link.email = email
        link.createdAt = now
        let lifetime =
            purpose == .passwordReset ? settings.passwordResetLifetime : settings.emailConfirmationLifetime
        link.endsAt = now.addingTimeInterval(lifetime)
        link.account = account
        return link
    }

    func endLinks(_ purpose: LinkPurpose, of account: UUID) throws {
        let links: [StoredLink] = try all("Link", "account.id == %@ AND purpose == %@", account, purpose.rawValue)
        for link in links { context.delete(link) }
    }

    /// Finds a valid link and its account.
    func link(_ purpose: LinkPurpose, _ digest: Data) throws -> (link: StoredLink, owner: StoredAccount) {
        guard let link: StoredLink = try first("Link", "digest == %@ AND purpose == %@", digest, purpose.rawValue),
            let stored = link.digest, Secrets.areEqual([UInt8](stored), [UInt8](digest)),
            let end = link.endsAt, end > now, let account = link.account, account.id != nil, !account.isSuspended
        else { throw AccountError.invalidLink }
        return (link, account)
    }

    /// Sets the password, ends sessions and links, and returns the message for the owner.
    fileprivate func setPassword(
        _ password: PasswordDigest, of account: StoredAccount, keeping session: UUID?
    ) throws -> AccountMessage? {
        guard let id = account.id, let name = account.name else { throw AccountError.accountNotFound }
        account.password = password.text
        touch(account)
        _ = try endSessions(of: id, except: session)
        try endLinks(.passwordReset, of: id)
        return account.email.map {
            AccountMessage(purpose: .passwordChanged, email: $0, accountName: name, token: nil, endsAt: nil)
        }
    }
}
