import CoreData
import Foundation
import Synchronization
import Testing

@testable import CoreDataAccounts

/// Races that always happen: while an operation is between its reads and its writes, another one runs completely on the
/// same store, as it can in another process.
@Suite struct InterleavingTests {
    private static let client = TestService.client

    /// Runs an operation of `service` once, and another one during the transaction that inserts, changes or deletes an
    /// object of the entity.
    private func during<T: Sendable>(
        _ entity: String, of service: TestService, _ other: @escaping @Sendable (Accounts) async throws -> Void,
        _ operation: () async throws -> T
    ) async throws -> T {
        let second = try service.reopened()
        let runs = Mutex(0)
        service.accounts.store.willSave.withLock {
            $0 = { context in
                let changed = context.insertedObjects.union(context.updatedObjects).union(context.deletedObjects)
                guard changed.contains(where: { $0.entity.name == entity }),
                    runs.withLock({
                        $0 += 1
                        return $0 == 1
                    })
                else { return }
                let done = DispatchSemaphore(value: 0)
                Task {
                    do { try await other(second) } catch { Issue.record("the other operation failed: \(error)") }
                    done.signal()
                }
                done.wait()
            }
        }
        defer { service.accounts.store.willSave.withLock { $0 = nil } }
        do {
            let result = try await operation()
            #expect(runs.withLock { $0 } > 0, "the other operation did not run")
            await second.close()
            return result
        } catch {
            #expect(runs.withLock { $0 } > 0, "the other operation did not run")
            await second.close()
            throw error
        }
    }

    private func signUp(_ name: String) -> @Sendable (Accounts) async throws -> Void {
        { accounts in
            _ = try await accounts.signUp(name: name, password: TestService.password, from: Self.client)
        }
    }

    @Test func secondOfTwoFirstAccountsIsNoAdministrator() async throws {
        let service = try TestService()
        let ann = try await during("Account", of: service, signUp("ben")) { try await service.signUp("ann") }
        #expect(!ann.account.isAdministrator)
        let administrators = try await service.accounts.read { try $0.count("Account", "isAdministrator == YES") }
        #expect(administrators == 1)
    }

    @Test func secondOfTwoEqualNamesIsTaken() async throws {
        let service = try TestService()
        await expect(.nameTaken) {
            _ = try await during("Account", of: service, signUp("ANN")) { try await service.signUp("ann") }
        }
    }

