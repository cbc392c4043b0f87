import CoreData
import Foundation

// What apps with pages of their own need beside the operations of a protocol.
extension Accounts {
    /// Whether there is no account yet: the next one becomes the administrator.
    ///
    ///     if try await accounts.isEmpty() { show(welcome) }
    public func isEmpty() async throws(AccountError) -> Bool {
        try await read { try $0.count("Account", "TRUEPREDICATE") == 0 }
    }

    /// Returns the groups that were deleted, as far as the audit trail goes back: an app deletes their objects.
    ///
    /// An app calls it when it starts, for groups whose objects it did not delete because it was stopped.
    public func deletedGroups() async throws(AccountError) -> Set<UUID> {
        try await read { transaction in
            let events: [StoredEvent] = try transaction.all(
                "Event", "kind == %@", SecurityEvent.Kind.groupDeleted.rawValue)
            let deleted = Set(events.compactMap(\.groupID))
            return try deleted.filter { try transaction.count("Group", "id == %@", $0) == 0 }
        }
    }

    /// Returns the names of accounts, for the author of a change; accounts that were deleted have none.
    public func names(of accounts: Set<UUID>) async throws(AccountError) -> [UUID: String] {
        try await read { transaction in
            let found: [StoredAccount] = try transaction.all("Account", "id IN %@", Array(accounts))
            return Dictionary(
                found.compactMap { account in account.id.flatMap { id in account.name.map { (id, $0) } } },
                uniquingKeysWith: { first, _ in first })
        }
    }

    /// Returns the secret of a session for its pages: forms carry it, so that no other site can send them.
    ///
    /// It has 128 bits as 32 hexadecimal digits. It stays the same when the token of the session is renewed, and is
    /// another one after a new password. It does not authenticate.
    ///
    /// - Throws: ``AccountError/notSignedIn`` for a session that has ended.
    public func formToken(of session: UUID) async throws(AccountError) -> String {
        try await read { transaction in
            guard let stored: StoredSession = try transaction.first("Session", "id == %@", session),
                let password = stored.account?.password
            else { throw AccountError.notSignedIn }
            let digest = Secrets.sha256(Array("form \(session.uuidString) \(password)".utf8))
            return digest.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }
}
