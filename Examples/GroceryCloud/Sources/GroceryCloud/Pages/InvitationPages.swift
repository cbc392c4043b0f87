import CoreDataAccounts
import Foundation
import LivePages

// Joining a household by an invitation. The token of a link stands behind its #, so that no log and no other site has it; the page's
// script moves it into the form, and without a script it is pasted.
extension App {
    func joinPage(_ visit: Visit) async throws -> Reply { joinForm(visit) }

    private func joinForm(_ visit: Visit, problem: String? = nil, status: Int = 200) -> Reply {
        let content: HTML = """
            <div class=card><h1>Join a household</h1>
            <form method=post action=/join>\(Page.token(visit.token))
            <div class=field><label for=code>Code of the invitation</label><input id=code name=code data-hash required maxlength=200 \
            autocomplete=off autocapitalize=off spellcheck=false aria-describedby=code-hint\(" aria-invalid=true", if: problem != nil)>
            \(problem.map { "<p class=problem>\($0)</p>" as HTML })
            <p class=hint id=code-hint>It is in the link that an owner of the household sent you, behind the #. You can also paste the \
            whole link.</p></div>
            <p class=row><button class=main>Go on</button> <a class=button href=/>Cancel</a></p></form></div>
            """
        return openPage("Join a household", status: status, content)
    }

    /// Shows to what the code invites.
    func previewInvitation(_ visit: Visit) async throws -> Reply {
        let typed = (visit.form["code"] ?? "").trimmed
        let code = typed.split(separator: "#").last.map(String.init) ?? ""
        do {
            let preview = try await accounts.previewInvitation(token: code, from: visit.client)
            return invitationPage(visit, code, preview)
        } catch {
            if case .storeFailed = error { throw error }
            return joinForm(visit, problem: error.description, status: error.formStatus)
        }
    }

    private func invitationPage(_ visit: Visit, _ code: String, _ preview: InvitationPreview) -> Reply {
        let about: HTML = """
            <h1>\(preview.groupName)</h1><p>You are invited to this household as \(preview.role.meaning). \
            The invitation ends on \(Self.day(preview.endsAt)).</p>
            """
        if visit.person != nil {
            return openPage(
                "Join \(preview.groupName)",
                """
                <div class=card>\(about)
                <form method=post action=/join/accept>\(Page.token(visit.token))<input type=hidden name=code value="\(code)">
                <p class=row><button class=main>Join</button> <a class=button href=/>Cancel</a></p></form></div>
                """)
        }
        return openPage(
            "Join \(preview.groupName)",
            """
            <div class=card>\(about)</div>
            <section class=card><h2>Make an account and join</h2>\(signUpFields(visit, invitation: code, problem: nil))</section>
            <section class=card><h2>Sign in and join</h2>\(Self.signInFields(visit, invitation: code))</section>
            """)
    }

    func join(_ visit: AccountVisit) async throws -> Reply {
        let joined = try await accounts.join(
            token: visit.form["code"] ?? "", account: visit.person.account.id, from: visit.person.client)
        return .redirect(
            "/households/\(joined.groupID.path)", Flash(text: "You are a member of \(joined.groupName)."))
    }

    // MARK: Dates

    /// "29 November 2026 at 15:04", in UTC.
    static func moment(_ date: Date) -> String {
        "\(day(date)) at \(date.formatted(style.hour(.twoDigits(amPM: .omitted)).minute(.twoDigits)))"
    }

    static func day(_ date: Date) -> String { date.formatted(style.day().month(.wide).year()) }

    private static let style = Date.FormatStyle(
        locale: Locale(identifier: "en_GB"), timeZone: TimeZone(secondsFromGMT: 0) ?? .current)
}
