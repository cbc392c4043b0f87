import CoreDataAccounts
import CoreDataPermissions
import Foundation
import LivePages

// The members of a household: roles, invitations, leaving.
extension App {
    func householdPage(_ visit: AccountVisit, link: CreatedInvitation? = nil) async throws -> Reply {
        guard let household = visit.household() else { return missing(Self.noHousehold) }
        let me = visit.person.account.id
        let path: HTML = "/households/\(household.groupID.path)"
        let members = try await accounts.members(of: household.groupID, by: me)
        let isOwner = household.role == .owner
        var owner: HTML = ""
        if isOwner { owner = try await ownerParts(household, path, visit) }
        let lists = try visit.view.lists(of: household.groupID).map { list -> HTML in
            "<li><a class=name href=\"/lists/\(list.id?.path ?? "")/prepare\">\(Icon.prepare)<span>\(list.title)</span></a>"
        }
        let newList: HTML =
            household.role.mayChange
            ? """
            <form class=addbar method=post action="\(path)/lists">\(visit.token)\(Page.once)<input name=name placeholder="New list" \
            aria-label="New list" maxlength=100 required autocomplete=off><button class=main>Add</button></form>
            """ : ""
        return .page(
            page(
                household.groupName, "households", in: Frame(household: household), view: visit.view,
                """
                <header class=top><a class=back href=/households aria-label="Back to Households">\(Icon.back)</a>\
                <h1>\(household.groupName)</h1></header>
                \(link.map { shown($0, visit) })
                <section><h2>Lists</h2>\(newList)<ul>\(lists)\
                <li><a class=name href="\(path)/history">\(Icon.clock)<span>Who did what</span></a></ul></section>
                <section><h2>Members <span>\(members.count)</span></h2>
                <ul>\(members.map { member($0, me: me, isOwner: isOwner, path, visit) })</ul></section>
                \(owner)
                <section class=card><h2>Leave</h2><p>You see nothing of the household any more\
                \(members.count == 1 ? ", and it is deleted with its lists: you are the only member" : "").</p>
                <form method=post action="\(path)/leave">\(visit.token)
                <p class=row><button class="danger quiet">Leave \(household.groupName)</button></p></form></section>
                """))
    }

    private func member(
        _ member: Member, me: UUID, isOwner: Bool, _ path: HTML, _ visit: AccountVisit
    ) -> HTML {
        let name: HTML = "\(member.name)\(member.accountID == me ? " (you)" : "")"
        let since = Self.day(member.since)
        guard isOwner else {
            return "<li class=backup><div><b>\(name)</b><small>\(member.role.rawValue), since \(since)</small></div>"
        }
        let options = Role.allCases.map { role -> HTML in
            "<option value=\(role.markup)\(" selected", if: role == member.role)>\(role.rawValue)</option>"
        }
        return """
            <li class=backup><div><b>\(name)</b><small>since \(since)</small></div>
            <form class=row method=post action="\(path)/members">\(visit.token)<input type=hidden name=member value="\(member.accountID.path)">\
            <select name=role aria-label="Role of \(member.name)">\(options)</select><button>Change role</button>\
            \("<button class=\"danger quiet\" name=remove value=1>Remove</button>", if: member.accountID != me)</form>

            """
    }

    private func ownerParts(_ household: Membership, _ path: HTML, _ visit: AccountVisit) async throws -> HTML {
        let invitations = try await accounts.invitations(to: household.groupID, by: visit.person.account.id)
        let open = invitations.map { invitation -> HTML in
            """
            <li class=backup><div><b>As \(invitation.role.rawValue)</b><small>until \(Self.moment(invitation.endsAt)) UTC, for \
            \(Count.of(invitation.usesLeft, "account"))</small></div>
            <form method=post action="\(path)/invitations/end">\(visit.token)<input type=hidden name=invitation \
            value="\(invitation.id.path)"><button>End</button></form>

            """
        }
        let roles = [Role.editor, .viewer, .owner].map { role -> HTML in
            "<option value=\(role.markup)>\(role.meaning)</option>"
        }
        return """
            <section class=card><h2>Invite a person</h2>
            <form method=post action="\(path)/invitations">\(visit.token)
            <div class=field><label for=role>As</label><select id=role name=role>\(roles)</select></div>
            <div class=field><label for=days>The link ends after</label><select id=days name=days><option value=1>1 day</option>\
            <option value=7 selected>7 days</option><option value=30>30 days</option></select></div>
            <p class=row><button class=main>Make a link</button></p></form></section>
            \("<section><h2>Open invitations <span>\(open.count)</span></h2><ul>\(open)</ul></section>", if: !open.isEmpty)
            <section class=card><h2>The household</h2>
            <form method=post action="\(path)/name">\(visit.token)
            <div class=field><label for=name>Name</label><input id=name name=name value="\(household.groupName)" required maxlength=100 \
            autocomplete=off></div>
            <p class=row><button>Rename</button> <a class="button danger quiet" href="\(path)/deletion">Delete household…</a></p></form></section>
            """
    }

