import Foundation
import Testing

@testable import CoreDataAccounts

@Suite struct SignInTests {
    static let stranger = Client(address: "198.51.100.7")

    @Test func rightPasswordSignsIn() async throws {
        let service = try TestService()
        let ann = try await service.signUp("Ann")
        let again = try await service.signIn(" aNN")
        #expect(again.account.id == ann.account.id)
        #expect(again.token != ann.token)
        #expect(again.session.id != ann.session.id)
    }

    @Test(arguments: ["ann", "nobody", "nobody@example.com", "", String(repeating: "x", count: 20_000), "'; --"])
    func unknownNameAndWrongPasswordAreOneError(_ name: String) async throws {
        let service = try TestService()
        _ = try await service.signUp("ann")
        for password in ["", "a wrong one, quite long", String(repeating: "x", count: 20_000)] {
            await expect(.wrongCredentials) { _ = try await service.signIn(name, password, from: Self.stranger) }
        }
        let refusals = try await service.accounts.read { try $0.count("Event", "kind == 'signInRefused'") }
        #expect(refusals == 3)
    }

    @Test func everyTryComputesAPassword() async throws {
        let service = try TestService()
        _ = try await service.signUp("ann")
        for (name, password) in [("nobody", TestService.password), ("ann", "wrong"), ("ann", TestService.password)] {
            let before = await service.accounts.computer.computations
            _ = try? await service.signIn(name, password)
            #expect(await service.accounts.computer.computations == before + 1)
        }
    }

    @Test func passwordIsStoredAgainWhenTheCostHasChanged() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        var settings = TestService.settings
        settings.passwordCost = PasswordCost(costBits: 5, blockSize: 2, parallelism: 1)
        let later = try Accounts(at: service.url, settings: settings)
        func cost() async throws -> PasswordCost? {
            try await later.read { PasswordDigest(text: try $0.account(ann.account.id).password ?? "")?.cost }
        }
        _ = try? await later.signIn(name: "ann", password: "wrong", from: TestService.client)
        #expect(try await cost() == TestService.settings.passwordCost)
        _ = try await later.signIn(name: "ann", password: TestService.password, from: TestService.client)
        #expect(try await cost() == settings.passwordCost)
        _ = try await later.signIn(name: "ann", password: TestService.password, from: TestService.client)
        await later.close()
    }

    @Test(arguments: ["ann", "nobody"]) func triesOfANameEndAndBeginAgain(_ name: String) async throws {
        let service = try TestService { $0.limits.signInsOfAccount = .init(tries: 3, per: 900) }
        _ = try await service.signUp("ann")
        for number in 1...3 {
            let client = Client(address: "198.51.100.\(number)")
            await expect(.wrongCredentials) { _ = try await service.signIn(name, "wrong", from: client) }
        }
        service.clock.move(by: 100)
        await expect(.tooManyTries(retryAfter: 800)) { _ = try await service.signIn(name, from: Self.stranger) }
        service.clock.move(by: 800)
        await expect(.wrongCredentials) { _ = try await service.signIn(name, "wrong", from: Self.stranger) }
    }

    @Test func strangerCannotLockTheOwnerOut() async throws {
        let service = try TestService { $0.limits.signInsOfAccount = .init(tries: 3, per: 900) }
        _ = try await service.signUp("ann")
        for _ in 1...3 { _ = try? await service.signIn("ann", "wrong", from: Self.stranger) }
        await expect(.tooManyTries(retryAfter: 900)) { _ = try await service.signIn("ann", from: Self.stranger) }
        // From the address of her session.
        _ = try await service.signIn("ann")
    }

    @Test func triesOfAnAddressAreLimitedWhateverTheName() async throws {
        let service = try TestService { $0.limits.signInsOfAddress = .init(tries: 4, per: 900) }
        _ = try await service.signUp("ann")
        for name in ["a1", "b2", "c3", "d4"] {
            await expect(.wrongCredentials) { _ = try await service.signIn(name, from: Self.stranger) }
        }
        await expect(.tooManyTries(retryAfter: 900)) { _ = try await service.signIn("ann", from: Self.stranger) }
        _ = try await service.signIn("ann")
        let reached = try await service.accounts.read { try $0.count("Event", "kind == 'limitReached'") }
        #expect(reached == 1)
    }

    @Test func successIsNoTry() async throws {
        let service = try TestService {
            $0.limits.signInsOfAddress = .init(tries: 3, per: 900)
            $0.limits.signInsOfAccount = .init(tries: 3, per: 900)
        }
        _ = try await service.signUp("ann")
        for _ in 1...6 { _ = try await service.signIn("ann", from: Client(address: "203.0.113.9")) }
    }

    @Test func suspendedAccountLooksLikeAWrongPassword() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        let ben = try await service.signUp("ben")
        try await service.accounts.setSuspended(true, of: ben.account.id, by: ann.account.id, from: TestService.client)
        await expect(.wrongCredentials) { _ = try await service.signIn("ben") }
        await expect(.notSignedIn) {
            _ = try await service.accounts.authenticate(token: ben.token, from: TestService.client)
        }
        try await service.accounts.setSuspended(false, of: ben.account.id, by: ann.account.id, from: TestService.client)
        _ = try await service.signIn("ben")
    }

    @Test(.enabled(if: !TestService.isOnServer, "it reads the bytes of a file"))
    func storeHasNoSecretsAndNoTypedNames() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        _ = try? await service.signIn("typed-my-password-here", "typed-my-password-here")
        await service.accounts.close()
        var bytes = Data()
        for suffix in ["", "-wal"] {
            bytes += (try? Data(contentsOf: URL(fileURLWithPath: service.url.path + suffix))) ?? Data()
        }
        for secret in [ann.token, TestService.password, "typed-my-password-here"] {
            #expect(bytes.range(of: Data(secret.utf8)) == nil)
        }
        #expect(bytes.range(of: Data("$scrypt$".utf8)) != nil)
        let permissions = try FileManager.default.attributesOfItem(atPath: service.url.path)[.posixPermissions]
        #expect((permissions as? NSNumber)?.intValue == 0o600)
    }
}
