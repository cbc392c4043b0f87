import CoreDataRemoteSync
import Foundation

// The account: the cache and the queue belong to one, and no other account gets their contents.
extension ServiceCore {
    /// The account of sessions without a token.
    private static let anonymous = "anonymous"

    /// Returns the account of the session, and empties a cache of another account.
    ///
    /// Without a connection the account is known if the cache was last used with the same token.
    @discardableResult
    func account() async throws -> String {
        let session = session
        let token = session.token
        if let known = knownAccount {
            if known.token != token { try remember(known.account, token) }
            return known.account
        }
        if let owner = cache?.owner, owner.tokenDigest == CacheStore.Owner.digest(token) {
            knownAccount = (owner.account, token)
            return owner.account
        }
        let account = try await ask(session)
        if cache?.owner?.account != account { try cache?.empty() }
        try remember(account, session.token)
        return account
    }

    private func remember(_ account: String, _ token: String) throws {
        try cache?.setOwner(.init(account: account, tokenDigest: CacheStore.Owner.digest(token)))
        knownAccount = (account, token)
    }

    private func ask(_ session: ServiceSession) async throws -> String {
        let address = session.serviceURL.absoluteString
        if session.token.isEmpty { return "\(address) \(Self.anonymous)" }
        _ = try client()
        do { return "\(address) \(try await session.person().account.id.uuidString)" } catch let error as ServiceError {
            throw ServiceFailure(error)
        }
    }

    /// Notes what a failed request says of the session, and a token that the service replaced.
    func noteSession(_ failure: ServiceFailure?) {
        if failure?.status == 401 {
            NotificationCenter.default.post(name: ServiceStore.sessionDidEnd, object: nil)
        }
        guard let known = knownAccount, known.token != session.token else { return }
        do { try remember(known.account, session.token) } catch {
            Self.logger.warning("The cache does not know the new token: \(error.localizedDescription)")
        }
    }

    /// Forgets the account: empties the cache.
    func forgetAccount() throws {
        knownAccount = nil
        try cache?.empty()
        try cache?.setOwner(nil)
    }
}

extension ServiceFailure {
    init(_ error: ServiceError) { self.init(status: error.status, type: error.type, message: error.message) }
}
