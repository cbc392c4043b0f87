import Foundation
import Testing

@testable import CoreDataAccounts

@Suite struct SignUpTests {
    @Test func firstAccountIsTheAdministratorAndNoOther() async throws {
        let service = try TestService()
        let ann = try await service.signUp("Ann")
        let ben = try await service.signUp("ben")
        #expect(ann.account.isAdministrator)
        #expect(!ben.account.isAdministrator)
        #expect(ann.account.name == "Ann")
        #expect(
            try await service.accounts.authenticate(token: ann.token, from: TestService.client).account == ann.account)
    }

    @Test(arguments: ["ann", "ANN", " Ann ", "ＡＮＮ"]) func namesAreUniqueWithoutCase(_ name: String) async throws {
        let service = try TestService()
        _ = try await service.signUp("Ann")
        await expect(.nameTaken) { _ = try await service.signUp(name) }
        #expect(try await service.accounts.read { try $0.count("Account", "TRUEPREDICATE") } == 1)
    }

    @Test func refusedPasswordMakesNoAccount() async throws {
        let service = try TestService()
        await expect(.passwordTooShort(minimum: 15)) {
            _ = try await service.accounts.signUp(name: "ann", password: "short", from: TestService.client)
        }
        await expect(.passwordTooCommon) {
            _ = try await service.accounts.signUp(name: "ann", password: "passwordpassword", from: TestService.client)
        }
        #expect(try await service.accounts.read { try $0.count("Account", "TRUEPREDICATE") } == 0)
    }

    @Test func closedServiceTakesTheFirstAccountOnly() async throws {
        let service = try TestService { $0.signUp = .closed }
        _ = try await service.signUp("ann")
        await expect(.signUpClosed) { _ = try await service.signUp("ben") }
    }

    @Test func invitationAdmitsToAServiceForInvitedPeople() async throws {
        let service = try TestService { $0.signUp = .invited }
        let ann = try await service.signUp("ann")
        let group = try await service.accounts.createGroup(named: "Home", by: ann.account.id)
        let invitation = try await service.accounts.invite(to: group.groupID, as: .editor, by: ann.account.id)
        await expect(.signUpClosed) { _ = try await service.signUp("ben") }
        func signUp(_ name: String, _ token: String) async throws -> SignedIn {
            try await service.accounts.signUp(
                name: name, password: TestService.password, invitation: token, from: TestService.client)
        }
        await expect(.invalidInvitation) { _ = try await signUp("ben", String(repeating: "A", count: 43)) }
        let ben = try await signUp("ben", invitation.token)
        #expect(try await service.accounts.groups(of: ben.account.id).map(\.role) == [.editor])
        await expect(.invalidInvitation) { _ = try await signUp("cem", invitation.token) }
    }

    @Test func addressCountsWhenItIsConfirmed() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann", email: "Ann@Example.com")
        #expect(ann.account.email == nil)
        let message = try #require(await service.messages().first)
        #expect(message.purpose == .emailConfirmation)
        #expect(message.email == "ann@example.com")
        try await service.accounts.confirmEmail(token: try #require(message.token), from: TestService.client)
        #expect(try await service.accounts.account(ann.account.id).email == "ann@example.com")
        #expect(try await service.signIn("ANN@example.com").account.id == ann.account.id)
    }

    @Test func addressOfAnotherAccountIsNotRevealed() async throws {
        let service = try TestService()
        let ann = try await service.signUpConfirmed("ann", email: "ann@example.com")
        let ben = try await service.signUp("ben", email: "ann@example.com")
        let message = try #require(await service.messages().last)
        #expect(message.purpose == .emailInUse)
        #expect(message.accountName == "ann")
        #expect(message.token == nil)
        #expect(try await service.accounts.account(ben.account.id).email == nil)
        #expect(try await service.accounts.account(ann.account.id).email == "ann@example.com")
    }

    @Test func signUpsOfAnAddressAreLimited() async throws {
        let service = try TestService { $0.limits.signUpsOfAddress = .init(tries: 2, per: 3600) }
        _ = try await service.signUp("ann")
        await expect(.nameTaken) { _ = try await service.signUp("ann") }
        _ = try await service.signUp("ben")
        await expect(.tooManyTries(retryAfter: 3600)) { _ = try await service.signUp("cem") }
        _ = try await service.accounts.signUp(
            name: "cem", password: TestService.password, from: Client(address: "192.0.2.2"))
    }
}
