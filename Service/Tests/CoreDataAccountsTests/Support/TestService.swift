import Foundation
import Synchronization
import Testing

@testable import CoreDataAccounts

#if PostgreSQL
    import CoreDataPostgreSQL
    import PostgreSQLServer
#endif

/// Accounts in a folder of their own, with a clock that tests move and a mailbox that they read.
final class TestService: Sendable {
    let folder: URL
    let url: URL
    let accounts: Accounts
    let clock: TestClock
    let mailbox = Mailbox()

    static let password = "a lamp under the stairs"
    static let client = Client(address: "192.0.2.1", device: "phone")

    /// - Parameter date: the time at first; the present one if other processes, which have no such clock, use the store.
    init(
        hasMail: Bool = true, at date: Date = TestClock.start, _ change: (inout AccountSettings) -> Void = { _ in }
    ) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("accounts-\(UUID())")
        var settings = Self.settings
        change(&settings)
        let clock = TestClock(date)
        self.clock = clock
        url = try Self.place(folder)
        accounts = try Accounts(
            at: url, settings: settings, delivery: hasMail ? mailbox : nil,
            clock: { clock.now })
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Whether the stores are on a server.
    static var isOnServer: Bool {
        #if PostgreSQL
            ProcessInfo.processInfo.environment["COREDATA_ACCOUNTS_ON_POSTGRESQL"] != nil
        #else
            false
        #endif
    }

    /// The place of the store: a file, or a schema of a server if `COREDATA_ACCOUNTS_ON_POSTGRESQL` is set.
    private static func place(_ folder: URL) throws -> URL {
        #if PostgreSQL
            if isOnServer {
                PostgreSQLStore.register()
                let schema = "a" + UUID().uuidString.filter { $0 != "-" }.lowercased()
                return try PostgreSQLServer.shared.url(schema: schema)
            }
        #endif
        return folder.appendingPathComponent("accounts.sqlite")
    }

    /// The defaults, with a cost of passwords that tests can afford.
    static var settings: AccountSettings {
        var settings = AccountSettings()
        settings.passwordCost = PasswordCost(costBits: 4, blockSize: 1, parallelism: 1)
        settings.limits.signUpsOfAddress.tries = 1000
        return settings
    }

    /// Opens the store once more, as another process does.
    func reopened() throws -> Accounts {
        let clock = clock
        return try Accounts(at: url, settings: accounts.settings, delivery: mailbox, clock: { clock.now })
    }

    /// Signs an account up.
    func signUp(_ name: String, email: String? = nil) async throws -> SignedIn {
        try await accounts.signUp(name: name, password: Self.password, email: email, from: Self.client)
    }

    func signIn(
        _ name: String, _ password: String = password, from client: Client = client
    ) async throws(AccountError) -> SignedIn {
        try await accounts.signIn(name: name, password: password, from: client)
    }

    /// The messages that were delivered until now, with a subject.
    func messages(_ purpose: AccountMessage.Purpose? = nil) async -> [AccountMessage] {
        await accounts.finishDeliveries()
        return mailbox.messages.filter { purpose == nil || $0.purpose == purpose }
    }

    /// Makes an account with a confirmed address.
    func signUpConfirmed(_ name: String, email: String) async throws -> SignedIn {
        let result = try await signUp(name, email: email)
        let token = try #require(await messages(.emailConfirmation).last?.token)
        try await accounts.confirmEmail(token: token, from: Self.client)
        return result
    }
}

/// A clock that stands still until a test moves it.
final class TestClock: Sendable {
    static let start = Date(timeIntervalSinceReferenceDate: 800_000_000)

    private let date: Mutex<Date>

    init(_ date: Date) { self.date = Mutex(date) }

    var now: Date { date.withLock { $0 } }

    func move(by seconds: TimeInterval) { date.withLock { $0 += seconds } }
}

/// Keeps messages. It can be told to fail.
final class Mailbox: LinkDelivery {
    struct Closed: Error {}

    private let state = Mutex<(messages: [AccountMessage], isClosed: Bool)>(([], false))

    var messages: [AccountMessage] { state.withLock { $0.messages } }

    func close() { state.withLock { $0.isClosed = true } }

    func deliver(_ message: AccountMessage) async throws {
        try state.withLock { state in
            if state.isClosed { throw Closed() }
            state.messages.append(message)
        }
    }
}

/// Expects an error of accounts.
func expect(
    _ expected: AccountError, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async {
    do {
        try await body()
        Issue.record("no error instead of \(expected.code)", sourceLocation: sourceLocation)
    } catch let error as AccountError {
        #expect(error == expected, sourceLocation: sourceLocation)
    } catch {
        Issue.record("\(error) instead of \(expected.code)", sourceLocation: sourceLocation)
    }
}
