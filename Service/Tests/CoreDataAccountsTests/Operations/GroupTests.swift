import Foundation
import Testing

@testable import CoreDataAccounts

/// A group of an owner, an editor and a viewer, and a stranger.
struct Household {
    let service: TestService
    let owner, editor, viewer, stranger: UUID
    let group: UUID

    init(_ change: (inout AccountSettings) -> Void = { _ in }) async throws {
        service = try TestService(change)
        owner = try await service.signUp("owner").account.id
        editor = try await service.signUp("editor").account.id
        viewer = try await service.signUp("viewer").account.id
        stranger = try await service.signUp("stranger").account.id
        group = try await service.accounts.createGroup(named: "Home", by: owner).groupID
        for (account, role) in [(editor, Role.editor), (viewer, .viewer)] {
            let invitation = try await accounts.invite(to: group, as: role, by: owner)
            _ = try await accounts.join(token: invitation.token, account: account, from: TestService.client)
        }
    }

    var accounts: Accounts { service.accounts }

    func roles() async throws -> [String: Role] {
        Dictionary(
            uniqueKeysWithValues: try await accounts.members(of: group, by: owner).map { ($0.name, $0.role) })
    }
}

@Suite struct GroupTests {
    @Test func membersHaveRoles() async throws {
        let home = try await Household()
        #expect(try await home.roles() == ["owner": .owner, "editor": .editor, "viewer": .viewer])
        let membership = try #require(try await home.accounts.groups(of: home.viewer).first)
        #expect(membership.groupName == "Home")
        #expect(membership.role == .viewer)
        #expect(try await home.accounts.groups(of: home.stranger).isEmpty)
    }

    /// Everything that only an owner may do, by name.
    private static let ownersOnly: [String: @Sendable (Accounts, UUID, UUID, UUID) async throws(AccountError) -> Void] =
        [
            "rename": { accounts, group, actor, _ async throws(AccountError) in
                try await accounts.renameGroup(group, to: "Taken", by: actor)
            },
            "delete": { accounts, group, actor, _ async throws(AccountError) in
                try await accounts.deleteGroup(group, by: actor)
            },
            "invite": { accounts, group, actor, _ async throws(AccountError) in
                _ = try await accounts.invite(to: group, as: .owner, by: actor)
            },
            "invitations": { accounts, group, actor, _ async throws(AccountError) in
                _ = try await accounts.invitations(to: group, by: actor)
            },
            "revoke": { accounts, group, actor, _ async throws(AccountError) in
                try await accounts.revokeInvitation(UUID(), to: group, by: actor)
            },
            "set role": { accounts, group, actor, other async throws(AccountError) in
                try await accounts.setRole(.owner, of: other, in: group, by: actor)
            },
            "promote oneself": { accounts, group, actor, _ async throws(AccountError) in
                try await accounts.setRole(.owner, of: actor, in: group, by: actor)
            },
            "remove": { accounts, group, actor, other async throws(AccountError) in
                try await accounts.removeMember(other, from: group, by: actor)
            },
        ]

    @Test(arguments: ownersOnly.keys.sorted()) func onlyOwnersChangeAGroup(_ name: String) async throws {
        let home = try await Household()
        let operation = try #require(Self.ownersOnly[name])
        for actor in [home.editor, home.viewer] {
            await expect(.notAllowed) { try await operation(home.accounts, home.group, actor, home.owner) }
        }
        // A group of others looks like none, and so does a deleted account.
        for actor in [home.stranger, UUID()] {
            await expect(.groupNotFound) { try await operation(home.accounts, home.group, actor, home.owner) }
            await expect(.groupNotFound) { try await operation(home.accounts, UUID(), actor, home.owner) }
        }
        await expect(.groupNotFound) {
            _ = try await home.accounts.members(of: home.group, by: home.stranger)
        }
        #expect(try await home.roles() == ["owner": .owner, "editor": .editor, "viewer": .viewer])
        #expect(try await home.accounts.groups(of: home.owner).map(\.groupName) == ["Home"])
    }

    @Test func ownerChangesRolesAndName() async throws {
        let home = try await Household()
        try await home.accounts.renameGroup(home.group, to: "  Flat 3 ", by: home.owner)
        try await home.accounts.setRole(.owner, of: home.editor, in: home.group, by: home.owner)
        try await home.accounts.setRole(.editor, of: home.owner, in: home.group, by: home.editor)
        #expect(try await home.accounts.groups(of: home.owner).map(\.groupName) == ["Flat 3"])
        #expect(try await home.roles()["owner"] == .editor)
        await expect(.memberNotFound) {
            try await home.accounts.setRole(.editor, of: home.stranger, in: home.group, by: home.editor)
        }
    }

