import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryCloud

/// Two people on one list, and programs beside them.
@Suite(.timeLimit(.minutes(2))) struct SharingTests {
    @Test func aTapOfOnePersonReachesTheOther() async throws {
        try await TestHousehold.run { household in
            let (bob, flour) = (household.bob, try await household.item("Flour"))
            let page = try await bob.get(household.shop)
            let position = String(try #require(page.text.firstMatch(of: /data-at="([^"]+)"/)).output.1)
            #expect(page.text.contains("data-list=\"\(household.list.path).shop\""))
            let stream = try bob.browser.events("\(household.list.path).shop", after: position)
            _ = try await household.ann.post(household.prepare, ["on": flour])
            let patch = try await stream.next("patch").data
            #expect(patch.contains("i\(flour)") && patch.contains("Flour"))
            let parts = try await stream.next("parts").data
            #expect(parts.contains("\"list\":\"\(household.list.path)\"") && parts.contains("2 to buy"))
        }
    }

    @Test func twoPeopleWhoChangeOneItemHearOfEachOther() async throws {
        try await TestHousehold.run { household in
            let (ann, bob, milk) = (household.ann, household.bob, try await household.item("Milk"))
            let opened = ["was-name": "Milk", "was-quantity": "1", "was-listed": "1"]
            #expect(
                try await bob.post(
                    "/items/\(milk)", opened.merging(["name": "Oat milk", "quantity": "1", "listed": "1"]) { $1 }
                ).status == 303)
            let mine = opened.merging(["name": "Goat milk", "quantity": "3", "listed": "1"]) { $1 }
            let conflict = try await ann.post("/items/\(milk)", mine)
            #expect(conflict.status == 409)
            #expect(conflict.words.contains("Another user changed this meanwhile."))
            #expect(conflict.words.contains("Theirs: Oat milk Yours: Goat milk"))
            #expect(conflict.text.contains("value=\"Goat milk\"") && conflict.text.contains("value=\"3\""))
            let taken = try await ann.submit("/items/\(milk)", mine.merging(["take": "name"]) { $1 })
            #expect(taken.words.contains("Oat milk is saved."))
            #expect(try await bob.get(household.shop).words.contains("Oat milk 3"))
        }
    }

    @Test func anItemThatWasDeletedIsMadeAnew() async throws {
        try await TestHousehold.run { household in
            let (ann, milk) = (household.ann, try await household.item("Milk"))
            #expect(try await household.bob.post("/items/\(milk)/delete").status == 303)
            let fields = ["name": "Goat milk", "quantity": "2", "list": household.list.path]
            let gone = try await ann.post("/items/\(milk)", fields)
            #expect(gone.status == 410 && gone.words.contains("Another user has deleted this item meanwhile."))
            #expect(gone.text.contains("action=\"/lists/\(household.list.path)/items\""))
            #expect(gone.text.contains("value=\"Goat milk\""))
        }
    }

    @Test func undoSparesWhatOthersHaveChanged() async throws {
        try await TestHousehold.run { household in
            let milk = try await household.item("Milk")
            _ = try await household.ann.post(household.shop, ["on": milk])
            _ = try await household.bob.post(household.shop, ["off": milk])
            let undone = try await household.ann.submit("/undo", ["back": household.shop])
            #expect(undone.words.contains("another user has changed the same things since"))
        }
    }

    /// A program with a token: the same accounts, the same permissions, and pages that follow.
    @Test func programsUseTheSameStore() async throws {
        try await TestHousehold.run { household in
            let (bob, eve) = (Program(household, "bob"), Program(household, "eve"))
            let mallory = Program(household, "mallory")
            let stream = try household.ann.browser.events("\(household.list.path).prepare", after: "x.0")
            _ = try await stream.next("stale")
            let tea: [String: Any] = ["name": "Tea", "list": household.list.uuidString]
            #expect(try await bob.send("POST", "/api/Item", tea).status == 201)
            #expect(try await stream.next("patch").data.contains("Tea"))
            #expect(try await bob.send("GET", "/api/Item?fields=name&sort=name").text.contains("\"name\":\"Tea\""))
            #expect(try await eve.send("POST", "/api/Item", tea).status == 403)
            #expect(try await [403, 404, 422].contains(mallory.send("POST", "/api/Item", tea).status))
            #expect(try await mallory.send("GET", "/api/Item").text.contains("\"items\":[]"))
            #expect(try await !mallory.send("GET", "/api/List").text.contains(household.list.uuidString))
            // The cookie of a browser is none of a program.
            let asBrowser = try await household.ann.get("/api/Item")
            #expect(asBrowser.text.contains("\"items\":[]"))
            let history = try await household.ann.get("\(household.homePath)/history")
            #expect(history.words.contains("bob added Tea"))
        }
    }

    @Test func aHouseholdThatAProgramDeletesLeavesNoRows() async throws {
        try await TestHousehold.run { household in
            let ann = Program(household, "ann")
            let path = "/groups/\(household.home.uuidString)"
            let deleted = try await ann.send("DELETE", path)
            #expect(deleted.status == 204)
            #expect(try await rowCounts(household.server)["Item"] == 0)
            #expect(try await household.bob.get(household.prepare).status == 404)
        }
    }

    /// A client of the service's interface, signed in as an account.
    private final class Program: @unchecked Sendable {
        // Safe because one test uses it, one step after the other.
        private let household: TestHousehold
        private let name: String
        private var token: String?

        init(_ household: TestHousehold, _ name: String) { (self.household, self.name) = (household, name) }

        func send(_ method: String, _ path: String, _ body: [String: Any]? = nil) async throws -> Answer {
            if token == nil {
                let answer = try await raw("POST", "/sessions", ["name": name, "password": password])
                let json = try JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
                token = json?["token"] as? String
            }
            return try await raw(method, path, body)
        }

        private func raw(_ method: String, _ path: String, _ body: [String: Any]?) async throws -> Answer {
            var headers = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
            if body != nil { headers["Content-Type"] = "application/json" }
            let bytes = try body.map { try JSONSerialization.data(withJSONObject: $0) } ?? Data()
            return try await household.server.browser.send(method, path, headers, bytes)
        }
    }
}
