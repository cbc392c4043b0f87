import CoreData
import Foundation

extension Accounts {
    /// Finds the account, the session, and the groups of a token.
    ///
    ///     let who = try await accounts.authenticate(token: token, from: client)
    ///     if let token = who.renewedToken { answer.cookie = token }
    ///
    /// Nothing is cached: an ended session and a changed role have effect with the next request, in each process. It
    /// costs four statements by index, and a transaction if the token is renewed or used for the first time, or if
    /// ``Session/lastUsedAt`` is older than ``AccountSettings/lastUsePrecision``.
    ///
    /// - Throws: ``AccountError/notSignedIn`` for a token that is unknown or has ended.
    public func authenticate(token: String, from client: Client) async throws(AccountError) -> Authenticated {
        guard let digest = Secrets.digest(ofToken: token) else { throw AccountError.notSignedIn }
        let settings = settings
        let (found, isDue) = try await read { transaction in
            let token = try transaction.token(digest)
            let found = try transaction.authenticated(token, renewedToken: nil)
            return (found, transaction.use(of: token, settings) != nil)
        }
        guard isDue else { return found }
        let next = try Secrets.makeToken()
        return try await write { transaction in
            let token = try transaction.token(digest)
            let use = transaction.use(of: token, settings)
            try transaction.note(use, of: token, next: next, settings)
            return try transaction.authenticated(token, renewedToken: use?.renews == true ? next : nil)
        }
    }

    /// Ends the session of a token. An unknown token is no error, since the session has ended already.
    public func signOut(token: String, from client: Client) async throws(AccountError) {
        guard let digest = Secrets.digest(ofToken: token) else { return }
        try await write { transaction in
            guard let token: StoredToken = try transaction.first("Token", "digest == %@", digest),
                let session = token.session
            else { return }
            transaction.record(.signedOut, account: session.account?.id, client: client)
            transaction.context.delete(session)
        }
    }

    /// Returns the sessions of an account, the one that was used last first.
    public func sessions(of account: UUID) async throws(AccountError) -> [Session] {
        try await read { try $0.sessions(of: account) }
    }

    /// Ends one session of an account.
    ///
    /// - Throws: ``AccountError/sessionNotFound``.
    public func endSession(_ id: UUID, of account: UUID, from client: Client) async throws(AccountError) {
        try await write { transaction in
            guard
                let session: StoredSession = try transaction.first(
                    "Session", "id == %@ AND account.id == %@", id, account)
            else { throw AccountError.sessionNotFound }
            transaction.context.delete(session)
            transaction.record(.sessionsEnded, account: account, client: client, detail: "1")
        }
    }

    /// Ends all sessions of an account, except perhaps one.
    ///
    /// - Returns: how many ended.
    @discardableResult public func endSessions(
        of account: UUID, except session: UUID? = nil, from client: Client
    ) async throws(AccountError) -> Int {
        try await write { transaction in
            let count = try transaction.endSessions(of: account, except: session)
            if count > 0 { transaction.record(.sessionsEnded, account: account, client: client, detail: "\(count)") }
            return count
        }
    }
}

/// What the use of a token changes.
struct TokenUse: Sendable {
    /// Whether the token gets a successor.
    let renews: Bool
    /// Whether it is the first use of a renewed token, which ends the ones before it.
    let isFirst: Bool
}

extension AccountTransaction {
    /// How long a token is valid after its successor was used, for requests that were on their way.
    private static let grace: TimeInterval = 60

    /// Finds a valid token.
    fileprivate func token(_ digest: Data) throws -> StoredToken {
        let request = request("Token", "digest == %@", [digest], as: StoredToken.self)
        request.relationshipKeyPathsForPrefetching = ["session", "session.account"]
        guard let token = try context.fetch(request).first, let stored = token.digest,
            Secrets.areEqual([UInt8](stored), [UInt8](digest)), let end = token.endsAt, end > now,
            let session = token.session, let account = session.account, account.id != nil, !account.isSuspended
        else { throw AccountError.notSignedIn }
        return token
    }

    /// What the use of a valid token changes; `nil` for nothing.
    fileprivate func use(of token: StoredToken, _ settings: AccountSettings) -> TokenUse? {
        guard let session = token.session, let begin = token.createdAt, let end = token.endsAt else { return nil }
        let latest = (session.createdAt ?? now).addingTimeInterval(settings.longestSession)
        // A successor that was made a moment ago is on its way to the client.
        let isRecent = tokens(of: session).contains { other in
            other.createdAt.map { $0 > begin && $0 > now.addingTimeInterval(-Self.grace) } ?? false
        }
        let isHalfOver = now.timeIntervalSince(begin) >= end.timeIntervalSince(begin) / 2
        let isLonger = min(now.addingTimeInterval(settings.sessionLifetime), latest) > end
        let renews = isHalfOver && isLonger && !isRecent
        let isDue = session.lastUsedAt.map { now.timeIntervalSince($0) >= settings.lastUsePrecision } ?? true
        return renews || !token.isUsed || isDue ? TokenUse(renews: renews, isFirst: !token.isUsed) : nil
    }

    fileprivate func note(
        _ use: TokenUse?, of token: StoredToken, next: String, _ settings: AccountSettings
    ) throws {
        guard let use, let session = token.session, let begin = token.createdAt else { return }
        session.lastUsedAt = now
        if use.isFirst {
            token.isUsed = true
            for other in tokens(of: session) where other.createdAt.map({ $0 < begin }) ?? false {
                other.endsAt = min(other.endsAt ?? now, now.addingTimeInterval(Self.grace))
            }
        }
        if use.renews { addToken(next, to: session, isUsed: false, settings) }
    }

    private func tokens(of session: StoredSession) -> [StoredToken] {
        session.tokens?.allObjects.compactMap { $0 as? StoredToken } ?? []
    }

    fileprivate func authenticated(_ token: StoredToken, renewedToken: String?) throws -> Authenticated {
        guard let session = token.session, let account = session.account else { throw AccountError.notSignedIn }
        let value = try account.value
        return Authenticated(
            account: value, session: try session.value, memberships: try memberships(of: value.id),
            renewedToken: renewedToken)
    }

    /// The memberships of an account, by the names of the groups.
    func memberships(of account: UUID) throws -> [Membership] {
        let request = request("Membership", "account.id == %@", [account], as: StoredMembership.self)
        request.relationshipKeyPathsForPrefetching = ["group"]
        return try context.fetch(request).compactMap(\.membership)
            .sorted { ($0.groupName, $0.groupID.uuidString) < ($1.groupName, $1.groupID.uuidString) }
    }

    func sessions(of account: UUID) throws -> [Session] {
        let request = request("Session", "account.id == %@ AND endsAt > %@", [account, now], as: StoredSession.self)
        request.sortDescriptors = [NSSortDescriptor(key: "lastUsedAt", ascending: false)]
        return try context.fetch(request).map { try $0.value }
    }

    /// Ends the sessions of an account, and returns how many.
    func endSessions(of account: UUID, except session: UUID? = nil) throws -> Int {
        let sessions: [StoredSession] = try all("Session", "account.id == %@", account)
        let ended = sessions.filter { session == nil || $0.id != session }
        for session in ended { context.delete(session) }
        return ended.count
    }
}