    @Test func lastTwoAdministratorsCannotBothGo() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann").account.id
        let ben = try await service.signUp("ben").account.id
        try await service.accounts.setAdministrator(true, of: ben, by: ann, from: Self.client)
        await expect(.notAllowed) {
            try await during(
                "Account", of: service,
                { try await $0.setAdministrator(false, of: ann, by: ben, from: Self.client) }
            ) { try await service.accounts.setAdministrator(false, of: ben, by: ann, from: Self.client) }
        }
        #expect(try await service.accounts.account(ben).isAdministrator)
    }

    @Test func ownAdministrationsCannotBothEnd() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann").account.id
        let ben = try await service.signUp("ben").account.id
        try await service.accounts.setAdministrator(true, of: ben, by: ann, from: Self.client)
        await expect(.lastAdministrator) {
            try await during(
                "Account", of: service,
                { try await $0.setAdministrator(false, of: ann, by: ann, from: Self.client) }
            ) { try await service.accounts.setAdministrator(false, of: ben, by: ben, from: Self.client) }
        }
    }

    @Test func accountThatSignsUpKeepsTheLastAdministrator() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann").account.id
        await expect(.lastAdministrator) {
            _ = try await during("Account", of: service, signUp("ben")) {
                try await service.accounts.deleteAccount(ann, password: TestService.password, from: Self.client)
            }
        }
    }

    @Test func ownersCannotBothLeave() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann").account.id
        let ben = try await service.signUp("ben").account.id
        let cem = try await service.signUp("cem").account.id
        let group = try await service.accounts.createGroup(named: "Home", by: ann).groupID
        for (account, role) in [(ben, Role.owner), (cem, .viewer)] {
            let invitation = try await service.accounts.invite(to: group, as: role, by: ann)
            _ = try await service.accounts.join(token: invitation.token, account: account, from: Self.client)
        }
        await expect(.lastOwner) {
            _ = try await during("Membership", of: service, { try await $0.leaveGroup(group, account: ben) }) {
                try await service.accounts.leaveGroup(group, account: ann)
            }
        }
        #expect(try await service.accounts.members(of: group, by: cem).map(\.name) == ["ann", "cem"])
    }

    @Test func removedOwnerCannotPromote() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann").account.id
        let ben = try await service.signUp("ben").account.id
        let cem = try await service.signUp("cem").account.id
        let group = try await service.accounts.createGroup(named: "Home", by: ann).groupID
        for (account, role) in [(ben, Role.owner), (cem, .viewer)] {
            let invitation = try await service.accounts.invite(to: group, as: role, by: ann)
            _ = try await service.accounts.join(token: invitation.token, account: account, from: Self.client)
        }
        await expect(.groupNotFound) {
            try await during("Membership", of: service, { try await $0.removeMember(ben, from: group, by: ann) }) {
                try await service.accounts.setRole(.owner, of: cem, in: group, by: ben)
            }
        }
    }

    @Test func lastUseOfAnInvitationIsUsedOnce() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann").account.id
        let ben = try await service.signUp("ben").account.id
        let cem = try await service.signUp("cem").account.id
        let group = try await service.accounts.createGroup(named: "Home", by: ann).groupID
        let token = try await service.accounts.invite(to: group, as: .viewer, by: ann).token
        await expect(.invalidInvitation) {
            _ = try await during(
                "Membership", of: service,
                { _ = try await $0.join(token: token, account: ben, from: Self.client) }
            ) { try await service.accounts.join(token: token, account: cem, from: Self.client) }
        }
        #expect(try await service.accounts.members(of: group, by: ann).map(\.name) == ["ann", "ben"])
    }

    @Test func lastTryIsCountedOnce() async throws {
        let service = try TestService { $0.limits.signInsOfAccount = .init(tries: 1, per: 900) }
        _ = try await service.signUp("ann")
        let stranger = Client(address: "198.51.100.7")
        await expect(.tooManyTries(retryAfter: 900)) {
            _ = try await during(
                "Attempt", of: service,
                { accounts in
                    await expect(.wrongCredentials) {
                        _ = try await accounts.signIn(name: "ann", password: "wrong", from: stranger)
                    }
                }
            ) { try await service.signIn("ann", from: stranger) }
        }
    }

    @Test func signInDuringADeletionLeavesNoSession() async throws {
        let service = try TestService()
        _ = try await service.signUp("admin")
        let ann = try await service.signUp("ann").account.id
        await expect(.wrongCredentials) {
            _ = try await during(
                "Session", of: service,
                { _ = try await $0.deleteAccount(ann, password: TestService.password, from: Self.client) }
            ) { try await service.signIn("ann") }
        }
        #expect(try await service.accounts.read { try $0.count("Session", "TRUEPREDICATE") } == 1)
        #expect(try await service.accounts.read { try $0.count("Token", "TRUEPREDICATE") } == 1)
    }

    @Test func deletionDuringASignInEndsItsSession() async throws {
        let service = try TestService()
        _ = try await service.signUp("admin")
        let ann = try await service.signUp("ann").account.id
        let signIn: @Sendable (Accounts) async throws -> Void = {
            _ = try await $0.signIn(name: "ann", password: TestService.password, from: Self.client)
        }
        _ = try await during("Account", of: service, signIn) {
            try await service.accounts.deleteAccount(ann, password: TestService.password, from: Self.client)
        }
        #expect(try await service.accounts.read { try $0.count("Session", "TRUEPREDICATE") } == 1)
        #expect(try await service.accounts.read { try $0.count("Token", "TRUEPREDICATE") } == 1)
    }

    @Test func signInWithAFormerPasswordDuringItsChangeFails() async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        await expect(.wrongCredentials) {
            _ = try await during(
                "Session", of: service,
                {
                    try await $0.changePassword(
                        of: ann.account.id, from: TestService.password, to: "the kettle sings at noon", keeping: nil,
                        from: Self.client)
                }
            ) { try await service.signIn("ann") }
        }
        #expect(try await service.accounts.sessions(of: ann.account.id).isEmpty)
    }

    @Test func linkForAPasswordIsUsedOnce() async throws {
        let service = try TestService()
        _ = try await service.signUpConfirmed("ann", email: "ann@example.com")
        try await service.accounts.requestPasswordReset(name: "ann", from: Self.client)
        let token = try #require(await service.messages(.passwordReset).last?.token)
        await expect(.invalidLink) {
            try await during(
                "Account", of: service,
                { try await $0.resetPassword(token: token, to: "the kettle sings at noon", from: Self.client) }
            ) { try await service.accounts.resetPassword(token: token, to: "a stranger knows it", from: Self.client) }
        }
        _ = try await service.signIn("ann", "the kettle sings at noon")
    }
}
