import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Undo belongs to a browser, and reverts no change by another one.
@Suite(.timeLimit(.minutes(2))) struct UndoTests {
    /// A change that another browser makes after the first one has put Flour on the list.
    struct Other: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Whether the first browser can still undo its step.
        let leavesFlour: Bool
        let change: @Sendable (TestServer, TestBrowser, _ flour: Int) async throws -> Void
    }

    static let others: [Other] = [
        Other(testDescription: "ticks another item", leavesFlour: true) { server, browser, _ in
            let butter = try await server.app.groceries.number(of: "Butter")
            _ = try await browser.submit("/prepare", ["i": "\(butter)"])
        },
        Other(testDescription: "renames the unit of the item", leavesFlour: true) { server, browser, _ in
            let kg = try await MainActor.run { try server.app.groceries.place(.unit, named: "kg")?.number ?? 0 }
            _ = try await browser.submit("/units/\(kg)", ["name": "kilo"])
        },
        Other(testDescription: "collects the item", leavesFlour: false) { _, browser, flour in
            _ = try await browser.submit("/shop", ["i": "\(flour)"])
        },
        Other(testDescription: "renames the item", leavesFlour: false) { _, browser, flour in
            let form = ["name": "Wheat", "was-name": "Flour", "quantity": "1", "was-quantity": "1"]
            _ = try await browser.submit("/items/\(flour)", form)
        },
        Other(testDescription: "deletes the item", leavesFlour: false) { _, browser, flour in
            _ = try await browser.submit("/items/\(flour)/delete")
        },
        Other(testDescription: "takes the item off the list", leavesFlour: false) { _, browser, flour in
            _ = try await browser.submit("/prepare", ["i": "\(flour)"])
        },
    ]

    @Test(arguments: others)
    func aStepIsUndoneUnlessAnotherBrowserChangedItsObjects(_ other: Other) async throws {
        try await TestServer.run(.small) { server in
            let (mine, theirs) = (try server.browser, try server.browser)
            let flour = try await server.app.groceries.number(of: "Flour")
            let page = try await mine.submit("/prepare", ["i": "\(flour)"])
            let step = try #require(page.text.firstMatch(of: /name=step value=(\d+)/)).output.1
            try await other.change(server, theirs, flour)
            let before = try await mine.get("/prepare").words
            let undone = try await mine.submit("/undo", ["step": String(step)])
            if other.leavesFlour {
                #expect(undone.words.contains("Undone: Put Flour on the list."), "\(undone.words)")
                #expect(undone.text.contains("aria-pressed=false>Flour<"))
            } else {
                #expect(
                    undone.words.contains(
                        "“Put Flour on the list” is not undone: another user has changed the same things since."),
                    "\(undone.words)")
                #expect(try await mine.get("/prepare").words == before)
            }
        }
    }

    @Test func noBrowserUndoesTheStepOfAnother() async throws {
        try await TestServer.run(.small) { server in
            let (mine, theirs) = (try server.browser, try server.browser)
            let flour = try await server.app.groceries.number(of: "Flour")
            let page = try await mine.submit("/prepare", ["i": "\(flour)"])
            let step = try #require(page.text.firstMatch(of: /name=step value=(\d+)/)).output.1
            for form in [["step": String(step)], [:]] {
                #expect(try await theirs.submit("/undo", form).words.contains("There is nothing to undo."))
            }
            #expect(!(try await theirs.get("/settings").words.contains("Put Flour on the list")))
            #expect(try await mine.get("/settings").words.contains("Undo: Put Flour on the list"))
            #expect(try await mine.submit("/undo").words.contains("Undone: Put Flour on the list."))
            // Nor does another browser redo it.
            #expect(try await theirs.submit("/redo").words.contains("There is nothing to do again."))
        }
    }

    @Test func aStepThatCannotBeUndoneLeavesTheStepsBeforeIt() async throws {
        try await TestServer.run(.small) { server in
            let (mine, theirs) = (try server.browser, try server.browser)
            let (flour, butter) = try await MainActor.run {
                (try server.app.groceries.number(of: "Flour"), try server.app.groceries.number(of: "Butter"))
            }
            _ = try await mine.submit("/prepare", ["i": "\(butter)"])
            _ = try await mine.submit("/prepare", ["i": "\(flour)"])
            _ = try await theirs.submit("/shop", ["i": "\(flour)"])
            #expect(try await mine.submit("/undo").words.contains("is not undone"))
            #expect(try await mine.submit("/undo").words.contains("Undone: Put Butter on the list."))
            #expect(try await mine.submit("/undo").words.contains("There is nothing to undo."))
        }
    }

    @Test func anEarlierStepIsUndoneByItsNumberUnlessALaterOneChangedTheSame() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let (flour, butter) = try await MainActor.run {
                (try server.app.groceries.number(of: "Flour"), try server.app.groceries.number(of: "Butter"))
            }
            var steps: [String] = []
            for item in [flour, butter, butter] {
                let page = try await browser.submit("/prepare", ["i": "\(item)"])
                steps.append(String(try #require(page.text.firstMatch(of: /name=step value=(\d+)/)).output.1))
            }
            #expect(
                try await browser.submit("/undo", ["step": steps[1]]).words.contains(
                    "Something else was done after that: Take Butter off the list."))
            #expect(
                try await browser.submit("/undo", ["step": steps[0]]).words.contains("Undone: Put Flour on the list."))
            // The others are as they were.
            #expect(try await browser.submit("/undo").words.contains("Undone: Take Butter off the list."))
            #expect(try await browser.submit("/undo").words.contains("Undone: Put Butter on the list."))
        }
    }

    @Test func objectsThatAnotherBrowserUsesAreNotTakenAway() async throws {
        try await TestServer.run(.small) { server in
            let (mine, theirs) = (try server.browser, try server.browser)
            #expect(try await mine.submit("/units", ["name": "bag"]).words.contains("“bag” is added. Undo"))
            let (bag, milk) = try await MainActor.run {
                (
                    try server.app.groceries.place(.unit, named: "bag")?.number ?? 0,
                    try server.app.groceries.number(of: "Milk")
                )
            }
            _ = try await theirs.submit("/items/\(milk)", ["name": "Milk", "quantity": "1", "unit": "\(bag)"])
            #expect(try await theirs.get("/units").words.contains("bag 1 item"))
            #expect(try await mine.submit("/undo", ["back": "/units"]).words.contains("“Add bag” is not undone"))
            #expect(try await mine.get("/units").words.contains("bag 1 item"))
        }
    }

    @Test func aRedoRevertsNothingOfOthersEither() async throws {
        try await TestServer.run(.small) { server in
            let (mine, theirs) = (try server.browser, try server.browser)
            let flour = try await server.app.groceries.number(of: "Flour")
            _ = try await mine.submit("/prepare", ["i": "\(flour)"])
            #expect(try await mine.submit("/undo").words.contains("Undone: Put Flour on the list."))
            let form = ["name": "Wheat", "was-name": "Flour", "quantity": "1", "was-quantity": "1"]
            _ = try await theirs.submit("/items/\(flour)", form)
            #expect(try await mine.submit("/redo").words.contains("“Put Flour on the list” is not done again"))
            #expect(try await mine.get("/prepare").text.contains("aria-pressed=false>Wheat<"))
        }
    }
}
