import CoreData
import Foundation

extension Accounts {
    /// Signs an account in with its name, or its confirmed e-mail address, and its password.
    ///
    /// An unknown name, a wrong password and a suspended account are the same error after the same statements and the
    /// same computation. Tries are counted before the computation; a try that succeeds is given back.
    ///
    /// If the stored password has another cost than ``AccountSettings/passwordCost``, it is stored again with that one.
    ///
    /// - Throws: ``AccountError/wrongCredentials``, ``AccountError/tooManyTries(retryAfter:)``,
    ///   ``AccountError/busy(retryAfter:)``.
    public func signIn(
        name: String, password: String, from client: Client
    ) async throws(AccountError) -> SignedIn {
        let login = Login(name)
        let settings = settings
        let attempt = try await write { try $0.beginSignIn(login, client: client, settings) }
        guard try await isRight(password, for: attempt) else {
            try await write { $0.record(.signInRefused, account: attempt.account, client: client) }
            throw AccountError.wrongCredentials
        }
        let renewed = try await recomputed(password, for: attempt)
        let token = try Secrets.makeToken()
        return try await write { transaction in
            // The password may have been changed, and the account suspended or deleted, during the computation.
            guard let id = attempt.account,
                let account: StoredAccount = try transaction.first("Account", "id == %@", id),
                account.password == attempt.password.text, !account.isSuspended
            else { throw AccountError.wrongCredentials }
            if let renewed { account.password = renewed.text }
            try transaction.giveBackTry(attempt.keys)
            let session = try transaction.makeSession(of: account, token: token, client: client, settings)
            transaction.record(.signedIn, account: id, client: client, detail: client.shownDevice)
            return SignedIn(token: token, session: try session.value, account: try account.value)
        }
    }

    /// Whether the password is the one of the attempt's account. A computation that is refused is no try.
    func isRight(_ password: String, for attempt: PasswordAttempt) async throws(AccountError) -> Bool {
        do {
            let isPossible = policy.canExist(password)
            let matches = try await computer.compute { () throws(AccountError) in
                try attempt.password.matches(isPossible ? password : "")
            }
            return matches && isPossible && attempt.account != nil && !attempt.isSuspended
        } catch {
            if case .busy = error { try await write { try $0.giveBackTry(attempt.keys) } }
            throw error
        }
    }

    /// The password with the present cost, if it is stored with another one.
    func recomputed(_ password: String, for attempt: PasswordAttempt) async throws(AccountError) -> PasswordDigest? {
        let cost = settings.passwordCost
        guard attempt.password.cost != cost else { return nil }
        return try await computer.compute { () throws(AccountError) in try PasswordDigest(of: password, cost: cost) }
    }

    /// Checks the password of a signed-in account before a change that needs it.
    ///
    /// The tries have a limit of their own, so that a stolen session cannot keep its owner from signing in.
    ///
    /// - Throws: ``AccountError/wrongCredentials``, ``AccountError/tooManyTries(retryAfter:)``.
    func confirm(
        _ password: String, of account: UUID, from client: Client
    ) async throws(AccountError) -> PasswordAttempt {
        let key = TryKey("confirmation of", account.uuidString, settings.limits.signInsOfKnownAddress)
        let attempt = try await write { transaction in
            let stored = try transaction.account(account)
            guard let password = PasswordDigest(text: stored.password ?? "") else {
                throw AccountError.storeFailed(message: "the password of the account \(account) is not readable")
            }
            try transaction.countTry([key], account: account, client: client)
            return PasswordAttempt(account: account, password: password, isSuspended: stored.isSuspended, keys: [key])
        }
        guard try await isRight(password, for: attempt) else {
            try await write { $0.record(.passwordRefused, account: account, client: client) }
            throw AccountError.wrongCredentials
        }
        return attempt
    }
}

/// A password to be checked.
struct PasswordAttempt: Sendable {
    /// The account; `nil` if there is none.
    let account: UUID?
    /// The stored password, or one that no password matches.
    let password: PasswordDigest
    let isSuspended: Bool
    /// What the try was counted for.
    let keys: [TryKey]
}

extension AccountTransaction {
    /// Finds the account, and counts the try.
    ///
    /// For an unknown name, another account stands in for it: the statements, the objects and the cost of the password are
    /// then those of an account that exists.
    fileprivate func beginSignIn(
        _ login: Login, client: Client, _ settings: AccountSettings
    ) throws -> PasswordAttempt {
        let account = try account(called: login)
        // Names begin with a letter or a digit: the first account, or none.
        let standIn: StoredAccount? = try first("Account", "nameKey >= %@", account == nil ? "" : "\u{10FFFF}")
        let stored = account ?? standIn
        let (id, password, isSuspended) = (stored?.id ?? UUID(), stored?.password ?? "", stored?.isSuspended ?? false)
        let digest = PasswordDigest(text: password) ?? .unmatchable(cost: settings.passwordCost)
        let isUsed = try client.shownAddress.map {
            try count("Session", "account.id == %@ AND address == %@ AND endsAt > %@", id, $0, now) > 0
        }
        let isKnown = account != nil && isUsed == true
        let limits = settings.limits
        let keys = [
            TryKey("sign-in from", client.network, limits.signInsOfAddress),
            isKnown
                ? TryKey("sign-in of \(id) from", client.network, limits.signInsOfKnownAddress)
                : TryKey.signIn(of: account?.id, login, settings),
        ]
        try countTry(keys, account: account?.id, client: client)
        return PasswordAttempt(
            account: account == nil ? nil : id, password: account == nil ? .unmatchable(cost: digest.cost) : digest,
            isSuspended: isSuspended, keys: keys)
    }

    /// Makes a session, and ends the ones that were used least recently beyond the bound.
    func makeSession(
        of account: StoredAccount, token: String, client: Client, _ settings: AccountSettings
    ) throws -> StoredSession {
        // So that a deletion of the account at the same time does not leave a session without one.
        touch(account)
        if let id = account.id, !account.isInserted {
            let request = request("Session", "account.id == %@", [id], as: StoredSession.self)
            request.sortDescriptors = [NSSortDescriptor(key: "lastUsedAt", ascending: false)]
            request.fetchOffset = max(0, settings.sessionsPerAccount - 1)
            for session in try context.fetch(request) { context.delete(session) }
        }
        let session = StoredSession(context: context)
        session.id = UUID()
        session.device = client.shownDevice
        session.address = client.shownAddress
        session.createdAt = now
        session.lastUsedAt = now
        session.account = account
        addToken(token, to: session, isUsed: true, settings)
        return session
    }

    /// Adds a token to the session, and lets the session live as long as the token.
    func addToken(_ text: String, to session: StoredSession, isUsed: Bool, _ settings: AccountSettings) {
        let latest = (session.createdAt ?? now).addingTimeInterval(settings.longestSession)
        let token = StoredToken(context: context)
        token.digest = Secrets.digest(ofToken: text)
        token.createdAt = now
        token.endsAt = min(now.addingTimeInterval(settings.sessionLifetime), latest)
        token.isUsed = isUsed
        token.session = session
        session.endsAt = token.endsAt
    }
}

extension TryKey {
    /// Wrong passwords of an account from addresses that it does not use.
    static func signIn(of account: UUID?, _ login: Login?, _ settings: AccountSettings) -> TryKey {
        TryKey("sign-in of", account?.uuidString ?? login?.key ?? "", settings.limits.signInsOfAccount)
    }
}