    @Test(arguments: ["", "  \n", "a\u{0}b", String(repeating: "x", count: 101)])
    func namesAreChecked(_ name: String) async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        await #expect { _ = try await service.accounts.createGroup(named: name, by: ann.account.id) } throws: {
            ($0 as? AccountError)?.code == "invalidGroupName"
        }
    }

    @Test func oneOwnerRemains() async throws {
        let home = try await Household()
        await expect(.lastOwner) { _ = try await home.accounts.leaveGroup(home.group, account: home.owner) }
        await expect(.lastOwner) {
            try await home.accounts.removeMember(home.owner, from: home.group, by: home.owner)
        }
        await expect(.lastOwner) {
            try await home.accounts.setRole(.viewer, of: home.owner, in: home.group, by: home.owner)
        }
        try await home.accounts.setRole(.owner, of: home.viewer, in: home.group, by: home.owner)
        #expect(try await !home.accounts.leaveGroup(home.group, account: home.owner))
        await expect(.groupNotFound) { _ = try await home.accounts.leaveGroup(home.group, account: home.owner) }
        #expect(try await home.accounts.members(of: home.group, by: home.viewer).map(\.name) == ["editor", "viewer"])
    }

    @Test func lastMemberDeletesTheGroup() async throws {
        let home = try await Household()
        try await home.accounts.removeMember(home.editor, from: home.group, by: home.owner)
        _ = try await home.accounts.leaveGroup(home.group, account: home.viewer)
        _ = try await home.accounts.invite(to: home.group, as: .viewer, by: home.owner)
        #expect(try await home.accounts.leaveGroup(home.group, account: home.owner))
        for entity in ["Group", "Membership", "Invitation"] {
            #expect(try await home.accounts.read { try $0.count(entity, "TRUEPREDICATE") } == 0)
        }
    }

    @Test func numbersAreBounded() async throws {
        let home = try await Household {
            $0.groupsPerAccount = 2
            $0.membersPerGroup = 3
        }
        _ = try await home.accounts.createGroup(named: "Two", by: home.owner)
        await expect(.limitReached(name: "groups of an account", maximum: 2)) {
            _ = try await home.accounts.createGroup(named: "Three", by: home.owner)
        }
        let invitation = try await home.accounts.invite(to: home.group, as: .viewer, by: home.owner)
        await expect(.limitReached(name: "members of a group", maximum: 3)) {
            _ = try await home.accounts.join(
                token: invitation.token, account: home.stranger, from: TestService.client)
        }
        #expect(try await home.accounts.invitations(to: home.group, by: home.owner).map(\.usesLeft) == [1])
    }
}

@Suite struct InvitationTests {
    @Test func invitationIsUsedUp() async throws {
        let home = try await Household()
        let invitation = try await home.accounts.invite(to: home.group, as: .viewer, uses: 2, by: home.owner)
        let more = try await (1...3).asyncMap { try await home.service.signUp("more\($0)").account.id }
        func join(_ account: UUID) async throws(AccountError) -> Membership {
            try await home.accounts.join(token: invitation.token, account: account, from: TestService.client)
        }
        #expect(try await join(more[0]).role == .viewer)
        // Again, by the same account and by one with another role: no use.
        #expect(try await join(more[0]).role == .viewer)
        #expect(try await join(home.editor).role == .editor)
        #expect(try await join(more[1]).groupID == home.group)
        await expect(.invalidInvitation) { _ = try await join(more[2]) }
        #expect(try await home.accounts.invitations(to: home.group, by: home.owner).isEmpty)
    }

    @Test func previewShowsTheGroupAndUsesNothing() async throws {
        let home = try await Household()
        let invitation = try await home.accounts.invite(to: home.group, as: .editor, by: home.owner)
        for _ in 1...2 {
            let preview = try await home.accounts.previewInvitation(
                token: invitation.token, from: TestService.client)
            #expect(preview.groupName == "Home")
            #expect(preview.role == .editor)
            #expect(preview.endsAt == invitation.invitation.endsAt)
        }
        await expect(.invalidInvitation) {
            _ = try await home.accounts.previewInvitation(token: "x", from: TestService.client)
        }
    }

    @Test func invitationEndsAndIsRevoked() async throws {
        let home = try await Household()
        let short = try await home.accounts.invite(to: home.group, as: .viewer, lifetime: 60, by: home.owner)
        let revoked = try await home.accounts.invite(to: home.group, as: .viewer, by: home.owner)
        try await home.accounts.revokeInvitation(revoked.invitation.id, to: home.group, by: home.owner)
        await expect(.invitationNotFound) {
            try await home.accounts.revokeInvitation(revoked.invitation.id, to: home.group, by: home.owner)
        }
        home.service.clock.move(by: 60)
        for token in [short.token, revoked.token] {
            await expect(.invalidInvitation) {
                _ = try await home.accounts.join(token: token, account: home.stranger, from: TestService.client)
            }
        }
    }

    @Test func invitationsOfAFormerOwnerEnd() async throws {
        let home = try await Household()
        try await home.accounts.setRole(.owner, of: home.editor, in: home.group, by: home.owner)
        let invitation = try await home.accounts.invite(to: home.group, as: .owner, by: home.editor)
        try await home.accounts.setRole(.viewer, of: home.editor, in: home.group, by: home.owner)
        await expect(.invalidInvitation) {
            _ = try await home.accounts.join(
                token: invitation.token, account: home.stranger, from: TestService.client)
        }
    }

    @Test(arguments: [(0, 3600.0), (101, 3600), (1, 59), (1, 31 * 86_400), (1, .nan), (1, .infinity), (-1, 3600)])
    func valuesAreBounded(_ uses: Int, _ lifetime: TimeInterval) async throws {
        let service = try TestService()
        let ann = try await service.signUp("ann")
        let group = try await service.accounts.createGroup(named: "Home", by: ann.account.id)
        await #expect {
            _ = try await service.accounts.invite(
                to: group.groupID, as: .viewer, uses: uses, lifetime: lifetime, by: ann.account.id)
        } throws: { ($0 as? AccountError)?.code == "invalidValue" }
    }
}

extension Sequence {
    fileprivate func asyncMap<T>(_ transform: (Element) async throws -> T) async rethrows -> [T] {
        var result: [T] = []
        for element in self { result.append(try await transform(element)) }
        return result
    }
}
