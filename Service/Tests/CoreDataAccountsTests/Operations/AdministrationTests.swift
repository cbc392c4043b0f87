import Foundation
import Testing

@testable import CoreDataAccounts

@Suite struct AdministrationTests {
    private static let client = TestService.client

    @Test func onlyAdministratorsSeeAndChangeOthers() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann").account.id
        let ben = try await service.signUp("ben").account.id
        let accounts = service.accounts
        for actor in [ben, UUID()] {
            await expect(.notAllowed) { _ = try await accounts.accounts(by: actor) }
            await expect(.notAllowed) { _ = try await accounts.events(by: actor) }
            await expect(.notAllowed) {
                try await accounts.setAdministrator(true, of: ben, by: actor, from: Self.client)
            }
            await expect(.notAllowed) { try await accounts.setSuspended(true, of: ann, by: actor, from: Self.client) }
            await expect(.notAllowed) { try await accounts.endSessions(of: ann, by: actor, from: Self.client) }
        }
        #expect(try await accounts.accounts(by: ann).accounts.map(\.name) == ["ann", "ben"])
        #expect(try await accounts.endSessions(of: ben, by: ann, from: Self.client) == 1)
    }

    @Test func oneAdministratorRemains() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann").account.id
        let ben = try await service.signUp("ben").account.id
        let accounts = service.accounts
        func set(_ isAdministrator: Bool, _ account: UUID, by actor: UUID) async throws(AccountError) {
            try await accounts.setAdministrator(isAdministrator, of: account, by: actor, from: Self.client)
        }
        await expect(.lastAdministrator) { try await set(false, ann, by: ann) }
        await expect(.lastAdministrator) { try await accounts.setSuspended(true, of: ann, by: ann, from: Self.client) }
        await expect(.lastAdministrator) {
            try await accounts.deleteAccount(ann, password: TestService.password, from: Self.client)
        }
        try await set(true, ben, by: ann)
        try await set(false, ann, by: ben)
        #expect(try await accounts.account(ben).isAdministrator)
        #expect(try await !accounts.account(ann).isAdministrator)
    }

    @Test func accountsAreListedInPages() async throws {
        let service = try TestService()
        let ann = try await service.signUp("Ann").account.id
        for name in ["dora", "Ben", "cem"] { _ = try await service.signUp(name) }
        let first = try await service.accounts.accounts(by: ann, limit: 3)
        #expect(first.accounts.map(\.name) == ["Ann", "Ben", "cem"])
        let second = try await service.accounts.accounts(by: ann, after: first.next, limit: 3)
        #expect(second.accounts.map(\.name) == ["dora"])
        #expect(second.next == nil)
        await expect(.invalidValue(name: "limit", minimum: 1, maximum: 200)) {
            _ = try await service.accounts.accounts(by: ann, limit: 0)
        }
    }

    @Test func deletedAccountLeavesNothingButItsTrail() async throws {
        let service = try TestService()
        let admin = try await service.signUp("admin").account.id
        let ann = try await service.signUpConfirmed("ann", email: "ann@example.com")
        let own = try await service.accounts.createGroup(named: "Own", by: ann.account.id)
        let other = try await service.accounts.createGroup(named: "Other", by: admin)
        let invitation = try await service.accounts.invite(to: other.groupID, as: .editor, by: admin)
        _ = try await service.accounts.join(token: invitation.token, account: ann.account.id, from: Self.client)
        try await service.accounts.requestPasswordReset(name: "ann", from: Self.client)
        #expect(await service.messages(.passwordReset).count == 1)
        await expect(.wrongCredentials) {
            try await service.accounts.deleteAccount(ann.account.id, password: "wrong", from: Self.client)
        }
        service.clock.move(by: 1)
        let deleted = try await service.accounts.deleteAccount(
            ann.account.id, password: TestService.password, from: Self.client)
        #expect(deleted == [own.groupID])
        await expect(.accountNotFound) { _ = try await service.accounts.account(ann.account.id) }
        await expect(.notSignedIn) { _ = try await service.accounts.authenticate(token: ann.token, from: Self.client) }
        #expect(try await service.accounts.members(of: other.groupID, by: admin).map(\.name) == ["admin"])
        let rest = ["Account": 1, "Session": 1, "Token": 1, "Group": 1, "Membership": 1, "Link": 0, "Invitation": 0]
        for (entity, count) in rest {
            #expect(try await service.accounts.read { try $0.count(entity, "TRUEPREDICATE") } == count, "\(entity)")
        }
        let events = try await service.accounts.events(of: ann.account.id, by: admin)
        #expect(events.contains { $0.kind == .accountDeleted })
        #expect(events.allSatisfy { $0.address == nil })
        // The name and the address are free again.
        _ = try await service.signUpConfirmed("ann", email: "ann@example.com")
    }

    @Test func ownerOfAGroupWithOthersMayNotBeDeleted() async throws {
        let service = try TestService()
        let admin = try await service.signUp("admin").account.id
        let ann = try await service.signUp("ann").account.id
        let group = try await service.accounts.createGroup(named: "Home", by: ann)
        let invitation = try await service.accounts.invite(to: group.groupID, as: .editor, by: ann)
        _ = try await service.accounts.join(token: invitation.token, account: admin, from: Self.client)
        await expect(.lastOwner) {
            try await service.accounts.deleteAccount(ann, password: TestService.password, from: Self.client)
        }
        #expect(try await service.accounts.groups(of: ann).count == 1)
    }

    @Test func serviceWithoutAccountsGetsANewAdministrator() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann").account.id
        try await service.accounts.deleteAccount(ann, password: TestService.password, from: Self.client)
        #expect(try await service.signUp("ben").account.isAdministrator)
    }

    @Test func exportHasEverythingOfTheAccountAndNothingOfOthers() async throws {
        let service = try TestService()
        let admin = try await service.signUp("admin").account.id
        let ann = try await service.signUpConfirmed("ann", email: "ann@example.com").account
        let group = try await service.accounts.createGroup(named: "Home", by: ann.id)
        _ = try await service.accounts.invite(to: group.groupID, as: .viewer, by: ann.id)
        _ = try await service.accounts.createGroup(named: "Secret", by: admin)
        let export = try await service.accounts.export(ann.id)
        #expect(export.account.email == "ann@example.com")
        #expect(export.sessions.count == 1)
        #expect(export.memberships.map(\.groupName) == ["Home"])
        #expect(export.invitations.count == 1)
        #expect(export.events.map(\.kind) == [.signedUp, .emailChanged, .groupCreated, .invitationCreated])
        let text = String(decoding: try JSONEncoder().encode(export), as: UTF8.self)
        for secret in ["scrypt", "Secret", admin.uuidString] { #expect(!text.contains(secret)) }
        #expect(try JSONDecoder().decode(AccountExport.self, from: Data(text.utf8)) == export)
    }
}

