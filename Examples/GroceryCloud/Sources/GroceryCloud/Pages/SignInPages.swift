import CoreDataAccounts
import Foundation
import HTTPTypes
import Hummingbird
import LivePages

// Signing in, and making an account.
extension App {
    func signInPage(_ visit: Visit) async throws -> Reply {
        if visit.person != nil { return .redirect("/") }
        // On the first use, there is nobody who could sign in.
        if try await accounts.isEmpty() { return .redirect("/sign-up") }
        return signInForm(visit)
    }

    private func signInForm(_ visit: Visit, problem: String? = nil, status: Int = 200) -> Reply {
        let to = visit.form["back"] ?? visit.query["to"] ?? ""
        return openPage(
            "Sign in", status: status,
            """
            <div class=card><h1>Sign in</h1>
            \(Self.signInFields(visit, back: to, problem: problem))
            </div>
            <p class=end>No account yet? <a class=button href=/sign-up>Make an account</a></p>
            <p class=end>Do you have an invitation? <a class=button href=/join>Open the invitation</a></p>
            """)
    }

    static func signInFields(
        _ visit: Visit, back: String = "", invitation: String? = nil, problem: String? = nil
    ) -> HTML {
        """
        <form method=post action=/sign-in>\(Page.token(visit.token))<input type=hidden name=back value="\(back)">\
        \(invitation.map { "<input type=hidden name=invitation value=\"\($0)\">" as HTML })
        \(problem.map { "<div class=\"notice problem\" role=alert><p>\($0)</p></div>" as HTML })
        <div class=field><label for=name>Name</label><input id=name name=name value="\(visit.form["name"] ?? "")" required \
        maxlength=100 autocomplete=username autocapitalize=off spellcheck=false></div>
        <div class=field><label for=password>Password</label><input id=password name=password type=password required \
        maxlength=1000 autocomplete=current-password></div>
        <p class=row><button class=main>Sign in</button></p></form>
        """
    }

    func signIn(_ visit: Visit) async throws -> Reply {
        do {
            let signedIn = try await accounts.signIn(
                name: visit.form["name"] ?? "", password: visit.form["password"] ?? "", from: visit.client)
            return try await welcome(signedIn, visit)
        } catch let error as AccountError {
            if case .storeFailed = error { throw error }
            return signInForm(visit, problem: error.description, status: error.formStatus)
        }
    }

    func signUpPage(_ visit: Visit) async throws -> Reply {
        if visit.person != nil { return .redirect("/") }
        return try await signUpForm(visit)
    }

    private func signUpForm(_ visit: Visit, problem: AccountError? = nil) async throws -> Reply {
        let isFirst = try await accounts.isEmpty()
        let about: HTML =
            isFirst
            ? """
            <p>Welcome to Grocery Cloud. Make the first account: it administers this service. Then make a household, and invite \
            the people who shop with you.</p>
            """ : "<p>With an account you share shopping lists with your household.</p>"
        let other: HTML =
            isFirst ? "" : "<p class=end>You have one already? <a class=button href=/sign-in>Sign in</a></p>"
        return openPage(
            "Make an account", status: problem?.formStatus ?? 200,
            """
            <div class=card><h1>\(isFirst ? "The first account" : "Make an account")</h1>\(about)
            \(signUpFields(visit, invitation: visit.form["invitation"], problem: problem))
            </div>\(other)
            """)
    }

    func signUpFields(_ visit: Visit, invitation: String?, problem: AccountError?) -> HTML {
        let minimum = max(8, settings.accounts.minimumPasswordLength)
        let isName = problem?.isAboutName ?? false
        let isPassword = problem?.isAboutPassword ?? false
        let text = problem?.description ?? ""
        return """
            <form method=post action=/sign-up>\(Page.token(visit.token))\
            \(invitation.map { "<input type=hidden name=invitation value=\"\($0)\">" as HTML })
            \("<div class=\"notice problem\" role=alert><p>\(text)</p></div>", if: problem != nil && !isName && !isPassword)
            <div class=field><label for=new-name>Name</label><input id=new-name name=name value="\(visit.form["name"] ?? "")" required \
            maxlength=100 autocomplete=username autocapitalize=off spellcheck=false aria-describedby=new-name-hint\
            \(" aria-invalid=true", if: isName)>
            \("<p class=problem>\(text)</p>", if: isName)
            <p class=hint id=new-name-hint>2 to 40 letters, digits, and . - _; the other members see it.</p></div>
            <div class=field><label for=new-password>Password</label><input id=new-password name=password type=password required \
            maxlength=1000 autocomplete=new-password aria-describedby=new-password-hint\(" aria-invalid=true", if: isPassword)>
            \("<p class=problem>\(text)</p>", if: isPassword)
            <p class=hint id=new-password-hint>At least \(minimum) characters, for example four words that do not belong together.</p></div>
            <p class=row><button class=main>Make the account</button></p></form>
            """
    }

