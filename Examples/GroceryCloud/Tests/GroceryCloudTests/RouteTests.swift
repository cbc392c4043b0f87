import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryCloud

/// All routes of the app that take an ID, tried by people who must not use them.
@Suite(.timeLimit(.minutes(3))) struct RouteTests {
    /// A route with an ID of another household.
    private struct Route: Sendable {
        let path: String
        /// The fields of a form; `nil` for a page.
        var fields: [String: String]?
        /// Whether viewers may use it.
        var isForViewers = false

        init(get path: String, isForViewers: Bool = true) { (self.path, self.isForViewers) = (path, isForViewers) }

        init(post path: String, _ fields: [String: String] = [:], isForViewers: Bool = false) {
            (self.path, self.fields, self.isForViewers) = (path, fields, isForViewers)
        }
    }

    /// Each route of `App+Routes.swift` with an ID in its path or in a field, with IDs of the household.
    private static func routes(_ household: TestHousehold) async throws -> [Route] {
        let (milk, flour) = (try await household.item("Milk"), try await household.item("Flour"))
        let (home, list) = (household.homePath, "/lists/\(household.list.path)")
        let accounts = await household.server.app.accounts
        let (ann, bob) = (household.ann.id, household.bob.id)
        let invitation = try await accounts.invite(to: household.home, as: .viewer, by: ann).invitation.id.path
        let session = try await accounts.sessions(of: bob)[0].id.path
        var routes = [
            Route(get: home), Route(get: "\(home)/history"), Route(get: "\(home)/deletion", isForViewers: false),
            Route(post: "\(home)/name", ["name": "Mine"]), Route(post: "\(home)/lists", ["name": "Mine"]),
            Route(post: "\(home)/invitations", ["role": "owner"]),
            Route(post: "\(home)/invitations/end", ["invitation": invitation]),
            Route(post: "\(home)/members", ["member": bob.path, "role": "owner"]),
            Route(post: "\(home)/members", ["member": bob.path, "remove": "1"]),
            Route(post: "\(home)/deletion"),
            Route(get: household.prepare), Route(get: household.shop), Route(get: "\(list)/clear"),
            Route(get: "\(list)/more"), Route(get: "\(list)/deletion"),
            Route(get: "\(list)/items/new", isForViewers: false),
            Route(post: household.prepare, ["on": flour]), Route(post: household.prepare, ["off": milk]),
            Route(post: household.shop, ["on": milk]), Route(post: "\(list)/shop/off", ["i": milk]),
            Route(post: "\(list)/shop/clear"), Route(post: "\(list)/clear"),
            Route(post: "\(list)/name", ["name": "Mine"]), Route(post: "\(list)/deletion"),
            Route(post: "\(list)/items", ["name": "Mine", "quantity": "1"]),
            Route(post: "\(list)/items/quick", ["add": "Mine"]),
            Route(post: "/ticks", ["i": flour, "tick": "listed", "on": "1"]),
            Route(get: "/items/\(milk)"), Route(post: "/items/\(milk)", ["name": "Mine", "quantity": "1"]),
            Route(post: "/items/\(milk)/delete"),
            // A session of another account, which no role reaches.
            Route(post: "/account/sessions", ["session": session]),
        ]
        for kind in PlaceKind.allCases {
            let place = try await household.place(kind)
            routes += [
                Route(get: "\(home)/\(kind.rawValue)"), Route(post: "\(home)/\(kind.rawValue)", ["name": "Mine"]),
                Route(get: "/\(kind.rawValue)/\(place)"), Route(post: "/\(kind.rawValue)/\(place)", ["name": "Mine"]),
                Route(post: "/\(kind.rawValue)/\(place)/delete"),
            ]
        }
        return routes
    }

    /// What ann sees of her household, to find out whether anything has changed.
    private static func state(_ household: TestHousehold) async throws -> String {
        var state = ""
        let paths =
            [household.prepare, household.shop, household.homePath]
            + PlaceKind.allCases.map {
                "\(household.homePath)/\($0.rawValue)"
            }
        for path in paths { state += try await household.ann.get(path).words }
        return state
    }

    private static let secrets = ["Milk", "Flour", "Fridge", "Pantry", "Dairy", "Baking", "kg"]

    private static func send(_ route: Route, _ shopper: Shopper) async throws -> Answer {
        guard let fields = route.fields else { return try await shopper.get(route.path) }
        return try await shopper.post(route.path, fields)
    }

    /// Sends all routes as an account that is no member; none of them may show or change anything.
    private static func attack(_ household: TestHousehold, as attacker: Shopper) async throws {
        let routes = try await routes(household)
        let before = try await state(household)
        for route in routes {
            let answer = try await send(route, attacker)
            let isRefused = answer.status == 404 || answer.status == 303
            #expect(isRefused, "\(attacker.name): \(route.path) is answered by \(answer.status)")
            let next = answer.status == 303 ? try await attacker.get(answer.header("Location") ?? "/") : answer
            for secret in secrets + ["ann", "bob"] where !route.path.contains(secret) {
                let text = next.words.split(separator: " ").map { $0.trimmingCharacters(in: .punctuationCharacters) }
                #expect(!text.contains(secret), "\(attacker.name): \(route.path) shows \(secret)")
            }
        }
        #expect(try await state(household) == before)
    }

    @Test func aStrangerFindsNothing() async throws {
        try await TestHousehold.run { try await Self.attack($0, as: $0.mallory) }
    }

    @Test func aMemberWhoLeftFindsNothing() async throws {
        try await TestHousehold.run { household in
            let eve = household.eve
            #expect(try await eve.get(household.prepare).status == 200)
            #expect(try await eve.submit("\(household.homePath)/leave").words.contains("You have left Home."))
            try await Self.attack(household, as: eve)
        }
    }

    @Test func aVisitorIsAskedToSignIn() async throws {
        try await TestHousehold.run { household in
            let routes = try await Self.routes(household)
            let before = try await Self.state(household)
            for route in routes {
                let visitor = try household.server.browser
                let answer =
                    if let fields = route.fields {
                        try await visitor.post(route.path, fields)
                    } else { try await visitor.get(route.path) }
                #expect(
                    answer.status == 303 && answer.header("Location")?.hasPrefix("/sign-in") == true,
                    "\(route.path) is answered by \(answer.status)")
            }
            #expect(try await Self.state(household) == before)
        }
    }

    @Test func aViewerReadsAndChangesNothing() async throws {
        try await TestHousehold.run { household in
            let routes = try await Self.routes(household)
            let before = try await Self.state(household)
            for route in routes {
                let answer = try await Self.send(route, household.eve)
                if route.isForViewers {
                    #expect(answer.status == 200, "\(route.path) is answered by \(answer.status)")
                    // No form that changes anything, but for leaving.
                    let forms = answer.text.matches(of: /<form[^>]*method=post[^>]*action="?([^" >]+)/).map {
                        String($0.output.1)
                    }
                    #expect(
                        forms.allSatisfy { $0 == "/undo" || $0.hasSuffix("/leave") }, "\(route.path) has \(forms)")
                    #expect(!answer.text.contains("<button name=on"))
                } else {
                    #expect([403, 404].contains(answer.status), "\(route.path) is answered by \(answer.status)")
                }
            }
            #expect(try await Self.state(household) == before)
        }
    }

    @Test func streamsHaveTheListsOfTheAccountAlone() async throws {
        try await TestHousehold.run { household in
            let list = "\(household.list.path).prepare"
            let theirs = try household.mallory.browser.events(list, after: "x.0")
            let mine = try household.bob.browser.events(list, after: "x.0")
            _ = try await theirs.next("stale")
            _ = try await mine.next("stale")
            try await household.add("Secret cake")
            #expect(try await mine.next("patch").data.contains("Secret cake"))
            // What mallory does herself is the next that her stream has.
            let own = try await household.mallory.get("/")
            let ownList = try TestHousehold.listID(of: own).path
            _ = try await household.mallory.get("/lists/\(ownList)/prepare")
            _ = try await household.mallory.post(
                "/lists/\(ownList)/items", ["name": "Own bread", "quantity": "1", "listed": "1"])
            let parts = try await theirs.next("parts").data
            #expect(parts.contains(ownList) && !parts.contains(household.list.path))
            #expect(try await household.server.browser.get("/events?list=\(list)").status == 303)
        }
    }

    @Test func aStreamEndsWithTheMembership() async throws {
        try await TestHousehold.run { household in
            let list = "\(household.list.path).prepare"
            let stream = try household.eve.browser.events(list, after: "x.0")
            _ = try await stream.next("stale")
            #expect(
                try await household.ann.post(
                    "\(household.homePath)/members", ["member": household.eve.id.path, "remove": "1"]
                ).status == 303)
            try await household.add("Secret cake")
            await #expect(throws: (any Error).self) { _ = try await stream.next("patch") }
        }
    }
}