@Suite struct SecurityTrailTests {
    private static let client = TestService.client

    @Test func eventsAreOrderedAndFiltered() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann").account.id
        let ben = try await service.signUp("ben").account.id
        service.clock.move(by: 1)
        try await service.accounts.setAdministrator(true, of: ben, by: ann, from: Self.client)
        service.clock.move(by: 1)
        _ = try? await service.signIn("nobody", from: Client(address: "198.51.100.7"))
        let all = try await service.accounts.events(by: ann)
        #expect(all.prefix(2).map(\.kind) == [.signInRefused, .administratorAdded])
        #expect(all[0].accountID == nil)
        #expect(all[0].address == "198.51.100.7")
        #expect(all[1].accountID == ben)
        #expect(all[1].actorID == ann)
        #expect(try await service.accounts.events(of: ben, by: ann).map(\.kind) == [.administratorAdded, .signedUp])
        #expect(try await service.accounts.events(ofOwn: ben, limit: 1).map(\.kind) == [.administratorAdded])
        #expect(try await service.accounts.events(before: all[1].date, by: ann).map(\.kind) == [.signedUp, .signedUp])
    }

    @Test func refusalsDoNotPushOutOtherEvents() async throws {
        let service = try TestService { $0.eventBound = 5 }
        let ann = try await service.signUp("ann").account.id
        for number in 0..<12 {
            service.clock.move(by: 1)
            _ = try? await service.signIn("nobody\(number)")
        }
        try await service.accounts.removeEnded()
        let events = try await service.accounts.events(by: ann)
        #expect(events.filter { $0.kind == .signInRefused }.count == 5)
        #expect(events.filter { $0.kind == .signedUp }.count == 1)
        #expect(events.first?.date == service.clock.now)
    }

    @Test func endedRowsAreRemoved() async throws {
        let service = try TestService()
        _ = try await service.signUpConfirmed("ann", email: "ann@example.com")
        let ann = try await service.signIn("ann").account.id
        let group = try await service.accounts.createGroup(named: "Home", by: ann)
        _ = try await service.accounts.invite(to: group.groupID, as: .viewer, by: ann)
        try await service.accounts.requestPasswordReset(name: "ann", from: Self.client)
        #expect(await service.messages(.passwordReset).count == 1)
        _ = try? await service.signIn("ann", "wrong")
        service.clock.move(by: 366 * 86_400)
        try await service.accounts.removeEnded()
        for entity in ["Session", "Token", "Link", "Invitation", "Attempt", "Event"] {
            #expect(try await service.accounts.read { try $0.count(entity, "TRUEPREDICATE") } == 0, "\(entity)")
        }
        _ = try await service.signIn("ann")
    }

    @Test func operationsRemoveEndedRowsEachHour() async throws {
        let service = try TestService()
        _ = try await service.signUp("ann")
        _ = try? await service.signIn("ann", "wrong")
        service.clock.move(by: 3601)
        _ = try await service.signIn("ann")
        let attempts = try await service.accounts.read { try $0.count("Attempt", "endsAt <= %@", $0.now) }
        #expect(attempts == 0)
    }

    @Test(arguments: [
        (AccountError.wrongCredentials, "wrongCredentials", Int?.none),
        (.tooManyTries(retryAfter: 7), "tooManyTries", 7),
        (.busy(retryAfter: 2), "busy", 2), (.storeFailed(message: "x"), "storeFailed", nil),
    ]) func errorsHaveStableCodes(_ error: AccountError, _ code: String, _ seconds: Int?) {
        #expect(error.code == code)
        #expect(error.retryAfter == seconds)
        #expect(error.localizedDescription == error.description)
    }

    @Test func unusableStoreIsAnError() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("accounts-\(UUID())")
        try Data(repeating: 7, count: 5000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect { try Accounts(at: file) } throws: { ($0 as? AccountError)?.code == "storeFailed" }
        #expect { try Accounts(at: URL(fileURLWithPath: "/proc/no/accounts")) } throws: {
            ($0 as? AccountError)?.code == "storeFailed"
        }
    }
}
