import Foundation
import Synchronization

/// The accounts of a service: people, their sessions, and the groups that they form.
///
///     let accounts = try Accounts(at: URL(fileURLWithPath: "accounts.sqlite"))
///     let client = Client(address: "192.0.2.1", device: "Ann's phone")
///     let ann = try await accounts.signUp(name: "ann", password: "four plain words here", from: client)
///     let home = try await accounts.createGroup(named: "Home", by: ann.account.id)
///     let link = try await accounts.invite(to: home.groupID, as: .editor, by: ann.account.id)
///     let who = try await accounts.authenticate(token: ann.token, from: client)   // account, groups and roles
///
/// The store is a SQLite file, or a schema of a PostgreSQL database after `PostgreSQLStore.register()`. Several
/// processes may use one store at the same time. Each operation is one transaction: if the process is killed, the
/// operation has happened completely or not at all, and what was returned survives.
///
/// An operation that is made for an account takes the account's identity. The caller has it from
/// ``authenticate(token:from:)``; the operations do not check sessions again.
///
/// All errors are ``AccountError``. Passwords and tokens are in no error, no log and no description; the store has
/// their digests only.
public final class Accounts: Sendable {
    /// The rules.
    public let settings: AccountSettings

    let store: AccountStore
    let policy: PasswordPolicy
    let computer: PasswordComputer
    let deliveries: DeliveryQueue
    let hasDelivery: Bool
    let clock: @Sendable () -> Date
    /// Guards the number of transactions since the last removal of ended rows, and its time.
    private let upkeep = Mutex<(writes: Int, last: Date?)>((0, nil))

    /// Opens a store of accounts, and creates it if it does not exist. A new file is readable by its owner only.
    ///
    /// - Parameters:
    ///   - url: a file URL, or a `postgresql://` URL with a schema of its own.
    ///   - settings: the rules.
    ///   - delivery: brings links to e-mail addresses; without it, there are no e-mail addresses, and administrators
    ///     make links for new passwords.
    ///   - clock: the time; tests set their own.
    /// - Throws: ``AccountError/storeFailed(message:)`` if the store cannot be opened or the settings are inconsistent.
    public init(
        at url: URL, settings: AccountSettings = AccountSettings(), delivery: (any LinkDelivery)? = nil,
        clock: @escaping @Sendable () -> Date = { Date() }
    ) throws(AccountError) {
        guard settings.passwordCost.isAcceptable else {
            throw AccountError.storeFailed(message: "the cost of passwords needs more than 512 MiB or is out of range")
        }
        self.settings = settings
        self.clock = clock
        policy = try PasswordPolicy(settings)
        computer = PasswordComputer(slots: settings.concurrentPasswords, places: settings.waitingPasswords)
        let store = try AccountStore(at: url)
        self.store = store
        hasDelivery = delivery != nil
        deliveries = DeliveryQueue(delivery) {
            // If the store fails, too, there is no place left to record it.
            try? await store.write(at: clock()) { $0.record(.deliveryFailed, account: nil) }
        }
    }

    /// Waits until all messages are delivered, and closes the store. No operation may run or begin.
    public func close() async {
        await finishDeliveries()
        store.close()
    }

    /// Waits until no message waits for its delivery.
    public func finishDeliveries() async { await deliveries.finish() }

    // MARK: Transactions

    func read<T: Sendable>(
        _ body: @escaping @Sendable (AccountTransaction) throws -> T
    ) async throws(AccountError) -> T {
        try await store.read(at: clock(), body)
    }

    func write<T: Sendable>(
        _ body: @escaping @Sendable (AccountTransaction) throws -> T
    ) async throws(AccountError) -> T {
        let result = try await store.write(at: clock(), body)
        // The operation has happened, whatever comes of this; what stays is removed the next time.
        if isUpkeepDue() { try? await removeEnded() }
        return result
    }

    /// Whether 500 transactions, or an hour, have passed since ended rows were removed.
    private func isUpkeepDue() -> Bool {
        let now = clock()
        return upkeep.withLock { upkeep in
            upkeep.writes += 1
            let last = upkeep.last ?? now
            if upkeep.last != nil, upkeep.writes < 500, now.timeIntervalSince(last) < 3600 { return false }
            upkeep = (0, now)
            return true
        }
    }
}
