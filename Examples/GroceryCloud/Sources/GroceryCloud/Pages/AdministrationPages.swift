import CoreDataAccounts
import Foundation
import LivePages

// What administrators do: accounts, and links for new passwords, since the app sends no e-mail.
extension App {
    func administrationPage(_ visit: AccountVisit, link: (name: String, token: String)? = nil) async throws -> Reply {
        let me = visit.person.account.id
        let found = try await accounts.accounts(by: me, after: visit.visit.query["after"], limit: 50)
        let rows = found.accounts.map { account -> HTML in
            let kind: HTML =
                account.isSuspended
                ? "suspended" : account.isAdministrator ? "administrator" : "since \(Self.day(account.createdAt))"
            let field: HTML = "<input type=hidden name=account value=\"\(account.id.path)\">"
            let others: HTML = """
                <button name=action value="\(account.isSuspended ? "restore" : "suspend")">\(account.isSuspended ? "Restore" : "Suspend")</button>
                """
            return """
                <li class=backup><div><b>\(account.name)\(account.id == me ? " (you)" : "")</b><small>\(kind)</small></div>
                <form class=row method=post action=/administration>\(visit.token)\(field)\
                <button name=action value=link>Link for a new password</button>\(others, if: account.id != me)</form>

                """
        }
        let next: HTML =
            found.next.map { "<p class=end><a class=button href=\"?after=\($0.percentEncoded)\">More</a></p>" } ?? ""
        let shown: HTML =
            link.map { link in
                """
                <section class=card role=status><h2>Send this link to \(link.name)</h2>
                <p>It sets a new password, once, within 30 minutes. It is shown only now.</p>
                <div class=field><label for=link>Link</label><input id=link value="\(base(visit.visit))/reset#\(link.token)" readonly></div></section>
                """
            } ?? ""
        return .page(
            page(
                "Accounts", "account", in: .none, view: visit.view,
                """
                <header class=top><a class=back href=/account aria-label="Back to Account">\(Icon.back)</a><h1>Accounts</h1></header>
                \(shown)<section><ul>\(rows)</ul></section>\(next)
                """))
    }

    func administrate(_ visit: AccountVisit) async throws -> Reply {
        guard let id = UUID(uuidString: visit.form["account"] ?? "") else { throw AccountError.accountNotFound }
        let (me, client) = (visit.person.account.id, visit.person.client)
        switch visit.form["action"] {
        case "link":
            let token = try await accounts.makePasswordReset(for: id, by: me, from: client)
            return try await administrationPage(visit, link: (try await accounts.account(id).name, token))
        case "suspend", "restore":
            let isSuspended = visit.form["action"] == "suspend"
            try await accounts.setSuspended(isSuspended, of: id, by: me, from: client)
            return .redirect(
                "/administration",
                Flash(
                    text: isSuspended
                        ? "The account is suspended, and its sessions have ended." : "The account may sign in again."))
        default: return .redirect("/administration")
        }
    }

    // MARK: A new password by a link

    func resetPage(_ visit: Visit, problem: String? = nil, status: Int = 200) -> Reply {
        openPage(
            "A new password", status: status,
            """
            <div class=card><h1>A new password</h1>
            <form method=post action=/reset>\(Page.token(visit.token))
            \(problem.map { "<div class=\"notice problem\" role=alert><p>\($0)</p></div>" as HTML })
            <div class=field><label for=code>Code of the link</label><input id=code name=code data-hash required maxlength=200 \
            value="\(visit.form["code"] ?? "")" autocomplete=off autocapitalize=off spellcheck=false aria-describedby=code-hint>
            <p class=hint id=code-hint>It stands behind the # of the link. You can also paste the whole link.</p></div>
            <div class=field><label for=password>New password</label><input id=password name=password type=password required \
            maxlength=1000 autocomplete=new-password></div>
            <p class=row><button class=main>Set the password</button></p></form></div>
            """)
    }

    func reset(_ visit: Visit) async throws -> Reply {
        let code = (visit.form["code"] ?? "").trimmed.split(separator: "#").last.map(String.init) ?? ""
        do {
            try await accounts.resetPassword(token: code, to: visit.form["password"] ?? "", from: visit.client)
            await views.check()
            return .redirect("/sign-in", Flash(text: "The password is set. Sign in with it."))
        } catch {
            if case .storeFailed = error { throw error }
            return resetPage(visit, problem: error.description, status: error.formStatus)
        }
    }

    /// The address under which the browser has asked, for links.
    func base(_ visit: Visit) -> String {
        let base = settings.publicAddress.map { $0.absoluteString } ?? "http://\(visit.host)"
        return base.hasSuffix("/") ? String(base.dropLast()) : base
    }
}
