import Foundation

extension Accounts {
    /// Changes the e-mail address of an account, which repeats its password. The new address counts when its owner has
    /// followed the link that is delivered there; the present one stays until then. `nil` removes the address at once.
    ///
    /// The answer does not show whether another account has the address: that one's owner gets a message instead of the
    /// link.
    ///
    /// - Throws: ``AccountError/wrongCredentials``, ``AccountError/invalidEmail``,
    ///   ``AccountError/tooManyTries(retryAfter:)``, ``AccountError/deliveryUnavailable``.
    public func changeEmail(
        of account: UUID, to email: String?, password: String, from client: Client
    ) async throws(AccountError) {
        let email = try email.map { text throws(AccountError) in try EmailAddress.checked(text) }
        guard email == nil || hasDelivery else { throw AccountError.deliveryUnavailable }
        let attempt = try await confirm(password, of: account, from: client)
        let settings = settings
        let token = try Secrets.makeToken()
        let message = try await write { transaction in
            let account = try transaction.account(account)
            try transaction.giveBackTry(attempt.keys)
            guard let email else {
                let former = account.email
                account.email = nil
                transaction.record(.emailChanged, account: account.id, client: client)
                if let id = account.id { try transaction.endLinks(.emailConfirmation, of: id) }
                return former.map { AccountMessage(.emailChanged, to: $0, account) }
            }
            let key = TryKey("e-mail of", account.id?.uuidString ?? "", settings.limits.emailsOfAccount)
            try transaction.countTry([key], account: account.id, client: client)
            return try transaction.requestEmail(email, for: account, token: token, settings)
        }
        deliveries.add(message)
    }

    /// Confirms an e-mail address with the token of a link. It becomes the address of the account that requested it.
    ///
    /// - Throws: ``AccountError/invalidLink``; ``AccountError/emailTaken`` if another account confirmed the address
    ///   meanwhile.
    public func confirmEmail(token: String, from client: Client) async throws(AccountError) {
        let found = try await countLinkTry(token, from: client) { try $0.link(.emailConfirmation, $1).link.email }
        let message = try await write { transaction in
            let (link, account) = try transaction.link(.emailConfirmation, found.digest)
            guard let id = account.id, let email = link.email else { throw AccountError.invalidLink }
            guard try transaction.count("Account", "email == %@ AND id != %@", email, id) == 0 else {
                throw AccountError.emailTaken
            }
            let former = account.email
            account.email = email
            transaction.touch(account)
            try transaction.endLinks(.emailConfirmation, of: id)
            // A link for a new password that went to the address before must not work any longer.
            try transaction.endLinks(.passwordReset, of: id)
            transaction.record(.emailChanged, account: id, client: client)
            return former.flatMap { $0 == email ? nil : AccountMessage(.emailChanged, to: $0, account) }
        }
        deliveries.add(message)
    }
}

extension AccountTransaction {
    /// Makes the link that confirms an address, and returns the message with it; a message without it if another
    /// account has the address.
    func requestEmail(
        _ email: String, for account: StoredAccount, token: String, _ settings: AccountSettings
    ) throws -> AccountMessage? {
        let owner: StoredAccount? = try first("Account", "email == %@", email)
        let link = try makeLink(.emailConfirmation, account: account, email: email, token: token, settings)
        if let owner, owner != account { return AccountMessage(.emailInUse, to: email, owner) }
        return AccountMessage(
            purpose: .emailConfirmation, email: email, accountName: account.name ?? "", token: token,
            endsAt: link.endsAt)
    }
}

extension AccountMessage {
    /// A message without a link.
    init(_ purpose: Purpose, to email: String, _ account: StoredAccount) {
        self.init(purpose: purpose, email: email, accountName: account.name ?? "", token: nil, endsAt: nil)
    }
}
