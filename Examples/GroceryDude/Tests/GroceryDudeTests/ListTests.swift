import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Prepare and Shop in a browser without JavaScript.
@Suite(.timeLimit(.minutes(2))) struct ListTests {
    @Test func itemsShowByWhereTheyAreAtHome() async throws {
        try await TestServer.run(.small) { server in
            let page = try await server.browser.get("/prepare")
            #expect(page.status == 200)
            #expect(page.words.contains("Fridge 2 Butter Dairy Milk Dairy Pantry 1 Flour 1 kg · Baking"))
            #expect(page.text.contains("<title>(1) Prepare – Grocery Dude</title>"))
            #expect(page.text.contains("aria-pressed=true>Milk<"))
            #expect(page.text.contains("aria-pressed=false>Butter<"))
        }
    }

    @Test func aTapPutsAnItemOnTheListAndUndoTakesItOff() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let flour = try await server.app.groceries.number(of: "Flour")
            let answer = try await browser.post("/prepare", ["i": "\(flour)"])
            #expect(answer.status == 303)
            #expect(answer.header("Location") == "/prepare")
            let page = try await browser.get("/prepare")
            #expect(page.words.contains("Flour is on the list. Undo"))
            #expect(try await browser.get("/shop").words.contains("Baking 1 Flour"))
            // The message shows once.
            #expect(!(try await browser.get("/prepare").words.contains("Flour is on the list.")))
            let step = try #require(page.text.firstMatch(of: /name=step value=(\d+)/)).output.1
            let undone = try await browser.submit("/undo", ["step": String(step)])
            #expect(undone.words.contains("Undone: Put Flour on the list. Redo"))
            #expect(undone.text.contains("aria-pressed=false>Flour<"))
            let redone = try await browser.submit("/redo")
            #expect(redone.words.contains("Done again: Put Flour on the list. Undo"))
            #expect(redone.text.contains("aria-pressed=true>Flour<"))
        }
    }

    @Test func twoPeopleWhoTapAtOnceDoNotCancelEachOther() async throws {
        try await TestServer.run(.small) { server in
            let flour = try await server.app.groceries.number(of: "Flour")
            let row = "<button name=on value=\(flour) aria-pressed=false>Flour"
            #expect(try await server.browser.get("/prepare").text.contains(row))
            for wanted in ["on", "off"] {
                let text = "Flour is \(wanted) the list."
                let first = try await server.browser.submit("/prepare", [wanted: "\(flour)"])
                #expect(first.words.contains("\(text) Undo"))
                let second = try await server.browser.submit("/prepare", [wanted: "\(flour)"])
                #expect(second.words.contains(text))
                // The second changed nothing.
                #expect(!second.words.contains("\(text) Undo"))
                #expect(second.text.contains("aria-pressed=\(wanted == "on")>Flour"))
            }
            let milk = try await server.app.groceries.number(of: "Milk")
            for wanted in ["on", "on", "off", "off"] {
                let page = try await server.browser.submit("/shop", [wanted: "\(milk)"])
                #expect(page.words.contains(wanted == "on" ? "Milk is collected." : "Milk is still to buy."))
                #expect(page.words.contains(wanted == "on" ? "1 of 1" : "0 of 1"))
            }
            #expect(
                try await server.browser.submit("/prepare", ["on": "4711"]).words.contains("Another user has deleted"))
        }
    }

    @Test func inTheShopATapCollectsAndClearTakesOffWhatIsCollected() async throws {
        try await TestServer.run(
            Filling { groceries in
                try groceries.fillSmall()
                _ = try groceries.setListed(true, try #require(groceries.item(try groceries.number(of: "Flour"))))
            }
        ) { server in
            let browser = try server.browser
            let milk = try await server.app.groceries.number(of: "Milk")
            let page = try await browser.get("/shop")
            #expect(page.words.contains("Baking 1 Flour 1 kg · Pantry Dairy 1 Milk Fridge"))
            #expect(page.words.contains("0 of 2"))
            let collected = try await browser.submit("/shop", ["i": "\(milk)"])
            #expect(collected.words.contains("Milk is collected. Undo"))
            #expect(collected.words.contains("1 of 2"))
            #expect(
                collected.text.contains("<li id=i\(milk) class=c><button name=off value=\(milk) aria-pressed=true>Milk")
            )
            let cleared = try await browser.submit("/shop/clear")
            #expect(cleared.words.contains("1 item taken off the list. Undo"))
            #expect(!cleared.text.contains(">Milk<"))
            #expect(cleared.text.contains(">Flour<"))
            #expect(try await browser.submit("/undo").status == 200)
            #expect(try await browser.get("/shop").text.contains("aria-pressed=true>Milk<"))
        }
    }

    @Test func whatIsTakenOffInTheShopStaysAtHome() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let milk = try await server.app.groceries.number(of: "Milk")
            // What the key Delete and a swipe send from this page.
            #expect(try await browser.get("/shop").text.contains("data-remove=/shop/off"))
            #expect(
                try await browser.submit("/shop/off", ["i": "\(milk)"]).words.contains("Milk is off the list. Undo"))
            #expect(try await browser.get("/prepare").text.contains("aria-pressed=false>Milk<"))
            #expect(try await browser.submit("/shop/off", ["i": "4711"]).words.contains("Another user has deleted"))
        }
    }

    @Test func clearingTheListAsksFirst() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            #expect(try await browser.get("/prepare/clear").words.contains("1 item goes off the shopping list."))
            #expect(try await browser.get("/shop").text.contains(">Milk<"))
            #expect(try await browser.submit("/prepare/clear").words.contains("1 item taken off the list."))
            #expect(try await browser.get("/shop").words.contains("Nothing to buy"))
        }
    }

    @Test func searchFindsWhateverTheCaseAndAddsWhatIsNotThere() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let found = try await browser.get("/prepare?q=MILK")
            #expect(found.words.contains("Found 1 item Milk Fridge"))
            #expect(!found.text.contains(">Butter<"))
            #expect(!found.words.contains("Add “MILK” to the list"))
            let none = try await browser.get("/prepare?q=Oat%20Milk")
            #expect(none.words.contains("Add “Oat Milk” to the list"))
            let added = try await browser.submit("/items/quick", ["add": "Oat Milk", "back": "/prepare?q=Oat%20Milk"])
            #expect(added.words.contains("Oat Milk is on the list."))
            #expect(added.text.contains("aria-pressed=true>Oat Milk<"))
        }
    }

    @Test func aSearchThatFindsVeryManySaysHowToFindTheOthers() async throws {
        try await TestServer.run { server in
            _ = try await server.app.groceries.importDefaultData()
            let page = try await server.browser.get("/prepare?q=e")
            #expect(page.words.contains("Found More than 200 items"))
            #expect(page.words.contains("These are the first 200. Type more of the name to find the others."))
            #expect(!(try await server.browser.get("/prepare?q=lemo").words.contains("These are the first")))
        }
    }

    @Test func anEmptyStoreSaysWhatToDo() async throws {
        try await TestServer.run { server in
            let browser = try server.browser
            #expect(try await browser.get("/prepare").words.contains("Begin with common groceries"))
            let filled = try await browser.submit("/settings/default-data")
            #expect(filled.words.contains("377 items added."))
            #expect(filled.words.contains("Search") == false || filled.text.contains("Search 377 items"))
            #expect(filled.body.count < 60_000)
            #expect(try await browser.submit("/settings/default-data").words.contains("Everything was there already."))
        }
    }

    @Test func aDeletedItemIsReported() async throws {
        try await TestServer.run(.small) { server in
            let page = try await server.browser.submit("/prepare", ["i": "4711"])
            #expect(page.words.contains("Another user has deleted this meanwhile."))
        }
    }
}
