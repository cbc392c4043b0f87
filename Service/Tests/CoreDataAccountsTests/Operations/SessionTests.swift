import Foundation
import Testing

@testable import CoreDataAccounts

@Suite struct SessionTests {
    private static let day: TimeInterval = 86_400

    private func authenticate(
        _ service: TestService, _ token: String
    ) async throws(AccountError) -> Authenticated {
        try await service.accounts.authenticate(token: token, from: TestService.client)
    }

    @Test(arguments: ["", "x", String(repeating: "A", count: 43), String(repeating: "A", count: 50_000), "ü"])
    func otherTextsAreNoTokens(_ token: String) async throws {
        let service = try TestService()
        _ = try await service.signUp("ann")
        await expect(.notSignedIn) { _ = try await authenticate(service, token) }
    }

    @Test func tokensAreLongAndRandom() throws {
        let tokens = try (0..<100).map { _ in try Secrets.makeToken() }
        #expect(Set(tokens).count == 100)
        #expect(tokens.allSatisfy { $0.utf8.count == 43 && Secrets.digest(ofToken: $0)?.count == 32 })
    }

    @Test func unusedSessionEnds() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        service.clock.move(by: 30 * Self.day - 1)
        #expect(try await service.accounts.sessions(of: ann.account.id).count == 1)
        service.clock.move(by: 1)
        await expect(.notSignedIn) { _ = try await authenticate(service, ann.token) }
        #expect(try await service.accounts.sessions(of: ann.account.id).isEmpty)
    }

    @Test func tokenIsRenewedInItsSecondHalf() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        service.clock.move(by: 15 * Self.day - 1)
        #expect(try await authenticate(service, ann.token).renewedToken == nil)
        service.clock.move(by: 1)
        let renewed = try await authenticate(service, ann.token)
        let token = try #require(renewed.renewedToken)
        #expect(token != ann.token)
        #expect(renewed.session.id == ann.session.id)
        #expect(renewed.session.endsAt == service.clock.now.addingTimeInterval(30 * Self.day))
        // Requests at the same time get no further token, and both tokens are valid.
        #expect(try await authenticate(service, ann.token).renewedToken == nil)
        #expect(try await authenticate(service, token).renewedToken == nil)
        // The old one ends a minute after the first use of the new one.
        service.clock.move(by: 59)
        _ = try await authenticate(service, ann.token)
        service.clock.move(by: 1)
        await expect(.notSignedIn) { _ = try await authenticate(service, ann.token) }
        _ = try await authenticate(service, token)
    }

    @Test func lostAnswerDoesNotEndTheSession() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        service.clock.move(by: 20 * Self.day)
        let lost = try #require(try await authenticate(service, ann.token).renewedToken)
        service.clock.move(by: Self.day)
        let second = try #require(try await authenticate(service, ann.token).renewedToken)
        #expect(second != lost)
        _ = try await authenticate(service, second)
        service.clock.move(by: 60)
        await expect(.notSignedIn) { _ = try await authenticate(service, ann.token) }
        await expect(.notSignedIn) { _ = try await authenticate(service, lost) }
    }

    @Test func sessionEndsAfterAYearWhateverItsUse() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        var (token, days) = (ann.token, 0)
        while days < 360 {
            service.clock.move(by: 12 * Self.day)
            days += 12
            token = try await authenticate(service, token).renewedToken ?? token
        }
        service.clock.move(by: 5 * Self.day - 1)
        _ = try await authenticate(service, token)
        service.clock.move(by: 1)
        await expect(.notSignedIn) { _ = try await authenticate(service, token) }
    }

    @Test func lastUseIsKeptToItsPrecision() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        service.clock.move(by: 299)
        #expect(try await authenticate(service, ann.token).session.lastUsedAt == ann.session.lastUsedAt)
        service.clock.move(by: 1)
        #expect(try await authenticate(service, ann.token).session.lastUsedAt == service.clock.now)
    }

    @Test func signOutEndsTheSessionAndNoOther() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        let again = try await service.signIn("ann")
        try await service.accounts.signOut(token: ann.token, from: TestService.client)
        try await service.accounts.signOut(token: ann.token, from: TestService.client)
        await expect(.notSignedIn) { _ = try await authenticate(service, ann.token) }
        _ = try await authenticate(service, again.token)
        #expect(try await service.accounts.read { try $0.count("Token", "TRUEPREDICATE") } == 1)
    }

    @Test func sessionsAreListedAndEnded() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        let ben = try await service.signUp("ben")
        service.clock.move(by: 10)
        let tablet = try await service.signIn("ann", from: Client(address: "2001:db8::1", device: "tablet"))
        let sessions = try await service.accounts.sessions(of: ann.account.id)
        #expect(sessions.map(\.device) == ["tablet", "phone"])
        #expect(sessions.map(\.address) == ["2001:db8::1", "192.0.2.1"])
        await expect(.sessionNotFound) {
            try await service.accounts.endSession(tablet.session.id, of: ben.account.id, from: TestService.client)
        }
        try await service.accounts.endSession(tablet.session.id, of: ann.account.id, from: TestService.client)
        await expect(.notSignedIn) { _ = try await authenticate(service, tablet.token) }
        _ = try await service.signIn("ann")
        _ = try await service.signIn("ann")
        let ended = try await service.accounts.endSessions(
            of: ann.account.id, except: ann.session.id, from: TestService.client)
        #expect(ended == 2)
        _ = try await authenticate(service, ann.token)
        _ = try await authenticate(service, ben.token)
    }

    @Test func sessionThatWasUsedLeastRecentlyMakesRoom() async throws {
        let service = try TestService { $0.sessionsPerAccount = 2 }
        let first = try await service.signUp("ann")
        service.clock.move(by: 400)
        let second = try await service.signIn("ann")
        service.clock.move(by: 400)
        _ = try await authenticate(service, first.token)
        service.clock.move(by: 1)
        _ = try await service.signIn("ann")
        _ = try await authenticate(service, first.token)
        await expect(.notSignedIn) { _ = try await authenticate(service, second.token) }
    }

    @Test func otherProcessSeesEndAndRolesAtOnce() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        let ben = try await service.signUp("ben")
        let other = try service.reopened()
        let group = try await service.accounts.createGroup(named: "Home", by: ann.account.id)
        let invitation = try await service.accounts.invite(to: group.groupID, as: .viewer, by: ann.account.id)
        _ = try await service.accounts.join(token: invitation.token, account: ben.account.id, from: TestService.client)
        func role() async throws(AccountError) -> Role? {
            try await other.authenticate(token: ben.token, from: TestService.client).roles[group.groupID]
        }
        #expect(try await role() == .viewer)
        try await service.accounts.setRole(.editor, of: ben.account.id, in: group.groupID, by: ann.account.id)
        #expect(try await role() == .editor)
        try await service.accounts.setSuspended(true, of: ben.account.id, by: ann.account.id, from: TestService.client)
        await expect(.notSignedIn) { _ = try await role() }
        await other.close()
    }
}
