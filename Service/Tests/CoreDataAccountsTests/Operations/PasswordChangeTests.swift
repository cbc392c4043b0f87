import Foundation
import Testing

@testable import CoreDataAccounts

@Suite struct PasswordChangeTests {
    private static let new = "the kettle sings at noon"
    private static let client = TestService.client

    @Test func changeEndsTheOtherSessions() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        let other = try await service.signIn("ann")
        try await service.accounts.changePassword(
            of: ann.account.id, from: TestService.password, to: Self.new, keeping: ann.session.id, from: Self.client)
        _ = try await service.accounts.authenticate(token: ann.token, from: Self.client)
        await expect(.notSignedIn) {
            _ = try await service.accounts.authenticate(token: other.token, from: Self.client)
        }
        await expect(.wrongCredentials) { _ = try await service.signIn("ann") }
        _ = try await service.signIn("ann", Self.new)
    }

    @Test func wrongPresentPasswordChangesNothingAndIsLimited() async throws {
        let service = try TestService { $0.limits.signInsOfKnownAddress = .init(tries: 2, per: 900) }
        let ann = try await service.signUp("ann")
        func change(_ present: String, _ new: String = PasswordChangeTests.new) async throws {
            try await service.accounts.changePassword(
                of: ann.account.id, from: present, to: new, keeping: nil, from: Self.client)
        }
        await expect(.passwordTooShort(minimum: 15)) { try await change(TestService.password, "short") }
        await expect(.wrongCredentials) { try await change("wrong") }
        await expect(.tooManyTries(retryAfter: 900)) { try await change(TestService.password) }
        // A person with a stolen session cannot keep the owner from signing in.
        _ = try await service.signIn("ann")
    }

    @Test func linkSetsAPasswordOnce() async throws {
        let service = try TestService()
        let ann = try await service.signUpConfirmed("ann", email: "ann@example.com")
        try await service.accounts.requestPasswordReset(name: "Ann", from: Self.client)
        let message = try #require(await service.messages(.passwordReset).first)
        #expect(message.email == "ann@example.com")
        #expect(message.endsAt == service.clock.now.addingTimeInterval(1800))
        let token = try #require(message.token)
        await expect(.passwordTooCommon) {
            try await service.accounts.resetPassword(token: token, to: "ann@example.com!", from: Self.client)
        }
        try await service.accounts.resetPassword(token: token, to: Self.new, from: Self.client)
        await expect(.notSignedIn) { _ = try await service.accounts.authenticate(token: ann.token, from: Self.client) }
        await expect(.invalidLink) {
            try await service.accounts.resetPassword(token: token, to: Self.new, from: Self.client)
        }
        _ = try await service.signIn("ann", Self.new)
        #expect(await service.messages(.passwordChanged).map(\.email) == ["ann@example.com"])
    }

    @Test func linkEnds() async throws {
        let service = try TestService()
        _ = try await service.signUpConfirmed("ann", email: "ann@example.com")
        try await service.accounts.requestPasswordReset(name: "ann@example.com", from: Self.client)
        let token = try #require(await service.messages(.passwordReset).first?.token)
        service.clock.move(by: 1800)
        await expect(.invalidLink) {
            try await service.accounts.resetPassword(token: token, to: Self.new, from: Self.client)
        }
    }

    @Test func laterLinkReplacesTheEarlierOne() async throws {
        let service = try TestService()
        _ = try await service.signUpConfirmed("ann", email: "ann@example.com")
        for _ in 1...2 { try await service.accounts.requestPasswordReset(name: "ann", from: Self.client) }
        let tokens = await service.messages(.passwordReset).compactMap(\.token)
        try #require(tokens.count == 2)
        await expect(.invalidLink) {
            try await service.accounts.resetPassword(token: tokens[0], to: Self.new, from: Self.client)
        }
        try await service.accounts.resetPassword(token: tokens[1], to: Self.new, from: Self.client)
    }

    @Test(arguments: ["ann", "ben", "nobody", "nobody@example.com"])
    func requestsLookTheSameWhoeverTheyAreFor(_ name: String) async throws {
        let service = try TestService()
        _ = try await service.signUpConfirmed("ann", email: "ann@example.com")
        _ = try await service.signUp("ben")
        for _ in 1...3 { try await service.accounts.requestPasswordReset(name: name, from: Self.client) }
        await expect(.tooManyTries(retryAfter: 3600)) {
            try await service.accounts.requestPasswordReset(name: name, from: Client(address: "198.51.100.1"))
        }
        #expect(await service.messages(.passwordReset).count == (name == "ann" ? 3 : 0))
        let links = try await service.accounts.read { try $0.count("Link", "purpose == 'passwordReset'") }
        #expect(links == (name == "ann" ? 1 : 0))
        let requests = try await service.accounts.read { try $0.count("Event", "kind == 'passwordResetRequested'") }
        #expect(requests == 3)
    }

    @Test func resetFreesAnAccountWhoseTriesAreUsedUp() async throws {
        let service = try TestService { $0.limits.signInsOfAccount = .init(tries: 1, per: 900) }
        _ = try await service.signUpConfirmed("ann", email: "ann@example.com")
        let home = Client(address: "203.0.113.1")
        _ = try? await service.signIn("ann", "wrong", from: home)
        await expect(.tooManyTries(retryAfter: 900)) { _ = try await service.signIn("ann", from: home) }
        try await service.accounts.requestPasswordReset(name: "ann", from: home)
        let token = try #require(await service.messages(.passwordReset).first?.token)
        try await service.accounts.resetPassword(token: token, to: Self.new, from: home)
        _ = try await service.signIn("ann", Self.new, from: home)
    }

    @Test func administratorMakesALinkWithoutMail() async throws {
        let service = try TestService(hasMail: false)
        let ann = try await service.signUp("ann")
        let ben = try await service.signUp("ben")
        await expect(.deliveryUnavailable) {
            try await service.accounts.requestPasswordReset(name: "ben", from: Self.client)
        }
        await expect(.notAllowed) {
            _ = try await service.accounts.makePasswordReset(
                for: ann.account.id, by: ben.account.id, from: Self.client)
        }
        let token = try await service.accounts.makePasswordReset(
            for: ben.account.id, by: ann.account.id, from: Self.client)
        try await service.accounts.resetPassword(token: token, to: Self.new, from: Self.client)
        _ = try await service.signIn("ben", Self.new)
    }

    @Test func unknownLinksAreLimited() async throws {
        let service = try TestService { $0.limits.linksOfAddress = .init(tries: 2, per: 900) }
        for token in ["x", String(repeating: "A", count: 43)] {
            await expect(.invalidLink) {
                try await service.accounts.resetPassword(token: token, to: Self.new, from: Self.client)
            }
        }
        await expect(.tooManyTries(retryAfter: 900)) {
            try await service.accounts.confirmEmail(token: "x", from: Self.client)
        }
    }

    @Test func failedDeliveryIsRecordedAndNotReported() async throws {
        let service = try TestService()
        _ = try await service.signUpConfirmed("ann", email: "ann@example.com")
        service.mailbox.close()
        try await service.accounts.requestPasswordReset(name: "ann", from: Self.client)
        await service.accounts.finishDeliveries()
        let failures = try await service.accounts.read { try $0.count("Event", "kind == 'deliveryFailed'") }
        #expect(failures == 1)
    }
}
