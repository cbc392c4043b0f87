import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Forms of one page that arrive in another order than they were sent in.
@Suite(.timeLimit(.minutes(2))) struct FormOrderTests {
    /// What is sent, in the order of arrival, and whether Flour is on the list in the end. It is not at first.
    struct Case: Sendable, CustomStringConvertible {
        let sent: [(state: String, order: String?)]
        let isOn: Bool
        let description: String
    }

    static let cases = [
        Case(sent: [("on", "a.1"), ("off", "a.2")], isOn: false, description: "in order"),
        Case(sent: [("off", "a.2"), ("on", "a.1")], isOn: false, description: "the older one last"),
        Case(sent: [("on", "a.9"), ("off", "a.10")], isOn: false, description: "numbers of two lengths"),
        Case(sent: [("off", "a.2"), ("on", "b.1")], isOn: true, description: "of two pages"),
        Case(sent: [("off", "a.2"), ("on", nil)], isOn: true, description: "one without a number"),
        Case(sent: [("off", "a.2"), ("on", "a.x")], isOn: true, description: "one with a bad number"),
    ]

    @Test(arguments: cases) func aFormThatArrivesLateIsIgnored(_ test: Case) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let flour = try await server.app.groceries.number(of: "Flour")
            for (state, order) in test.sent {
                let headers = order.map { ["X-Order": $0, "X-Patch": "1"] } ?? ["X-Patch": "1"]
                #expect(try await browser.post("/prepare", [state: "\(flour)"], headers).status == 200)
            }
            let page = try await browser.get("/prepare").text
            #expect(page.contains("aria-pressed=\(test.isOn)>Flour"))
        }
    }

    @Test func anotherRowOrBrowserIsNotAffected() async throws {
        try await TestServer.run(.small) { server in
            let flour = try await server.app.groceries.number(of: "Flour")
            let milk = try await server.app.groceries.number(of: "Milk")
            let (mine, other) = (try server.browser, try server.browser)
            _ = try await mine.post("/prepare", ["off": "\(flour)"], ["X-Order": "a.2", "X-Patch": "1"])
            _ = try await mine.post("/prepare", ["off": "\(milk)"], ["X-Order": "a.1", "X-Patch": "1"])
            _ = try await other.post("/prepare", ["on": "\(flour)"], ["X-Order": "a.1", "X-Patch": "1"])
            let page = try await mine.get("/prepare").text
            #expect(page.contains("aria-pressed=false>Milk<"))
            #expect(page.contains("aria-pressed=true>Flour"))
        }
    }
}
