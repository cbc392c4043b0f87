import Foundation

extension Accounts {
    /// Makes an account and signs it in. The first account of a store becomes its administrator.
    ///
    ///     let ann = try await accounts.signUp(name: "ann", password: password, email: "ann@example.com", from: client)
    ///
    /// The address is not the account's until its owner follows the link that is delivered there. If another account
    /// has the address, that one's owner gets a message instead, and the answer is the same. A name, however, is public
    /// in its groups, and an existing one is refused with ``AccountError/nameTaken``; the limit of sign-ups bounds the
    /// search for names.
    ///
    /// - Parameters:
    ///   - name: 2 to 40 letters, digits, `.`, `-`, `_`; unique without case.
    ///   - password: see ``AccountSettings/minimumPasswordLength``.
    ///   - email: an address, needs a ``LinkDelivery``.
    ///   - invitation: the token of an invitation to a group, which the account joins.
    ///   - client: where the request comes from.
    /// - Throws: ``AccountError``.
    public func signUp(
        name: String, password: String, email: String? = nil, invitation: String? = nil, from client: Client
    ) async throws(AccountError) -> SignedIn {
        let name = try AccountName.checked(name)
        let email = try email.map { text throws(AccountError) in try EmailAddress.checked(text) }
        if email != nil, !hasDelivery { throw AccountError.deliveryUnavailable }
        try policy.check(password, name: name, email: email)
        let signUp = NewAccount(name: name, email: email, invitation: invitation, client: client)

        // Both before the password is computed: it is the expensive part.
        let keys = [TryKey("sign-up from", client.network, settings.limits.signUpsOfAddress)]
        let settings = settings
        try await write { transaction in
            try transaction.countTry(keys, account: nil, client: client)
            try transaction.check(signUp, settings)
        }
        let cost = settings.passwordCost
        let digest = try await computer.compute { () throws(AccountError) in
            try PasswordDigest(of: password, cost: cost)
        }
        let token = try Secrets.makeToken()
        let link = try Secrets.makeToken()
        let (result, message) = try await write { transaction in
            let isFirst = try transaction.check(signUp, settings)
            try transaction.touchAdministration()
            let account = StoredAccount(context: transaction.context)
            account.id = UUID()
            account.name = name
            account.nameKey = AccountName.key(name)
            account.password = digest.text
            account.isAdministrator = isFirst
            account.createdAt = transaction.now
            transaction.record(.signedUp, account: account.id, client: client)
            if let invitation {
                try transaction.join(account, by: invitation, settings)
            }
            let session = try transaction.makeSession(of: account, token: token, client: client, settings)
            let message = try email.flatMap {
                try transaction.requestEmail($0, for: account, token: link, settings)
            }
            return (
                SignedIn(token: token, session: try session.value, account: try account.value), message
            )
        }
        deliveries.add(message)
        return result
    }
}

/// The checked values of a sign-up.
private struct NewAccount: Sendable {
    let name: String
    let email: String?
    let invitation: String?
    let client: Client
}

extension AccountTransaction {
    /// Checks whether the account may be made now.
    ///
    /// - Returns: whether it would be the first one.
    @discardableResult fileprivate func check(_ new: NewAccount, _ settings: AccountSettings) throws -> Bool {
        let isFirst = try count("Account", "TRUEPREDICATE") == 0
        if !isFirst {
            switch settings.signUp {
            case .open: break
            case .invited: guard new.invitation != nil else { throw AccountError.signUpClosed }
            case .closed: throw AccountError.signUpClosed
            }
        }
        if let token = new.invitation { _ = try invitation(token: token) }
        guard try count("Account", "nameKey == %@", AccountName.key(new.name)) == 0 else {
            throw AccountError.nameTaken
        }
        return isFirst
    }
}
