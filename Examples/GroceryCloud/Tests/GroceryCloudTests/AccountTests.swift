import CoreDataAccounts
import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryCloud

/// Accounts and their sessions: signing in and out, passwords, export, deletion.
@Suite(.timeLimit(.minutes(2))) struct AccountTests {
    @Test func aWrongPasswordAndAnUnknownNameLookTheSame() async throws {
        try await TestHousehold.run { household in
            let wrong = try await household.server.browser.post(
                "/sign-in", ["name": "ann", "password": "another long password"])
            let unknown = try await household.server.browser.post(
                "/sign-in", ["name": "nobody", "password": "another long password"])
            #expect(wrong.status == 422 && unknown.status == 422)
            #expect(wrong.words.replacing("ann", with: "") == unknown.words.replacing("nobody", with: ""))
            #expect(wrong.words.contains("The name or the password is wrong."))
            #expect(!wrong.text.contains("another long password"))
        }
    }

    @Test func theCookieOfASessionIsForBrowsersAlone() async throws {
        try await TestHousehold.run { household in
            let answer = try await household.server.browser.post("/sign-in", ["name": "ann", "password": password])
            let cookie = try #require(
                answer.headers.first { $0.name.lowercased() == "set-cookie" && $0.value.hasPrefix("session=") }?.value)
            #expect(cookie.contains("; HttpOnly") && cookie.contains("; SameSite=Lax") && !cookie.contains("Secure"))
            #expect(answer.header("Clear-Site-Data") == "\"storage\"")
            // No page shows the token, nor the digest that is stored.
            let token = try #require(cookie.firstMatch(of: /session=([^;]+)/)).output.1
            for path in ["/account", household.homePath, household.prepare, "/account/export"] {
                #expect(try await !household.ann.get(path).text.contains(String(token)))
            }
        }
    }

    @Test func behindTLSCookiesAreBoundToTheHost() {
        let cookie = SessionCookies.setCookieForTests(usesTLS: true)
        #expect(
            cookie.hasPrefix("__Host-session=secret; Path=/; Max-Age=")
                && cookie.hasSuffix("; HttpOnly; SameSite=Lax; Secure"))
    }

    @Test func formsBelongToTheirSession() async throws {
        try await TestHousehold.run { household in
            let (ann, bob) = (household.ann, household.bob)
            let flour = try await household.item("Flour")
            let (own, other) = (try await ann.token(), try await bob.token())
            let second = try await household.server.signIn("ann")
            #expect(own != other)
            #expect(try await own != second.token())
            for token in [other, try await second.token(), String(repeating: "0", count: 32), ""] {
                #expect(try await ann.browser.post(household.prepare, ["on": flour, "token": token]).status == 403)
            }
            let foreign = ["Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"]
            #expect(try await ann.post(household.prepare, ["on": flour], foreign).status == 403)
            #expect(try await ann.browser.post(household.prepare, ["on": flour, "token": own]).status == 303)
        }
    }

    @Test func aSignOutEndsTheSession() async throws {
        try await TestHousehold.run { household in
            let ann = household.ann
            let second = try await household.server.signIn("ann")
            #expect(try await second.post("/sign-out").header("Location") == "/sign-in")
            // The browser of the test keeps the cookie: the server does not accept it any more.
            #expect(try await second.get("/account").status == 303)
            #expect(try await ann.get("/account").status == 200)
        }
    }

    @Test func sessionsAreListedAndEnded() async throws {
        try await TestHousehold.run { household in
            let ann = household.ann
            let (second, third) = (try await household.server.signIn("ann"), try await household.server.signIn("ann"))
            let page = try await ann.get("/account")
            #expect(page.words.contains("Sessions 3"))
            let session = try #require(page.text.firstMatch(of: /name=session value="([0-9a-f-]+)">\s*<button>End/))
            #expect(
                try await ann.submit("/account/sessions", ["session": String(session.output.1)]).words.contains(
                    "The session has ended. "))
            var statuses: [Int] = []
            for shopper in [second, third] { statuses.append(try await shopper.get("/account").status) }
            #expect(statuses.sorted() == [200, 303])
            #expect(try await ann.submit("/account/sessions", ["others": "1"]).words.contains("1 session ended."))
            #expect(try await third.get("/account").status == 303)
        }
    }

    @Test func aNewPasswordEndsTheOtherSessions() async throws {
        try await TestHousehold.run { household in
            let ann = household.ann
            let second = try await household.server.signIn("ann")
            let new = "another long password"
            let wrong = try await ann.submit("/account/password", ["current": "not my password", "new": new])
            #expect(wrong.status == 422 && wrong.words.contains("This is not your present password."))
            let short = try await ann.submit("/account/password", ["current": password, "new": "short"])
            #expect(short.status == 422 && short.words.contains("The password is too short."))
            let done = try await ann.submit("/account/password", ["current": password, "new": new])
            #expect(done.words.contains("The password is changed."))
            #expect(try await second.get("/account").status == 303)
            #expect(
                try await household.server.browser.post("/sign-in", ["name": "ann", "password": new]).status == 303)
        }
    }

    @Test func theExportHasWhatTheAccountSees() async throws {
        try await TestHousehold.run { household in
            let answer = try await household.eve.get("/account/export")
            #expect(answer.header("Content-Disposition") == "attachment; filename=\"grocery-cloud-eve.json\"")
            let json = try #require(try JSONSerialization.jsonObject(with: answer.body) as? [String: Any])
            let account = try #require(json["account"] as? [String: Any])
            #expect((account["account"] as? [String: Any])?["name"] as? String == "eve")
            let households = try #require(json["households"] as? [[String: Any]])
            #expect(households.map { $0["name"] as? String } == ["Home"])
            #expect(households[0]["units"] as? [String] == ["kg", "L"])
            let lists = try #require(households[0]["lists"] as? [[String: Any]])
            let items = try #require(lists[0]["items"] as? [[String: Any]])
            #expect(items.map { $0["name"] as? String } == ["Flour", "Milk"])
            #expect(!answer.text.contains("Elsewhere") && !answer.text.contains("scrypt"))
        }
    }

    @Test func aDeletedAccountLeavesNothingOfItsOwnHouseholds() async throws {
        try await TestHousehold.run { household in
            let mallory = household.mallory
            let wrong = try await mallory.submit("/account/deletion", ["password": "not my password"])
            #expect(wrong.status == 422 && wrong.words.contains("This is not your password."))
            #expect(try await rowCounts(household.server)["List"] == 2)
            let done = try await mallory.post("/account/deletion", ["password": password])
            #expect(done.header("Location") == "/sign-up")
            #expect(try await mallory.get("/account").status == 303)
            #expect(try await rowCounts(household.server)["List"] == 1)
            let again = try await household.server.browser.post("/sign-in", ["name": "mallory", "password": password])
            #expect(again.status == 422)
            // The only owner of a household with others has to find another one first.
            let owner = try await household.ann.submit("/account/deletion", ["password": password])
            #expect(owner.status == 409 && owner.words.contains("Make another member an owner first."))
            // Where others go on, what was written stays, without the name.
            _ = try await household.bob.post(household.shop, ["on": try await household.item("Milk")])
            #expect(try await household.bob.post("/account/deletion", ["password": password]).status == 303)
            let history = try await household.ann.get("\(household.homePath)/history")
            #expect(history.words.contains("A deleted account ticked Milk") && !history.words.contains("bob"))
        }
    }

    @Test func anAdministratorMakesALinkForANewPassword() async throws {
        try await TestHousehold.run { household in
            let (ann, bob) = (household.ann, household.bob)
            for (path, fields) in [
                ("/administration", nil), ("/administration", ["account": ann.id.path, "action": "link"]),
            ] {
                let answer =
                    if let fields { try await bob.post(path, fields) } else { try await bob.get(path) }
                #expect(answer.status == 403 && !answer.words.contains("mallory"))
            }
            #expect(try await ann.get("/administration").words.contains("mallory"))
            let page = try await ann.post("/administration", ["account": bob.id.path, "action": "link"])
            let code = try #require(page.text.firstMatch(of: /\/reset#([A-Za-z0-9_-]{43})/)).output.1
            let visitor = try household.server.browser
            let new = "another long password"
            let short = try await visitor.post("/reset", ["code": String(code), "password": "short"])
            #expect(short.status == 422 && short.words.contains("The password is too short."))
            #expect(try await visitor.post("/reset", ["code": String(code), "password": new]).status == 303)
            #expect(try await visitor.post("/reset", ["code": String(code), "password": new]).status == 422)
            #expect(try await bob.get("/account").status == 303)
            #expect(try await visitor.post("/sign-in", ["name": "bob", "password": new]).status == 303)
        }
    }

    @Test func aSuspendedAccountSeesNothing() async throws {
        try await TestHousehold.run { household in
            let (ann, eve) = (household.ann, household.eve)
            #expect(try await eve.get(household.prepare).status == 200)
            _ = try await ann.post("/administration", ["account": eve.id.path, "action": "suspend"])
            #expect(try await eve.get(household.prepare).status == 303)
            _ = try await ann.post("/administration", ["account": eve.id.path, "action": "restore"])
            #expect(try await household.server.signIn("eve").get(household.prepare).status == 200)
        }
    }

    @Test func theSettingsSayWhatIsWrong() throws {
        for (arguments, text) in [
            (["--sign-up", "friends"], "none of open, invited and closed"),
            (["--address", "http://example.com"], "no address such as https://groceries.example.com"),
            (["--store", "/tmp/a.sqlite", "--accounts", "/tmp/a.sqlite"], "each needs its own"),
        ] {
            let error = #expect(throws: LaunchOptions.Problem.self) {
                _ = try CloudSettings(LaunchOptions("GroceryCloud", arguments, own: CloudSettings.options))
            }
            #expect(error?.description.contains(text) == true)
        }
    }
}

extension SessionCookies {
    fileprivate static func setCookieForTests(usesTLS: Bool) -> String {
        let accounts = try? Accounts(
            at: FileManager.default.temporaryDirectory.appendingPathComponent("cookies-\(UUID().uuidString).sqlite"))
        guard let accounts else { return "" }
        return SessionCookies(accounts: accounts, usesTLS: usesTLS)
            .setCookie("secret", until: Date(timeIntervalSinceNow: 60))[.setCookie] ?? ""
    }
}