    func signUp(_ visit: Visit) async throws -> Reply {
        let invitation = visit.form["invitation"].flatMap { $0.isEmpty ? nil : $0 }
        do {
            let signedIn = try await accounts.signUp(
                name: visit.form["name"] ?? "", password: visit.form["password"] ?? "", invitation: invitation,
                from: visit.client)
            return try await welcome(signedIn, visit)
        } catch let error as AccountError {
            if case .storeFailed = error { throw error }
            return try await signUpForm(visit, problem: error)
        }
    }

    /// Gives the browser its session, lets it join where it was invited, and goes on to the page that it came for.
    private func welcome(_ signedIn: SignedIn, _ visit: Visit) async throws -> Reply {
        var flash = Flash(text: "You are signed in as \(signedIn.account.name).")
        if let invitation = visit.form["invitation"], !invitation.isEmpty {
            do {
                let joined = try await accounts.join(
                    token: invitation, account: signedIn.account.id, from: visit.client)
                flash.text = "You are a member of \(joined.groupName)."
            } catch {
                guard case .invalidInvitation = error else { throw error }
                // The sign-up has used it up already, or it has ended meanwhile.
                let groups = try await accounts.groups(of: signedIn.account.id)
                if groups.isEmpty { flash = Flash(kind: .problem, text: AccountError.invalidInvitation.description) }
            }
            await views.check()
        }
        var headers = cookies.setCookie(signedIn.token, until: signedIn.session.endsAt)
        // What another account has left in this browser: kept pages, drafts, ticks.
        headers[.clearSiteData] = "\"storage\""
        return .with(headers, .redirect(visit.back(or: "/"), flash))
    }

    func signOut(_ visit: AccountVisit) async throws -> Reply {
        try await accounts.signOut(token: visit.person.token, from: visit.person.client)
        var headers = cookies.removeCookie
        headers[.clearSiteData] = "\"storage\""
        return .with(headers, .redirect("/sign-in"))
    }
}

extension Visit {
    /// Where the request comes from, for limits of tries and the list of sessions.
    var client: Client { Client(address: address, device: deviceName) }

    /// "Firefox on Android", as far as the browser says what it is.
    private var deviceName: String {
        func first(_ marks: [(mark: String, name: String)]) -> String? {
            marks.first { userAgent.contains($0.mark) }?.name
        }
        // Many browsers also name others, which they resemble: the first that is found counts.
        let browser = first([
            ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("Edg", "Edge"), ("OPR/", "Opera"), ("Chrome/", "Chrome"),
            ("CriOS/", "Chrome"), ("Safari/", "Safari"),
        ])
        let system = first([
            ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
            ("Mac OS X", "Mac"), ("Linux", "Linux"),
        ])
        guard let browser else { return String(userAgent.prefix(60)) }
        return system.map { "\(browser) on \($0)" } ?? browser
    }
}

extension AccountError {
    /// The status of a form that is shown again.
    var formStatus: Int {
        switch self {
        case .tooManyTries: 429
        case .busy: 503
        default: 422
        }
    }

    var isAboutName: Bool {
        switch self {
        case .invalidName, .nameTaken: true
        default: false
        }
    }

    var isAboutPassword: Bool {
        switch self {
        case .passwordTooShort, .passwordTooLong, .passwordTooCommon, .passwordInvalid: true
        default: false
        }
    }
}

extension HTTPField.Name {
    // A constant that is a valid name of a header.
    // swift-format-ignore: NeverForceUnwrap
    static let clearSiteData = Self("Clear-Site-Data")!
}