    /// The link of a new invitation. It is shown once: the store has its digest only.
    private func shown(_ invitation: CreatedInvitation, _ visit: AccountVisit) -> HTML {
        let link = "\(base(visit.visit))/join#\(invitation.token)"
        return """
            <section class=card role=status><h2>Send this link</h2><p>Each person who has it can join as \(invitation.invitation.role.rawValue) \
            until \(Self.moment(invitation.invitation.endsAt)) UTC. It is shown only now.</p>
            <div class=field><label for=link>Link</label><input id=link value="\(link)" readonly></div></section>
            """
    }

    // MARK: Actions

    func invite(_ visit: AccountVisit) async throws -> Reply {
        guard let household = visit.household() else { return missing(Self.noHousehold) }
        let role = visit.form["role"].flatMap(Role.init) ?? .editor
        let days = visit.form["days"].flatMap { Int($0) }.map { min(max($0, 1), 30) } ?? 7
        let made = try await accounts.invite(
            to: household.groupID, as: role, lifetime: Double(days) * 86_400, by: visit.person.account.id)
        return try await householdPage(visit, link: made)
    }

    func endInvitation(_ visit: AccountVisit) async throws -> Reply {
        guard let household = visit.household(), let id = UUID(uuidString: visit.form["invitation"] ?? "") else {
            return missing(Self.noHousehold)
        }
        try await accounts.revokeInvitation(id, to: household.groupID, by: visit.person.account.id)
        return .redirect("/households/\(household.groupID.path)", Flash(text: "The invitation has ended."))
    }

    /// Changes the role of a member, or removes it.
    func changeMember(_ visit: AccountVisit) async throws -> Reply {
        guard let household = visit.household(), let member = UUID(uuidString: visit.form["member"] ?? "") else {
            return missing(Self.noHousehold)
        }
        let me = visit.person.account.id
        let text: String
        do {
            if visit.form["remove"] != nil {
                try await accounts.removeMember(member, from: household.groupID, by: me)
                text = "The member is removed."
            } else {
                guard let role = visit.form["role"].flatMap(Role.init) else { return missing(Self.noHousehold) }
                try await accounts.setRole(role, of: member, in: household.groupID, by: me)
                text = "The member is \(role.rawValue) now."
            }
        } catch {
            guard case .lastOwner = error else { throw error }
            return .redirect(
                "/households/\(household.groupID.path)",
                Flash(kind: .problem, text: AccountError.lastOwner.description))
        }
        return .redirect("/households/\(household.groupID.path)", Flash(text: text))
    }

    func renameHousehold(_ visit: AccountVisit) async throws -> Reply {
        guard let household = visit.household() else { return missing(Self.noHousehold) }
        let path = "/households/\(household.groupID.path)"
        do {
            try await accounts.renameGroup(
                household.groupID, to: visit.form["name"] ?? "", by: visit.person.account.id)
            return .redirect(path, Flash(text: "The household is renamed."))
        } catch {
            guard case .invalidGroupName(let reason) = error else { throw error }
            return .redirect(path, Flash(kind: .problem, text: "Choose another name: \(reason)."))
        }
    }

    func leaveHousehold(_ visit: AccountVisit) async throws -> Reply {
        guard let household = visit.household() else { return missing(Self.noHousehold) }
        do {
            let isDeleted = try await accounts.leaveGroup(household.groupID, account: visit.person.account.id)
            if isDeleted { try await purge() }
        } catch let error as AccountError {
            guard case .lastOwner = error else { throw error }
            return .redirect(
                "/households/\(household.groupID.path)",
                Flash(kind: .problem, text: AccountError.lastOwner.description))
        }
        return .redirect("/households", Flash(text: "You have left \(household.groupName)."))
    }

    func householdDeletionPage(_ visit: AccountVisit) -> Reply {
        guard let household = visit.household() else { return missing(Self.noHousehold) }
        guard household.role == .owner else { return missing("Only an owner deletes a household.") }
        let path: HTML = "/households/\(household.groupID.path)"
        return .page(
            page(
                "Delete the household", "households", in: Frame(household: household), view: visit.view,
                """
                <div class=card><h1>Delete \(household.groupName)?</h1>
                <p>All its lists are deleted for all members. Nothing of it can be brought back.</p>
                <form method=post action="\(path)/deletion">\(visit.token)
                <p class=row><button class=danger>Delete household</button> <a class=button href="\(path)">Cancel</a></p></form></div>
                """))
    }

    func deleteHousehold(_ visit: AccountVisit) async throws -> Reply {
        guard let household = visit.household() else { return missing(Self.noHousehold) }
        try await accounts.deleteGroup(household.groupID, by: visit.person.account.id)
        try await purge()
        return .redirect("/households", Flash(text: "\(household.groupName) is deleted."))
    }
}

extension Role {
    /// As a value of a form's field.
    var markup: HTML {
        switch self {
        case .owner: "owner"
        case .editor: "editor"
        case .viewer: "viewer"
        }
    }
}
