import CoreDataAccounts
import Foundation
import HTTPTypes
import Hummingbird

/// Answers requests for groups, their members and invitations.
///
/// ```
/// GET, POST      /groups                              name
/// PATCH, DELETE  /groups/<id>                         name
/// GET            /groups/<id>/members
/// PATCH, DELETE  /groups/<id>/members/<account>       role; one's own is to leave
/// GET, POST      /groups/<id>/invitations             role, uses?, lifetime?
/// DELETE         /groups/<id>/invitations/<id>
/// POST           /invitations/preview                 token
/// POST           /memberships                         token
/// ```
struct GroupRoutes: Sendable {
    let accounts: Accounts

    func answer(_ call: AccountCall, _ path: [String]) async throws -> Response? {
        switch (path[0], path.count) {
        case ("groups", 1): return try await groups(call)
        case ("groups", 2): return try await group(call, try Self.id(path[1]))
        case ("groups", 3) where path[2] == "members": return try await members(call, try Self.id(path[1]))
        case ("groups", 4) where path[2] == "members":
            guard let account = UUID(uuidString: path[3]) else { throw AccountError.memberNotFound }
            return try await member(call, try Self.id(path[1]), account)
        case ("groups", 3) where path[2] == "invitations": return try await invitations(call, try Self.id(path[1]))
        case ("groups", 4) where path[2] == "invitations":
            guard call.method == .delete else { throw Problem.method("DELETE") }
            let who = try await call.authenticated()
            guard let id = UUID(uuidString: path[3]) else { throw AccountError.invitationNotFound }
            try await accounts.revokeInvitation(id, to: try Self.id(path[1]), by: who.account.id)
            return who.empty()
        case ("invitations", 2) where path[1] == "preview":
            guard call.method == .post else { throw Problem.method("POST") }
            let body = try await call.body(as: TokenBody.self)
            return try AccountCall.json(try await accounts.previewInvitation(token: body.token, from: call.client()))
        case ("memberships", 1):
            guard call.method == .post else { throw Problem.method("POST") }
            let who = try await call.authenticated()
            let body = try await call.body(as: TokenBody.self)
            return try who.json(
                try await accounts.join(token: body.token, account: who.account.id, from: call.client()),
                status: .created)
        default: return nil
        }
    }

    /// A text that is no identity names no group.
    private static func id(_ text: String) throws(AccountError) -> UUID {
        guard let id = UUID(uuidString: text) else { throw AccountError.groupNotFound }
        return id
    }

    private func groups(_ call: AccountCall) async throws -> Response {
        switch call.method {
        case .get:
            let who = try await call.authenticated()
            return try who.json(ListAnswer(items: who.found.memberships))
        case .post:
            let who = try await call.authenticated()
            let body = try await call.body(as: GroupBody.self)
            return try who.json(
                try await accounts.createGroup(named: body.name, by: who.account.id), status: .created)
        default: throw Problem.method("GET, HEAD, POST")
        }
    }

    private func group(_ call: AccountCall, _ id: UUID) async throws -> Response {
        switch call.method {
        case .patch:
            let who = try await call.authenticated()
            let body = try await call.body(as: GroupBody.self)
            try await accounts.renameGroup(id, to: body.name, by: who.account.id)
            return who.empty()
        case .delete:
            let who = try await call.authenticated()
            try await accounts.deleteGroup(id, by: who.account.id)
            return who.empty()
        default: throw Problem.method("PATCH, DELETE")
        }
    }

    private func members(_ call: AccountCall, _ group: UUID) async throws -> Response {
        guard call.method == .get else { throw Problem.method("GET, HEAD") }
        let who = try await call.authenticated()
        return try who.json(ListAnswer(items: try await accounts.members(of: group, by: who.account.id)))
    }

    private func member(_ call: AccountCall, _ group: UUID, _ member: UUID) async throws -> Response {
        switch call.method {
        case .patch:
            let who = try await call.authenticated()
            let body = try await call.body(as: RoleBody.self)
            try await accounts.setRole(body.role, of: member, in: group, by: who.account.id)
            return who.empty()
        case .delete:
            let who = try await call.authenticated()
            guard member == who.account.id else {
                try await accounts.removeMember(member, from: group, by: who.account.id)
                return who.empty()
            }
            let isDeleted = try await accounts.leaveGroup(group, account: member)
            return try who.json(DeletedGroupsAnswer(deletedGroups: isDeleted ? [group] : []))
        default: throw Problem.method("PATCH, DELETE")
        }
    }

    private func invitations(_ call: AccountCall, _ group: UUID) async throws -> Response {
        switch call.method {
        case .get:
            let who = try await call.authenticated()
            return try who.json(ListAnswer(items: try await accounts.invitations(to: group, by: who.account.id)))
        case .post:
            let who = try await call.authenticated()
            let body = try await call.body(as: InvitationBody.self)
            let made = try await accounts.invite(
                to: group, as: body.role, uses: body.uses ?? 1, lifetime: body.lifetime ?? 7 * 86_400,
                by: who.account.id)
            return try who.json(InvitationAnswer(token: made.token, invitation: made.invitation), status: .created)
        default: throw Problem.method("GET, HEAD, POST")
        }
    }
}
