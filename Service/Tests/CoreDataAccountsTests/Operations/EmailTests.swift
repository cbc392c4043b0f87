import Foundation
import Testing

@testable import CoreDataAccounts

@Suite struct EmailTests {
    private static let client = TestService.client

    private func change(
        _ service: TestService, _ who: SignedIn, to email: String?, password: String = TestService.password
    ) async throws(AccountError) {
        try await service.accounts.changeEmail(of: who.account.id, to: email, password: password, from: Self.client)
    }

    @Test func newAddressCountsWhenItsLinkIsFollowed() async throws {
        let service = try TestService()
        let ann = try await service.signUpConfirmed("ann", email: "old@example.com")
        await expect(.wrongCredentials) { try await change(service, ann, to: "new@example.com", password: "wrong") }
        try await change(service, ann, to: "new@example.com")
        #expect(try await service.accounts.account(ann.account.id).email == "old@example.com")
        let token = try #require(await service.messages(.emailConfirmation).last?.token)
        try await service.accounts.confirmEmail(token: token, from: Self.client)
        #expect(try await service.accounts.account(ann.account.id).email == "new@example.com")
        #expect(await service.messages(.emailChanged).map(\.email) == ["old@example.com"])
        await expect(.invalidLink) { try await service.accounts.confirmEmail(token: token, from: Self.client) }
    }

    @Test func linkToTheFormerAddressNoLongerSetsAPassword() async throws {
        let service = try TestService()
        let ann = try await service.signUpConfirmed("ann", email: "old@example.com")
        try await service.accounts.requestPasswordReset(name: "ann", from: Self.client)
        let reset = try #require(await service.messages(.passwordReset).last?.token)
        try await change(service, ann, to: "new@example.com")
        let token = try #require(await service.messages(.emailConfirmation).last?.token)
        try await service.accounts.confirmEmail(token: token, from: Self.client)
        await expect(.invalidLink) {
            try await service.accounts.resetPassword(token: reset, to: "the kettle sings at noon", from: Self.client)
        }
    }

    @Test func addressThatTwoAccountsRequestBelongsToTheFirstThatConfirms() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann", email: "both@example.com")
        let ben = try await service.signUp("ben", email: "both@example.com")
        let tokens = await service.messages(.emailConfirmation).compactMap(\.token)
        try #require(tokens.count == 2)
        try await service.accounts.confirmEmail(token: tokens[1], from: Self.client)
        await expect(.emailTaken) { try await service.accounts.confirmEmail(token: tokens[0], from: Self.client) }
        #expect(try await service.accounts.account(ann.account.id).email == nil)
        #expect(try await service.accounts.account(ben.account.id).email == "both@example.com")
    }

    @Test func addressIsRemoved() async throws {
        let service = try TestService()
        let ann = try await service.signUpConfirmed("ann", email: "old@example.com")
        try await change(service, ann, to: nil)
        #expect(try await service.accounts.account(ann.account.id).email == nil)
        await expect(.wrongCredentials) { _ = try await service.signIn("old@example.com") }
        // Several accounts without an address do not conflict.
        _ = try await service.signUp("ben")
    }

    @Test func requestsAreLimited() async throws {
        let service = try TestService { $0.limits.emailsOfAccount = .init(tries: 2, per: 3600) }
        let ann = try await service.signUp("ann")
        for number in 1...2 { try await change(service, ann, to: "ann\(number)@example.com") }
        await expect(.tooManyTries(retryAfter: 3600)) { try await change(service, ann, to: "ann3@example.com") }
    }
}
