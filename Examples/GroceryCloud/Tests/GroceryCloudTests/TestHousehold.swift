import CoreDataAccounts
import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryCloud

extension App: TestedApp {
    package static var site: Site { .groceryCloud }
    package nonisolated static var program: String { "GroceryCloud" }

    package static func opener(_ store: URL) -> Opener<App> {
        var settings = CloudSettings(store: store)
        // A password costs nearly nothing: the service's own tests see to the real cost.
        settings.accounts.passwordCost = PasswordCost(costBits: 4, blockSize: 1, parallelism: 1)
        // All people of a test come from one address.
        settings.accounts.limits.signUpsOfAddress.tries = 1000
        return opener(store, settings)
    }
}

typealias TestServer = AppServer<App>

/// The password of all accounts of the tests.
let password = "a long enough password"

/// A browser of an account, without JavaScript.
struct Shopper: Sendable {
    let browser: TestBrowser
    let id: UUID
    let name: String

    func get(_ path: String) async throws -> Answer { try await browser.get(path) }

    /// Sends a form of the session.
    func post(
        _ path: String, _ fields: [String: String] = [:], _ headers: [String: String] = [:]
    ) async throws -> Answer {
        try await browser.post(path, fields.merging(["token": try await token()]) { given, _ in given }, headers)
    }

    /// Sends a form and follows the redirect.
    func submit(_ path: String, _ fields: [String: String] = [:]) async throws -> Answer {
        let answer = try await post(path, fields)
        guard answer.status == 303, let location = answer.header("Location") else { return answer }
        return try await browser.get(location)
    }

    /// The secret of the forms of the session.
    func token() async throws -> String { formToken(of: try await browser.get("/account")) }
}

func formToken(of page: Answer) -> String {
    page.text.firstMatch(of: /name=token value="([0-9a-f]+)"/).map { String($0.output.1) } ?? ""
}

extension AppServer where App == GroceryCloud.App {
    /// Makes an account through the pages.
    func signUp(_ name: String, invitation: String = "") async throws -> Shopper {
        let browser = try browser
        _ = try await browser.get("/sign-up")
        let answer = try await browser.post(
            "/sign-up", ["name": name, "password": password, "invitation": invitation])
        #expect(answer.status == 303)
        return Shopper(browser: browser, id: try await id(of: name), name: name)
    }

    /// Signs in through the pages, in another browser.
    func signIn(_ name: String) async throws -> Shopper {
        let browser = try browser
        #expect(try await browser.post("/sign-in", ["name": name, "password": password]).status == 303)
        return Shopper(browser: browser, id: try await id(of: name), name: name)
    }

    private func id(of name: String) async throws -> UUID {
        let signedIn = try await app.accounts.signIn(name: name, password: password, from: Client(address: nil))
        try await app.accounts.signOut(token: signedIn.token, from: Client(address: nil))
        return signedIn.account.id
    }
}

/// A household with a list, as its tests begin: ann owns it, bob edits it, eve reads it, mallory is a stranger with a household of
/// her own.
struct TestHousehold: Sendable {
    let server: TestServer
    let ann, bob, eve, mallory: Shopper
    /// The household of ann, and its list.
    let home, list: UUID

    static func run(_ test: @escaping @Sendable (TestHousehold) async throws -> Void) async throws {
        try await TestServer.run { server in
            let ann = try await server.signUp("ann")
            let list = try listID(of: try await ann.post("/households", ["name": "Home"]))
            let home = try await server.app.accounts.groups(of: ann.id)[0].groupID
            let bob = try await server.signUp("bob", invitation: try await invite(.editor, server, home, ann))
            let eve = try await server.signUp("eve", invitation: try await invite(.viewer, server, home, ann))
            let mallory = try await server.signUp("mallory")
            _ = try await mallory.post("/households", ["name": "Elsewhere"])
            let household = TestHousehold(
                server: server, ann: ann, bob: bob, eve: eve, mallory: mallory, home: home, list: list)
            _ = try await household.add("Milk", unit: "L", home: "Fridge", shop: "Dairy")
            _ = try await household.add("Flour", unit: "kg", home: "Pantry", shop: "Baking", listed: false)
            try await test(household)
        }
    }

    static func invite(
        _ role: Role, _ server: TestServer, _ home: UUID, _ ann: Shopper
    ) async throws -> String {
        try await server.app.accounts.invite(to: home, as: role, by: ann.id).token
    }

    /// The list of the page that an answer redirects to.
    static func listID(of answer: Answer) throws -> UUID {
        let location = try #require(answer.header("Location"))
        return try #require(UUID(uuidString: String(location.split(separator: "/").dropFirst().first ?? "")))
    }

    var prepare: String { "/lists/\(list.path)/prepare" }
    var shop: String { "/lists/\(list.path)/shop" }
    var homePath: String { "/households/\(home.path)" }

    /// Adds an item as ann.
    @discardableResult func add(
        _ name: String, unit: String = "", home: String = "", shop: String = "", listed: Bool = true
    ) async throws -> String {
        var fields = ["name": name, "quantity": "1"]
        if listed { fields["listed"] = "1" }
        for (field, value) in [("unit", unit), ("home", home), ("shop", shop)] where value != "" {
            (fields[field], fields["new-\(field)"]) = ("new", value)
        }
        let answer = try await ann.post("/lists/\(list.path)/items", fields)
        #expect(answer.status == 303)
        return String((answer.header("Location") ?? "").split(separator: "/").last ?? "")
    }

    /// The ID of an item, as the list of ann has it.
    func item(_ name: String) async throws -> String {
        let page = try await ann.get(prepare).text
        let pattern = try Regex("id=\"i([0-9a-f-]{36})\"[^>]*><button[^>]*>\(name)<", as: (Substring, Substring).self)
        return String(try #require(page.firstMatch(of: pattern)).output.1)
    }

    /// The ID of a unit or location, as its page has it.
    func place(_ kind: PlaceKind) async throws -> String {
        let page = try await ann.get("\(homePath)/\(kind.rawValue)").text
        let pattern = try Regex("href=\"/\(kind.rawValue)/([0-9a-f-]{36})\"", as: (Substring, Substring).self)
        return String(try #require(page.firstMatch(of: pattern)).output.1)
    }
}
