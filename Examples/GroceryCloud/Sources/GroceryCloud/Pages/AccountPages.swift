import CoreDataAccounts
import Foundation
import HTTPTypes
import LivePages

// The account of a person: password, sessions, export, deletion.
extension App {
    func accountPage(
        _ visit: AccountVisit, problem: (field: String, text: String)? = nil, status: Int = 200
    ) async throws -> Reply {
        let account = visit.person.account
        let sessions = try await accounts.sessions(of: account.id)
        let rows = sessions.map { session -> HTML in
            let isHere = session.id == visit.person.session.id
            return """
                <li class=backup><div><b>\(session.device.isEmpty ? "Unknown device" : session.device)</b>\
                <small>\(isHere ? "this browser" : "last used \(Self.moment(session.lastUsedAt)) UTC")\
                \(session.address.map { ", from \($0)" as HTML })</small></div>
                <form method=post action=/account/sessions>\(visit.token)<input type=hidden name=session value="\(session.id.path)">\
                \("<button>End</button>", if: !isHere)</form>

                """
        }
        let others: HTML =
            sessions.count > 1
            ? """
            <form class=end method=post action=/account/sessions>\(visit.token)<input type=hidden name=others value=1>\
            <button class="danger quiet">End all others</button></form>
            """ : ""
        func text(_ field: String) -> HTML {
            problem?.field == field ? "<p class=problem id=\"\(field)-problem\">\(problem?.text ?? "")</p>" : ""
        }
        func described(_ field: String) -> HTML {
            problem?.field == field ? " aria-invalid=true aria-describedby=\"\(field)-problem\"" : ""
        }
        return .page(
            page(
                "Account", "account", in: .none, view: visit.view,
                """
                <header class=top><h1>\(account.name)</h1></header>
                <section class=card>\
                \("<p>This account administers the service.</p>", if: account.isAdministrator)
                <form class=row method=post action=/sign-out>\(visit.token)<button>Sign out</button>\
                \("<a class=button href=/administration>Accounts…</a>", if: account.isAdministrator)</form></section>
                <section class=card><h2>Password</h2>
                <form method=post action=/account/password>\(visit.token)
                <input type=hidden name=username value="\(account.name)" autocomplete=username>
                <div class=field><label for=current>Present password</label><input id=current name=current type=password required \
                maxlength=1000 autocomplete=current-password\(described("current"))>\(text("current"))</div>
                <div class=field><label for=new>New password</label><input id=new name=new type=password required maxlength=1000 \
                autocomplete=new-password\(described("new"))>\(text("new"))</div>
                <p class=row><button class=main>Change password</button></p>
                <p class=hint>All other sessions end.</p></form></section>
                <section><h2>Sessions <span>\(sessions.count)</span></h2><ul>\(rows)</ul>\(others)</section>
                <section class=card><h2>Your data</h2>
                <p>Everything that the service knows of you, and the lists of your households, as JSON.</p>
                <p class=row><a class=button href=/account/export download>Export</a> \
                <a class="button danger quiet" href=/account/deletion>Delete account…</a></p></section>
                """), status: status)
    }

    func changePassword(_ visit: AccountVisit) async throws -> Reply {
        do {
            try await accounts.changePassword(
                of: visit.person.account.id, from: visit.form["current"] ?? "", to: visit.form["new"] ?? "",
                keeping: visit.person.session.id, from: visit.person.client)
            return .redirect("/account", Flash(text: "The password is changed. All other sessions have ended."))
        } catch {
            switch error {
            case .wrongCredentials:
                return try await accountPage(
                    visit, problem: ("current", "This is not your present password."), status: 422)
            case .tooManyTries, .busy:
                return try await accountPage(visit, problem: ("current", error.description), status: error.formStatus)
            case let error where error.isAboutPassword:
                return try await accountPage(visit, problem: ("new", error.description), status: 422)
            default: throw error
            }
        }
    }

    func endSession(_ visit: AccountVisit) async throws -> Reply {
        let (account, client) = (visit.person.account.id, visit.person.client)
        if visit.form["others"] != nil {
            let count = try await accounts.endSessions(of: account, except: visit.person.session.id, from: client)
            return .redirect("/account", Flash(text: "\(Count.of(count, "session")) ended."))
        }
        guard let id = UUID(uuidString: visit.form["session"] ?? "") else { throw AccountError.sessionNotFound }
        try await accounts.endSession(id, of: account, from: client)
        return .redirect("/account", Flash(text: "The session has ended."))
    }

    // MARK: Export and deletion

    func export(_ visit: AccountVisit) async throws -> Reply {
        let account = try await accounts.export(visit.person.account.id)
        let export = try DataExport(account, visit.view)
        let name = "grocery-cloud-\(visit.person.account.name).json"
        var headers: HTTPFields = [.cacheControl: "no-store"]
        headers[.contentDisposition] = "attachment; filename=\"\(name)\""
        return .with(headers, .file(try export.json(), type: "application/json"))
    }

    func deletionPage(_ visit: AccountVisit, problem: String? = nil, status: Int = 200) -> Reply {
        .page(
            page(
                "Delete the account", "account", in: .none, view: visit.view,
                """
                <div class=card><h1>Delete the account \(visit.person.account.name)?</h1>
                <p>Households in which you are the only member are deleted with their lists. What you have written in others stays, \
                without your name. Nothing of it can be brought back.</p>
                <form method=post action=/account/deletion>\(visit.token)
                <div class=field><label for=password>Password</label><input id=password name=password type=password required \
                maxlength=1000 autocomplete=current-password\(" aria-invalid=true aria-describedby=problem", if: problem != nil)>\
                \(problem.map { "<p class=problem id=problem>\($0)</p>" as HTML })</div>
                <p class=row><button class=danger>Delete account</button> <a class=button href=/account>Cancel</a></p></form></div>
                """), status: status)
    }

    func deleteAccount(_ visit: AccountVisit) async throws -> Reply {
        do {
            try await accounts.deleteAccount(
                visit.person.account.id, password: visit.form["password"] ?? "", from: visit.person.client)
        } catch {
            switch error {
            case .wrongCredentials: return deletionPage(visit, problem: "This is not your password.", status: 422)
            case .lastOwner:
                return deletionPage(
                    visit,
                    problem:
                        "You are the only owner of a household with other members. Make another member an owner first.",
                    status: 409)
            case .lastAdministrator, .tooManyTries, .busy:
                return deletionPage(visit, problem: error.description, status: error.formStatus)
            default: throw error
            }
        }
        try await purge()
        var headers = cookies.removeCookie
        headers[.clearSiteData] = "\"storage\""
        return .with(headers, .redirect("/sign-up", Flash(text: "The account is deleted.")))
    }
}
