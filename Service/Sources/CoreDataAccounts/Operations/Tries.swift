import CoreData
import Foundation

/// What tries are counted for: a kind of try, and an account or an address.
struct TryKey: Hashable, Sendable {
    let digest: Data
    let limit: AccountSettings.Limit

    /// - Parameters:
    ///   - kind: the kind of try.
    ///   - subject: a name, an identity or an address. Only its digest is stored.
    init(_ kind: String, _ subject: String, _ limit: AccountSettings.Limit) {
        digest = Secrets.sha256(Array("\(kind)\0\(subject)".utf8))
        self.limit = limit
    }
}

extension AccountTransaction {
    /// Counts a try for each key, before the try itself, so that tries at the same time cannot exceed a limit together.
    ///
    /// - Throws: ``AccountError/tooManyTries(retryAfter:)`` if a limit is reached. The try then counts for no key.
    func countTry(_ keys: [TryKey], account: UUID?, client: Client) throws {
        let attempts = try keys.map { ($0, try attempt(of: $0)) }
        let exhausted = attempts.filter { $0.1.count >= Int64($0.0.limit.tries) }
        if let end = exhausted.compactMap(\.1.endsAt).max() {
            throw AccountError.tooManyTries(retryAfter: max(1, Int(end.timeIntervalSince(now).rounded(.up))))
        }
        for (key, attempt) in attempts {
            attempt.count += 1
            // Once for each time that a limit is reached, however many tries follow.
            if attempt.count == Int64(key.limit.tries) {
                record(.limitReached, account: account, client: client)
            }
        }
    }

    /// Gives back the tries that ``countTry(_:account:client:)`` counted, since they succeeded or never happened.
    func giveBackTry(_ keys: [TryKey]) throws {
        for key in keys {
            guard let attempt: StoredAttempt = try first("Attempt", "key == %@", key.digest), attempt.count > 0 else {
                continue
            }
            attempt.count -= 1
        }
    }

    /// Ends the counting of tries of the key.
    func forgetTries(_ key: TryKey) throws {
        if let attempt: StoredAttempt = try first("Attempt", "key == %@", key.digest) { attempt.count = 0 }
    }

    private func attempt(of key: TryKey) throws -> StoredAttempt {
        let attempt: StoredAttempt
        if let stored: StoredAttempt = try first("Attempt", "key == %@", key.digest) {
            attempt = stored
        } else {
            attempt = StoredAttempt(context: context)
            attempt.key = key.digest
        }
        if attempt.endsAt.map({ $0 <= now }) ?? true {
            attempt.count = 0
            attempt.endsAt = now.addingTimeInterval(key.limit.seconds)
        }
        return attempt
    }
}
